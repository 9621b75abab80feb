import { createHash } from 'node:crypto'
import { linkSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { effect } from '../../platform/effects.ts'
import { exists, OID, type Repository, readRef, readText } from '../layout.ts'
import { nameBytes } from '../names.ts'
import { readPlainFile } from '../plain-files.ts'
import { byteFields, git } from '../run.ts'
import { pathOf } from '../status.ts'

/** Commits by the names of their refs, which are byte names like paths. */
export type Refs = Map<string, string>

/** Refs of a repository that begin with one of these, by name. Read from files where git keeps them there. */
export async function refsUnder(repo: Pick<Repository, 'commonDir'>, prefixes: readonly string[]): Promise<Refs> {
  if (await exists(join(repo.commonDir, 'reftable'))) return askedRefs(repo.commonDir, prefixes)
  const refs: Refs = new Map()
  const packed = packedBytes(join(repo.commonDir, 'packed-refs'))
  if (prefixes.some(prefix => packed.includes(` ${prefix}`)))
    for (const [ref, oid] of readPacked(packed)) if (prefixes.some(prefix => ref.startsWith(prefix))) refs.set(ref, oid)
  for (const prefix of prefixes)
    for (const [ref, oid] of looseRefs(repo.commonDir, prefix.replace(/\/$/, ''))) refs.set(ref, oid)
  return refs
}

async function askedRefs(commonDir: string, prefixes: readonly string[]): Promise<Refs> {
  const listed = await git(commonDir, ['for-each-ref', '--format=%(refname)%00%(objectname)%00', ...prefixes])
  const parts = byteFields(listed.stdout).map(part => part.replace(/^\n/, ''))
  const refs: Refs = new Map()
  for (let i = 0; i + 1 < parts.length; i += 2) refs.set(parts[i]!, parts[i + 1]!)
  return refs
}

const packedBytes = (file: string): string => readPlainFile(file, { refuseLinks: true })?.toString('latin1') ?? ''

/** What a file in the form of `packed-refs` has. */
export const packedRefs = (file: string): Refs => new Map(readPacked(packedBytes(file)))

/** The lines of one, as far as they are what git writes. */
export function* readPacked(text: string): Generator<[ref: string, oid: string]> {
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ')
    const oid = line.slice(0, space)
    if (space > 0 && OID.test(oid)) yield [line.slice(space + 1), oid]
  }
}

export const MOST_REFS = 10_000

/** Loose refs below a folder, as plain files: no link is followed, and there is a most of them. */
export function* looseRefs(gitDir: string, under: string): Generator<[ref: string, oid: string]> {
  const folders = [under]
  let seen = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const path = pathOf(gitDir, folder)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (!found?.isDirectory()) continue
    for (const entry of readdirSync(path, { withFileTypes: true, encoding: 'buffer' })) {
      if (++seen > 2 * MOST_REFS) return
      const ref = `${folder}/${entry.name.toString('latin1')}`
      if (entry.isDirectory()) folders.push(ref)
      if (!entry.isFile() || ref.endsWith('.lock')) continue
      const oid = readPlainFile(pathOf(gitDir, ref), { refuseLinks: true, maxBytes: 4096 })?.toString('latin1').trim()
      if (oid && OID.test(oid)) yield [ref, oid]
    }
  }
}

/** Every ref of a repository that anybody may have written in, as plain files. */
export function plainRefs(gitDir: string): Refs {
  return new Map([...packedRefs(join(gitDir, 'packed-refs')), ...looseRefs(gitDir, 'refs')])
}

/** The commit that its HEAD stands for, and the branch HEAD is on, as a byte name. */
export function headIn(gitDir: string, refs: Refs): { tip?: string; branch?: string } {
  const head = readPlainFile(join(gitDir, 'HEAD'), { refuseLinks: true })?.toString('latin1').trim() ?? ''
  const branch = head.startsWith('ref: refs/heads/') ? head.slice('ref: refs/heads/'.length) : undefined
  const tip = branch === undefined ? (OID.test(head) ? head : undefined) : refs.get(`refs/heads/${branch}`)
  return { tip, branch }
}

export function packedFile(refs: Refs): Buffer {
  const lines = [...refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([ref, oid]) => `${oid} ${ref}\n`)
  return nameBytes(`# pack-refs with: sorted \n${lines.join('')}`)
}

/**
 * Writes a ref of ours as git does: a lock, then a rename. A process costs more than the write, and this is done for
 * every mission. Git is asked where refs are kept in another way, or where something is in the way.
 */
export async function writeRef(repo: Pick<Repository, 'commonDir'>, ref: string, oid: string): Promise<void> {
  await effect('git.update-ref', async () => {
    if ((await readRef(repo, ref)) === oid) return
    if (await writeLoose(repo.commonDir, ref, oid)) return
    await git(repo.commonDir, ['update-ref', ref, oid])
  })
}

async function writeLoose(commonDir: string, ref: string, oid: string): Promise<boolean> {
  if (await exists(join(commonDir, 'reftable'))) return false
  // A packed branch of a name above or below this one: git knows what to say.
  const packed = (await readText(join(commonDir, 'packed-refs'))) ?? ''
  const above = ref
    .split('/')
    .slice(2, -1)
    .map((_, i, parts) => ['refs', ref.split('/')[1], ...parts.slice(0, i + 1)].join('/'))
  if (packed.includes(` ${ref}/`) || above.some(name => packed.includes(` ${name}\n`))) return false
  const file = join(commonDir, ref)
  try {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(`${file}.lock`, `${oid}\n`, { flag: 'wx' })
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

export async function dropRef(repo: Pick<Repository, 'commonDir'>, ref: string): Promise<void> {
  if (await readRef(repo, ref)) await git(repo.commonDir, ['update-ref', '-d', ref], { effect: 'git.update-ref' })
}

/** A commit that holds others: whatever a session was given stays while a ref names this one. */
export async function holdingCommit(repo: Repository, commits: readonly string[]): Promise<string | undefined> {
  const parents = [...new Set(commits)].sort()
  const [first] = parents
  if (!first) return undefined
  const algorithm = first.length === 64 ? 'sha256' : 'sha1'
  const nobody = 'Flotilla <fleet@localhost> 0 +0000'
  const tree = hashed(algorithm, 'tree', Buffer.alloc(0))
  const text = `tree ${tree.oid}\n${parents.map(parent => `parent ${parent}\n`).join('')}author ${nobody}\ncommitter ${nobody}\n\nHeld for a session\n`
  const commit = hashed(algorithm, 'commit', Buffer.from(text))
  for (const { oid, bytes } of [tree, commit]) writeObject(join(repo.commonDir, 'objects'), oid, bytes)
  return commit.oid
}

function hashed(algorithm: string, type: string, content: Buffer): { oid: string; bytes: Buffer } {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  return { oid: createHash(algorithm).update(bytes).digest('hex'), bytes }
}

/** A loose object, written as git does: whole, and only where there is none. */
function writeObject(objects: string, oid: string, bytes: Buffer): void {
  const file = join(objects, oid.slice(0, 2), oid.slice(2))
  if (lstatSync(file, { throwIfNoEntry: false })) return
  mkdirSync(dirname(file), { recursive: true })
  const unfinished = join(dirname(file), `tmp_obj_fleet_${process.pid}_${oid.slice(2, 10)}`)
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, deflateSync(bytes), { mode: 0o444, flag: 'wx' })
  try {
    linkSync(unfinished, file)
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code !== 'EEXIST') throw failure
  } finally {
    unlinkSync(unfinished)
  }
}
