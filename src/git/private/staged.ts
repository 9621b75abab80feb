import { rmSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { commitTree } from '../commits.ts'
import { readRef } from '../layout.ts'
import { byteName, nameBytes } from '../names.ts'
import { byteFields, GitFailed, git, gitText } from '../run.ts'
import { NotTakenIn, releaseKeeps, takeObjects } from './objects.ts'
import { ourEnvironment, type Place, projectOf } from './place.ts'
import { writeRef } from './project-refs.ts'
import { keptUnder } from './taking-in.ts'
import { copyIndex } from './writing.ts'

/** A difference between an index and a commit: a byte name, and git's letter. */
export interface Compared {
  path: string
  mode: string
  oid: string
  letter: string
}

/** Whether the index holds a file or link there, not one that is missing, in conflict, or a repository. */
export const isFile = ({ letter, mode, oid }: Compared): boolean =>
  'AMT'.includes(letter) && /^1[02]0/.test(mode) && !/^0+$/.test(oid)

const MESSAGE =
  'Staged and not committed\n\nThe files as the agent had staged them before it wrote over or removed them.\n'

/**
 * Keeps what a session staged and then overwrote or removed. The commit of its leftovers has the files as they are; a
 * commit on top holds the staged ones. Undefined: they are the same, or copies that nobody may commit.
 */
export async function keepStaged(
  place: Place,
  staged: readonly Compared[],
  { end, never = [] }: { end: string; never?: readonly string[] },
): Promise<{ ref?: string; problem?: string }> {
  const secrets = never.map(path => byteName(normalize(path).replace(/\/$/, '')))
  const wanted = staged.filter(({ path }) => !secrets.some(secret => path === secret || path.startsWith(`${secret}/`)))
  if (!wanted.length) return {}
  const repo = projectOf(place)
  const index = join(place.folder, 'staged-index')
  const env = ourEnvironment(place, { index })
  try {
    copyIndex(join(place.ours, 'index'), index)
    const input = nameBytes(wanted.map(({ path, mode, oid }) => `${mode} ${oid}\t${path}\0`).join(''))
    await git(place.worktree, ['update-index', '--replace', '-z', '--index-info'], { effect: 'git.add', env, input })
    const others = (await comparedWith(place, env, end)).filter(isFile)
    if (!others.length) return {}
    await takeObjects(place, { tips: [...new Set(others.map(({ oid }) => oid))], not: [end] })
    const tree = await gitText(place.worktree, ['write-tree'], { env })
    const ref = await freeRef(place)
    await writeRef(repo, ref, await commitTree(repo, { tree, parents: [end], message: MESSAGE }))
    releaseKeeps(place)
    return { ref }
  } catch (failure) {
    if (failure instanceof NotTakenIn || failure instanceof GitFailed)
      return { problem: `what it had only staged could not be kept: ${failure.message}` }
    throw failure
  } finally {
    rmSync(index, { force: true })
  }
}

/** Every difference between an index and a commit. An index that cannot be read has none. */
export async function comparedWith(
  { worktree }: Place,
  env: Record<string, string>,
  commit: string,
): Promise<Compared[]> {
  const args = ['diff-index', '--cached', '--raw', '-z', '--no-abbrev', '--no-renames', '--ignore-submodules=dirty']
  const parts = byteFields((await git(worktree, [...args, commit], { env, answers: [1, 128] })).stdout)
  return parts.flatMap((part, i) => {
    const [, mode, oid, letter] = /^:\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) ([A-Z])$/.exec(part) ?? []
    return i % 2 === 0 && mode && oid && letter ? [{ path: parts[i + 1]!, mode, oid, letter }] : []
  })
}

async function freeRef(place: Place): Promise<string> {
  for (let n = 1; ; n++) {
    const ref = `${keptUnder(place.record.session)}/staged/${n}`
    if (!(await readRef(projectOf(place), ref))) return ref
  }
}
