import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, renameSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { mkdir, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { NotAllowed } from '../../domain/errors.ts'
import { effect } from '../../platform/effects.ts'
import { readText } from '../layout.ts'
import { readPlainFile } from '../plain-files.ts'
import { packedFile, packedRefs } from '../private/refs.ts'
import { remove, replaceFile, requireFolder } from '../private/writing.ts'
import { byGit } from './by-git.ts'
import type { GivenRefs, NewObject, NewRecord, Writes } from './contract.ts'

export const plain: Writes = {
  /** Takes a lock, then renames, as git does. Git is asked if something is in the way. */
  async ref(commonDir, ref, oid) {
    if (!(await writeLoose(commonDir, ref, oid))) await byGit.ref(commonDir, ref, oid)
  },

  async noRef(commonDir, ref, oid) {
    if (!removeLoose(commonDir, ref, oid)) await byGit.noRef(commonDir, ref, oid)
  },

  async object(commonDir, { type, format, content }: NewObject) {
    const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
    const oid = createHash(format).update(bytes).digest('hex')
    writeObject(join(commonDir, 'objects'), oid, bytes)
    return oid
  },

  async worktree(repo, wanted) {
    // Git keeps more for a worktree with its own config, as in a sparse checkout.
    if (lstatSync(join(repo.commonDir, 'config.worktree'), { throwIfNoEntry: false }))
      return byGit.worktree(repo, wanted)
    return writeRecord(join(repo.commonDir, 'worktrees'), wanted)
  },

  async gitDir(folder) {
    mkdirSync(folder, { recursive: true })
  },

  async branch(gitDir, branch, oid) {
    // Each level must be a folder: an agent may have put a ref in its place.
    const steps = branch.split('/').slice(0, -1)
    for (const [i] of steps.entries()) requireFolder(join(gitDir, 'refs/heads', ...steps.slice(0, i + 1)))
    replaceFile(join(gitDir, 'refs/heads', branch), `${oid}\n`)
  },

  async head(gitDir, at) {
    replaceFile(join(gitDir, 'HEAD'), 'branch' in at ? `ref: refs/heads/${at.branch}\n` : `${at.commit}\n`)
  },

  async given(gitDir, { before, now, originHead }: GivenRefs) {
    if (originHead) replaceFile(join(gitDir, 'refs/remotes/origin/HEAD'), `ref: ${originHead}\n`)
    const packed = packedRefs(join(gitDir, 'packed-refs'))
    for (const [ref, oid] of before) if (packed.get(ref) === oid && !now.has(ref)) packed.delete(ref)
    for (const [ref, oid] of now) {
      const has = packed.get(ref)
      if (has === undefined || has === before.get(ref)) packed.set(ref, oid)
    }
    replaceFile(join(gitDir, 'packed-refs'), packedFile(packed))
  },

  /** The lock that git itself uses keeps the agent's git out, and follows no link. */
  async moved(gitDir, ref, { before, now }) {
    const lock = join(gitDir, 'packed-refs.lock')
    try {
      writeFileSync(lock, '', { flag: 'wx' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
    const packed = packedRefs(join(gitDir, 'packed-refs'))
    if (packed.get(ref) === before) packed.set(ref, now)
    writeFileSync(lock, packedFile(packed))
    renameSync(lock, join(gitDir, 'packed-refs'))
    return true
  },
}

/** Writes a file that must not exist yet. Its folder mostly does. */
function writeNew(file: string, content: string | Buffer, mode?: number): void {
  try {
    writeFileSync(file, content, { flag: 'wx', mode })
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== 'ENOENT') throw failure
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content, { flag: 'wx', mode })
  }
}

async function writeLoose(commonDir: string, ref: string, oid: string): Promise<boolean> {
  // A packed branch has a name above or below this one. Git decides.
  const packed = (await readText(join(commonDir, 'packed-refs'))) ?? ''
  const above = ref
    .split('/')
    .slice(2, -1)
    .map((_, i, parts) => ['refs', ref.split('/')[1], ...parts.slice(0, i + 1)].join('/'))
  if (packed.includes(` ${ref}/`) || above.some(name => packed.includes(` ${name}\n`))) return false
  const file = join(commonDir, ref)
  try {
    writeNew(`${file}.lock`, `${oid}\n`)
  } catch {
    return false
  }
  try {
    renameSync(`${file}.lock`, file)
    return true
  } catch {
    rmSync(`${file}.lock`, { force: true })
    return false
  }
}

/**
 * Takes both locks, as git does: otherwise a ref that is being packed at this moment would come back. A packed ref is
 * left to git.
 */
function removeLoose(commonDir: string, ref: string, oid: string): boolean {
  const file = join(commonDir, ref)
  const packed = join(commonDir, 'packed-refs')
  const locks: string[] = []
  try {
    for (const lock of [`${file}.lock`, `${packed}.lock`]) {
      writeFileSync(lock, '', { flag: 'wx' })
      locks.push(lock)
    }
    const isThere = readPlainFile(file, { refuseLinks: true })?.toString('latin1').trim() === oid
    if (!isThere || readPlainFile(packed)?.includes(` ${ref}\n`)) return false
    unlinkSync(file)
    remove(join(commonDir, 'logs', ref))
  } catch {
    return false
  } finally {
    for (const lock of locks.reverse()) unlinkSync(lock)
  }
  removeEmpty(commonDir, dirname(ref))
  return true
}

/** Folders of refs that the next mission needs again. To make one takes as long as ten reads. */
const LASTING = /^refs\/fleet\/places(\/[^/]+)?$/

/** Removes folders of refs that are empty now, except the first two levels, as git does. */
function removeEmpty(commonDir: string, folder: string): void {
  try {
    for (let empty = folder; empty.split('/').length > 2 && !LASTING.test(empty); empty = dirname(empty))
      rmdirSync(join(commonDir, empty))
  } catch {
    // Another ref is in it.
  }
}

/** Writes a loose object as git does: whole, and only if there is none. */
function writeObject(objects: string, oid: string, bytes: Buffer): void {
  const file = join(objects, oid.slice(0, 2), oid.slice(2))
  if (lstatSync(file, { throwIfNoEntry: false })) return
  const unfinished = join(dirname(file), `tmp_obj_fleet_${process.pid}_${oid.slice(2, 10)}`)
  // A process of the same number may have left one.
  remove(unfinished)
  writeNew(unfinished, deflateSync(bytes), 0o444)
  // Another process may have written the same object by now. Then this replaces it with the same bytes.
  renameSync(unfinished, file)
}

/**
 * What `git worktree add` writes (gitrepository-layout, "worktrees"). Git takes three processes for it and races with
 * itself; this does not. The lock comes first, so that nobody prunes the record, and `gitdir` last, because git passes
 * over a record without it.
 */
async function writeRecord(folder: string, { path, name, lock, branch, start }: NewRecord): Promise<string> {
  const gitDir = await effect('git.worktree-record', async () => {
    await mkdir(path, { recursive: true })
    const record = await freshRecord(folder, name)
    await writeFile(join(record, 'locked'), `${lock}\n`)
    await writeFile(join(record, 'commondir'), '../..\n')
    await writeFile(join(record, 'HEAD'), branch === undefined ? `${start}\n` : `ref: refs/heads/${branch}\n`)
    return record
  })
  await effect('git.worktree-add', async () => {
    const link = join(await realpath(path), '.git')
    await writeFile(link, `gitdir: ${gitDir}\n`)
    await writeFile(join(gitDir, 'gitdir'), `${link}\n`)
  })
  return gitDir
}

async function freshRecord(folder: string, name: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  for (let n = 1; ; n++) {
    const record = join(folder, n === 1 ? name : `${name}-${n}`)
    const made = await mkdir(record).then(
      () => true,
      failure => failure.code,
    )
    if (made === true) return record
    // Git removes the folder with its last record: make it again.
    if (made === 'ENOENT') await mkdir(folder, { recursive: true })
    else if (made !== 'EEXIST') throw new NotAllowed(`A worktree cannot be made in ${folder}: ${made}.`)
  }
}
