import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { byteName, nameBytes, shownName } from '../names.ts'
import { byteFields, git } from '../run.ts'
import type { Skipped } from '../status.ts'
import type { Place } from './place.ts'

type Environment = Record<string, string>

const MOST_NAMED = 5
const WHY = 'only a rule that the agent added to .gitignore hides it'

interface Work {
  start: string
  end: string
  /** Copies of the person's own files. */
  never?: readonly string[]
}

/**
 * What the agent made, if its own ignore rules hide all of it and only ignore files differ. Together with other changes
 * such rules are ordinary (`node_modules/`), and so are new folders that ignore themselves, such as caches of tools.
 */
export async function newlyIgnored(place: Place, { start, end, never }: Work, env: Environment): Promise<Skipped> {
  const ask = namesFrom(place.worktree, env)
  const differing = start === end ? [] : await ask(['diff-tree', '-r', '-z', '--name-only', '--no-renames', start, end])
  if (!differing.every(isIgnoreFile)) return []
  const copies = (never ?? []).map(copy => `${byteName(copy)}/`)
  const listed = await ask(['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'])
  const ignored = listed.filter(path => !isIgnoreFile(path) && !copies.some(copy => `${path}/`.startsWith(copy)))
  if (!ignored.length) return []
  const told = await ask(['check-ignore', '--verbose', '-z', '--stdin'], ignored)
  const byTracked = new Map<string, boolean>()
  const candidates: string[] = []
  for (let i = 0; i + 3 < told.length; i += 4) {
    const [source, path] = [told[i]!, told[i + 3]!]
    if (!byTracked.has(source)) byTracked.set(source, isIgnoreFile(source) && (await wasThere(dirname(source))))
    if (byTracked.get(source)) candidates.push(path)
  }
  const before = candidates.length ? await ignoredAt(place, start, candidates, env) : new Set<string>()
  const hidden = candidates.filter(path => !before.has(path))
  const more = hidden.length - MOST_NAMED
  return [
    ...hidden.slice(0, MOST_NAMED).map(path => ({ path: shownName(path), why: WHY })),
    ...(more > 0 ? [{ path: `${more} more`, why: WHY }] : []),
  ]

  async function wasThere(folder: string): Promise<boolean> {
    const name = folder === '.' ? '' : shownName(folder)
    return (await git(place.worktree, ['cat-file', '-e', `${start}:${name}`], { env, answers: [1, 128] })).exit === 0
  }
}

export const isIgnoreFile = (path: string): boolean => basename(path) === '.gitignore'

/** Byte names, given and answered; exit code 1 says that there are none. */
const namesFrom =
  (folder: string, env: Environment) =>
  async (args: string[], names: string[] = []): Promise<string[]> => {
    const input = nameBytes(names.map(name => `${name}\0`).join(''))
    return byteFields((await git(folder, args, { env, input, answers: [1] })).stdout)
  }

/** Which of these the ignore rules of a commit hide. Git is asked in a folder that has only its ignore files. */
async function ignoredAt(place: Place, commit: string, paths: string[], outer: Environment): Promise<Set<string>> {
  const looking = mkdtempSync(join(place.folder, 'looking-'))
  try {
    const files = join(looking, 'files')
    mkdirSync(files)
    const ask = namesFrom(files, { ...outer, GIT_INDEX_FILE: join(looking, 'index'), GIT_WORK_TREE: files })
    await ask(['read-tree', commit])
    const rules = await ask(['ls-files', '-z', '--', ':(glob)**/.gitignore'])
    await ask(['checkout-index', '--quiet', '-z', '--stdin'], rules)
    // The folder does not exist, so something in it is judged with it.
    const asked = new Map(paths.map(path => [path.endsWith('/') ? `${path}x` : path, path]))
    const hidden = await ask(['check-ignore', '--no-index', '-z', '--stdin'], [...asked.keys()])
    return new Set(hidden.map(path => asked.get(path)!))
  } finally {
    rmSync(looking, { recursive: true, force: true })
  }
}
