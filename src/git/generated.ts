import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Repository } from './layout.ts'
import { byteName, nameBytes, shownName } from './names.ts'
import { byteFields, git } from './run.ts'

const ATTRIBUTE = 'linguist-generated'
/** Attributes of more folders are not looked for. */
const MOST_FOLDERS = 500

/** What the attributes of a commit say about these files: generated, or not. Most repositories say nothing. */
export async function markedGenerated(
  repo: Repository,
  commit: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, boolean>> {
  const folders = [...new Set(['', ...paths.flatMap(foldersOf)])].slice(0, MOST_FOLDERS)
  const wanted = folders.map(folder => `${folder}.gitattributes`)
  const args = ['--literal-pathspecs', 'ls-tree', '-z', '--full-tree', commit, '--', ...wanted]
  // Links are not read: git would not either.
  const files = byteFields((await git(repo.commonDir, args)).stdout).filter(entry => entry.startsWith('100'))
  if (!files.length) return new Map()
  const folder = mkdtempSync(join(tmpdir(), 'fleet-attributes-'))
  const env = { GIT_DIR: repo.commonDir, GIT_WORK_TREE: folder, GIT_INDEX_FILE: join(folder, 'index') }
  try {
    // An index of these files alone: git reads attributes from it as from a checkout.
    const index = nameBytes(files.map(entry => `${entry.replace(' blob ', ' ')}\0`).join(''))
    await git(folder, ['update-index', '-z', '--index-info'], { effect: 'git.add', env, input: index })
    const input = nameBytes(paths.map(path => `${byteName(path)}\0`).join(''))
    const { stdout } = await git(folder, ['check-attr', '--cached', '-z', '--stdin', ATTRIBUTE], { env, input })
    return marksIn(byteFields(stdout))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** As path, attribute and value. */
function marksIn(parts: readonly string[]): Map<string, boolean> {
  const marks = new Map<string, boolean>()
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const value = parts[at + 2]!
    if (value !== 'unspecified') marks.set(shownName(parts[at]!), value !== 'unset' && value !== 'false')
  }
  return marks
}

/** `a/b/c.ts` is in `a/` and `a/b/`. */
const foldersOf = (path: string): string[] => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1))
