import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commitLeftovers, unheld } from '../../src/git/index.ts'
import { addPlace, removePlace } from '../../src/git/private/making.ts'
import { aRepository, type TestRepository } from '../../src/git/testkit.ts'

/**
 * Random trees with names of any bytes. Everything that an agent leaves is in a commit, or is named as left out and
 * still on disk. FLEET_TEST_TREES=10000 runs that many rounds, starting at FLEET_TEST_TREES_FROM. Without it, as many
 * as fit into ten seconds.
 */
const ROUNDS = Number(process.env.FLEET_TEST_TREES ?? 0)
const FROM = Number(process.env.FLEET_TEST_TREES_FROM ?? 1)
const TIME_MS = 10_000
const LIMIT_BYTES = 256 * 1024

let repo: TestRepository
beforeAll(async () => {
  repo = await aRepository({ files: { '.gitignore': '*.ignored\nskip/\n', kept: 'one\n', 'folder/kept': 'one\n' } })
})
afterAll(() => repo.remove())

/** The same numbers for the same seed. */
function random(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const below = (most: number) => Math.floor(next() * most)
  return { below, oneOf: <T>(values: readonly T[]): T => values[below(values.length)]! }
}
type Random = ReturnType<typeof random>

/** Any bytes that a name may have. */
function aName({ below, oneOf }: Random): Buffer {
  if (below(4) === 0)
    return Buffer.from(oneOf(['kept', 'a b', '-x', 'x.ignored', 'größe', '.hidden', 'new\nline', '"q"', ':(top)', '*']))
  const bytes = Array.from({ length: 1 + below(12) }, () => {
    const byte = 1 + below(255)
    return byte === 0x2f ? 0x5f : byte
  })
  const name = Buffer.from(bytes)
  return ['.', '..', '.git'].includes(name.toString('latin1').toLowerCase()) ? Buffer.from('dots') : name
}

type Thing = { kind: 'file' | 'link' | 'repository'; path: Buffer; content: string; mode: string }

/** Also undefined if a folder on the way became a file. */
function foundAt(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

const under = (folder: Buffer, name: Buffer): Buffer => Buffer.concat([folder, Buffer.from('/'), name])

async function aTree(top: Buffer, chance: Random): Promise<Thing[]> {
  const things: Thing[] = []
  const folders = [top]
  for (let n = 1 + chance.below(12); n > 0; n--) {
    const path = under(chance.oneOf(folders), aName(chance))
    if (foundAt(path)?.isDirectory()) continue
    try {
      const kind = chance.below(10)
      if (kind < 2) {
        await mkdir(path, { recursive: true })
        folders.push(path)
      } else if (kind === 2) {
        await rm(path, { force: true })
        const target = aName(chance)
        await symlink(target, path)
        things.push({ kind: 'link', path, content: target.toString('latin1'), mode: '120000' })
      } else if (kind === 3) {
        await rm(path, { force: true })
        execFileSync('git', ['init', '--quiet', '--template=', 'nested'], { cwd: top.toString(), stdio: 'ignore' })
        await rm(join(top.toString(), 'nested/file'), { force: true })
        await writeFile(join(top.toString(), 'nested/file'), 'in a repository of its own')
        things.push({
          kind: 'repository',
          path: Buffer.from(join(top.toString(), 'nested/file')),
          content: 'in a repository of its own',
          mode: '100644',
        })
      } else {
        const size = chance.oneOf([0, 1, 20, 3000, LIMIT_BYTES + 1])
        const content = Buffer.alloc(size, chance.below(256))
        await rm(path, { force: true })
        await writeFile(path, content)
        const mode = chance.below(3) === 0 ? 0o755 : 0o644
        await chmod(path, mode)
        things.push({
          kind: 'file',
          path,
          content: content.toString('latin1'),
          mode: mode === 0o755 ? '100755' : '100644',
        })
      }
    } catch (error) {
      // The name is too long, or a link is in the way, so nothing is left.
      if (
        !['ENAMETOOLONG', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENOENT', 'EEXIST'].includes(
          (error as NodeJS.ErrnoException).code ?? '',
        )
      )
        throw error
    }
  }
  return things
}

const git = (args: string[], cwd = repo.path): Buffer => execFileSync('git', args, { cwd, maxBuffer: 1 << 28 })

/** The content of a commit, by the bytes of the names. It is read by git itself, not by the code under test. */
function held(commit: string): Map<string, { mode: string; content: string }> {
  const parts = git(['ls-tree', '-r', '-z', '--full-tree', commit]).toString('latin1').split('\0').filter(Boolean)
  return new Map(
    parts.map(line => {
      const [, mode, type, oid, name] = /^(\d+) (\w+) ([0-9a-f]+)\t([\s\S]*)$/.exec(line)!
      return [
        name!,
        { mode: mode!, content: type === 'blob' ? git(['cat-file', 'blob', oid!]).toString('latin1') : oid! },
      ]
    }),
  )
}

const isKnown = (oid: string): boolean => {
  try {
    execFileSync('git', ['cat-file', '-e', oid], { cwd: repo.path, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const isIgnored = (worktree: string, name: string): boolean => {
  try {
    const asked = execFileSync('git', ['check-ignore', '-z', '--stdin', '--no-index'], {
      cwd: worktree,
      // So that it is not taken for a pattern.
      input: Buffer.from(`./${name}\0`, 'latin1'),
    })
    return asked.length > 0
  } catch {
    return false
  }
}

async function play(seed: number): Promise<void> {
  const chance = random(seed)
  const worktree = join(repo.root, 'home/worktrees/p', `w${seed}`)
  const branch = `fleet/shell/trees/${seed}`
  const opened = await repo.open()
  await addPlace(opened, {
    path: worktree,
    branch,
    from: 'main',
    base: 'main',
    session: `s${seed}`,
    allowPush: false,
    hooks: true,
  })
  const top = Buffer.from(worktree)
  const first = await aTree(top, chance)
  // Some agents commit or stash a part themselves. Git may refuse, and then nothing changes.
  const agent = (...args: string[]) => {
    try {
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: worktree, stdio: 'ignore' })
    } catch {}
  }
  if (chance.below(3) === 0) {
    agent('add', '-A')
    agent('commit', '--quiet', '--allow-empty', '-m', 'x')
  }
  if (chance.below(3) === 0) agent('stash', 'push', '--quiet', '--include-untracked')
  if (chance.below(3) === 0) {
    agent('add', '-A')
    for (const { kind, path } of first)
      if (kind === 'file' && chance.below(2) === 0 && foundAt(path)?.isFile())
        await (chance.below(3) === 0 ? rm(path) : writeFile(path, 'written over'))
  }
  const things = [...first, ...(await aTree(top, chance))]
  const staged = git(['ls-files', '--stage', '-z'], worktree).toString('latin1').split('\0').filter(Boolean)
  const collected = await commitLeftovers({ worktree, branch, message: 'Leftovers\n', maxBytes: LIMIT_BYTES })
  const commit = held(collected.tip)
  const left = await unheld(worktree, [])

  // The last entry for each path. Files that a later step replaced or a stash took are gone.
  const now = new Map(things.map(thing => [thing.path.toString('latin1'), thing]))
  for (const { path, kind, content, mode } of now.values()) {
    const found = foundAt(path)
    const isThere =
      found &&
      (found.isSymbolicLink()
        ? kind === 'link' && readlinkSync(path, 'latin1') === content
        : found.isFile() && kind !== 'link' && readFileSync(path, 'latin1') === content)
    if (!isThere) continue
    const name = path.subarray(top.length + 1).toString('latin1')
    const kept = commit.get(name)
    const isHeld = kept?.content === content && kept.mode === mode
    // If it is not in the commit, it is ignored, or it keeps the worktree from being removed.
    const isNamed = left.length > 0 && collected.skipped.length > 0
    if (!isHeld && !isNamed && !isIgnored(worktree, name))
      throw new Error(`${JSON.stringify(name)} is in no commit and not named`)
  }
  // Staged content is in the project too, unless the file on disk is the same.
  for (const entry of staged) {
    const [, oid, name] = /^100\d+ ([0-9a-f]+) 0\t([\s\S]*)$/.exec(entry) ?? []
    if (!oid || !name || isKnown(oid)) continue
    const path = under(top, Buffer.from(name, 'latin1'))
    const isThere = foundAt(path)?.isFile()
    if (
      !isThere ||
      execFileSync('git', ['hash-object', '--stdin'], { input: readFileSync(path) })
        .toString()
        .trim() !== oid
    )
      throw new Error(`what was staged as ${JSON.stringify(name)} is lost`)
  }
  for (const [name] of commit) {
    if (['.gitignore', 'kept', 'folder/kept'].includes(name)) continue
    const path = under(top, Buffer.from(name, 'latin1'))
    if (!foundAt(path)) throw new Error(`${JSON.stringify(name)} is in the commit and not on disk`)
  }
  await removePlace(worktree, opened)
  expect(existsSync(worktree)).toBe(false)
}

test('whatever an agent leaves is in a commit or still on disk', { timeout: ROUNDS ? 0 : TIME_MS * 4 }, async () => {
  const began = Date.now()
  let seed = FROM
  for (; ROUNDS ? seed < FROM + ROUNDS : Date.now() - began < TIME_MS; seed++)
    await play(seed).catch(error => {
      throw new Error(`round ${seed}`, { cause: error })
    })
  console.log(`${seed - FROM} trees`)
  expect(seed).toBeGreaterThan(FROM)
})
