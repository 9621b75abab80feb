import { chmodSync, constants, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { Repository } from '../layout.ts'
import { byteName } from '../names.ts'
import { readPlainFile } from '../plain-files.ts'
import { byteFields, git } from '../run.ts'

const MOST_FILES = 100
const MOST_BYTES = 16 * 1024 * 1024

/** The hooks folder inside the repository, from its top; undefined: it is elsewhere. */
function amongFiles({ path }: Repository, hooksPath: string | undefined): string | undefined {
  if (hooksPath === undefined || hooksPath.startsWith('~')) return undefined
  const inside = relative(path, resolve(path, hooksPath))
  return inside === '' || isAbsolute(inside) || /^(\.\.|\.git)(\/|$)/.test(inside) ? undefined : inside
}

/** The `core.hooksPath` of a session; undefined: none, because its hooks are where git looks. */
export function copiedHooksPath(repo: Repository, hooksPath: string | undefined, to: string): string | undefined {
  const inside = amongFiles(repo, hooksPath)
  return inside && join(to, inside)
}

/**
 * Copies the project's hooks, including those among the repository's files: an agent can change its own copy, and a
 * person who commits in its worktree would run it. Such hooks often find helpers by their own path, below them or,
 * tracked, beside their folder.
 */
export async function copyHooks(repo: Repository, hooksPath: string | undefined, to: string): Promise<void> {
  const named = hooksPath?.replace(/^~(?=\/)/, process.env.HOME ?? homedir())
  const from = named ? resolve(repo.path, named) : join(repo.commonDir, 'hooks')
  const inside = amongFiles(repo, hooksPath)
  if (!inside) {
    const hooks = [...filesIn(from)].filter(isHook).slice(0, MOST_FILES)
    for (const file of hooks) copy(file, join(to, basename(file)))
    return
  }
  const beside = dirname(inside) === '.' ? [] : await trackedIn(repo, dirname(inside))
  for (const files of [filesIn(from, { below: true }), beside]) {
    let left = MOST_FILES
    for (const file of files) {
      if (left-- === 0) break
      copy(file, join(to, relative(repo.path, file)))
    }
  }
}

/** Only tracked files: others may be the person's own, with secrets in them. */
async function trackedIn({ path }: Repository, folder: string): Promise<string[]> {
  const args = ['--literal-pathspecs', 'ls-files', '-z', '--', folder]
  const tracked = new Set(byteFields((await git(path, args, { answers: [128] })).stdout))
  return [...filesIn(join(path, folder))].filter(file => tracked.has(byteName(relative(path, file))))
}

/** Those of the folder itself come first. */
function* filesIn(folder: string, { below = false } = {}): Generator<string> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  const entries = readdirSync(folder, { withFileTypes: true })
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (!entry.isDirectory() && statSync(path, { throwIfNoEntry: false })?.isFile()) yield path
  }
  if (!below) return
  for (const entry of entries) if (entry.isDirectory()) yield* filesIn(join(folder, entry.name), { below })
}

const isHook = (file: string): boolean => !basename(file).endsWith('.sample') && isProgram(file)
const isProgram = (file: string): boolean =>
  ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & constants.S_IXUSR) !== 0

function copy(from: string, to: string): void {
  const content = readPlainFile(from, { maxBytes: MOST_BYTES })
  if (!content) return
  mkdirSync(dirname(to), { recursive: true })
  writeFileSync(to, content)
  chmodSync(to, isProgram(from) ? 0o755 : 0o644)
}
