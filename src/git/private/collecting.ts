import { existsSync, lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NotFound } from '../../domain/errors.ts'
import { moreToCome, operationIn } from '../checkouts.ts'
import { COMMIT, type Collected, conflictsMet, knownChanges, type Leftovers, withMarkers } from '../collected.ts'
import { asSomeone, isAncestor } from '../commits.ts'
import { nameBytes, shownName } from '../names.ts'
import { readPlainFile } from '../plain-files.ts'
import { byteFields, git } from '../run.ts'
import { type Change, isThere, pathOf, sift, stage } from '../status.ts'
import { placeStatus } from './below.ts'
import { followBranch, leftAt, moveBranch } from './branch.ts'
import { hiddenIn } from './hidden.ts'
import { tipOf } from './making.ts'
import { isIgnoreFile, newlyIgnored } from './newly-ignored.ts'
import { noteProblem, ourEnvironment, type Place, projectOf } from './place.ts'
import { fileEnvironment } from './programs.ts'
import { seal, setSession } from './sealing.ts'
import { type Compared, comparedWith, isFile, keepStaged } from './staged.ts'
import { type TakenIn, takeIn } from './taking-in.ts'
import { copySharedIndex } from './writing.ts'

/**
 * What `commitLeftovers` does in a place: the session's commits are taken in, what it left uncommitted is committed by
 * our own git, the branch of the project is moved, and the session's repository is put in order for whoever comes next.
 */
export async function collectPlace(place: Place, wanted: Leftovers): Promise<Collected> {
  const { worktree, ours } = place
  const walled = wanted.within !== undefined
  rmSync(join(ours, 'index.lock'), { force: true })
  const taken = await takeIn(place)
  const branchAt = leftAt(place)
  // Noted before the session's repository is put in order: afterwards nobody could tell.
  if (taken.problem) noteProblem(place, taken.problem)
  const env = await fileEnvironment(place, wanted)
  if (!existsSync(worktree)) {
    await moveBranch(place, taken.branch ?? tipOf(place), branchAt)
    throw new NotFound('worktree', worktree)
  }
  const doing = await operationIn(place.git)
  const left = async (
    operation: NonNullable<Collected['unfinished']>['doing'],
    paths: string[],
  ): Promise<Collected> => {
    if (taken.branch) await goTo(place, taken.branch, env)
    const apart = await moveBranch(place, tipOf(place), branchAt)
    await seal(place, { walled })
    const unfinished = { doing: operation, paths: paths.map(shownName) }
    return {
      tip: tipOf(place),
      committed: false,
      skipped: [],
      unfinished,
      ...told({ problem: taken.problem, apart }),
      ...(taken.kept.length ? { kept: taken.kept } : {}),
    }
  }
  const noted = await readSessionIndex(place, taken.tip ?? tipOf(place))
  const midway = await moreToCome(place.git)
  if (midway) return left(midway, noted.unmerged)
  const met = [...new Set([...noted.unmerged, ...conflictsMet(place.git)])]
  const marked = [...withMarkers(worktree, met), ...noted.unmerged.filter(name => isNoFile(worktree, name))]
  if (marked.length) return left(doing ?? 'merge', marked)

  const tip = await home(place, taken)
  if (tip === undefined) {
    const { changed } = await placeStatus(place, env)
    return left(
      'work on another branch',
      changed.map(change => change.path),
    )
  }
  await goTo(place, tip, env)
  await markAbsent(place, noted.absent, env)
  const status = await placeStatus(place, env)
  const listed = new Set(status.changed.map(change => change.path))
  // Ignored, and staged all the same. Where a folder took the place of the file, what was staged is kept below.
  const isForced = (path: string): boolean =>
    isThere(worktree, path) && !lstatSync(pathOf(worktree, path)).isDirectory()
  const forced = noted.staged.flatMap(({ letter, path }) =>
    letter === 'A' && !listed.has(path) && isForced(path) ? [path] : [],
  )
  const changed: Change[] = [
    ...status.changed,
    ...forced.map((path): Change => ({ path, kind: 'added', staged: false, submodule: false })),
  ]
  const { take, skipped: sifted } = await sift(wanted, changed)
  const merging = doing === 'merge' ? taken.state.merging : []
  const conclude = merging.length > 0
  const { taken: added, skipped: unread } = await stage(worktree, take, env)
  const committed = added.length > 0 || conclude
  if (committed) {
    if (conclude) writeFileSync(join(ours, 'MERGE_HEAD'), `${merging.join('\n')}\n`)
    await asSomeone(worktree, COMMIT, { effect: 'git.commit', input: wanted.message, env })
    rmSync(join(ours, 'MERGE_HEAD'), { force: true })
  }
  const own = tipOf(place)
  const staged = await keepStaged(place, noted.staged, { end: own, never: wanted.never })
  if (staged.problem) noteProblem(place, staged.problem)
  const end = await followBranch(place, branchAt, { env, within: wanted.within })
  const followed = end !== own
  const apart = await moveBranch(place, end, branchAt)
  await seal(place, { walled })
  setSession(place, end)
  const hidden = await hiddenIn({ place, below: status.below }, env)
  const { start, never } = wanted
  const mayHide = start && added.every(change => isIgnoreFile(change.path))
  const ignored = mayHide ? await newlyIgnored(place, { start, end, never }, env) : []
  const kept = [...taken.kept, ...(staged.ref ? [staged.ref] : [])]
  const skipped = [...sifted, ...unread, ...ignored]
  const changes =
    committed && tip === wanted.start && !conclude && !followed ? knownChanges(added, end, wanted.message) : undefined
  return {
    tip: end,
    committed,
    skipped: [...skipped, ...hidden.filter(({ path }) => !skipped.some(each => `${each.path}.git` === path))],
    ...(changes ? { changes } : {}),
    ...(kept.length ? { kept } : {}),
    ...(followed ? { followed } : {}),
    ...told({ problem: taken.problem ?? staged.problem, apart }),
  }
}

const told = ({ problem, apart }: Pick<Collected, 'problem' | 'apart'>) => ({
  ...(problem ? { problem } : {}),
  ...(apart ? { apart } : {}),
})

/** Files that did not change since keep their place in our index, and are not read again. */
async function goTo(place: Place, tip: string, env: Record<string, string>): Promise<void> {
  if (tip !== tipOf(place))
    await git(place.worktree, ['reset', '--quiet', '--mixed', tip], { effect: 'git.update-ref', env })
}

/** The commit that the work goes on from: the session's HEAD, where that is on its branch or goes on from there. */
async function home(place: Place, { state, tip, branch, problem }: TakenIn): Promise<string | undefined> {
  const known = branch ?? tipOf(place)
  // What could not be taken in stays where it is; the files as they are go on from what we know.
  if (tip === undefined) return problem ? known : undefined
  if (tip === known || state.head === place.record.branch) return tip
  return (await isAncestor(projectOf(place), known, tip)) ? tip : undefined
}

/** A pipe or a device in the place of a file in conflict resolves nothing. */
function isNoFile(worktree: string, name: string): boolean {
  const found = lstatSync(pathOf(worktree, name), { throwIfNoEntry: false })
  return found !== undefined && !found.isFile() && !found.isSymbolicLink() && !found.isDirectory()
}

interface Noted {
  /** As the session's index has them: byte names of files in conflict and left out of the checkout, and what is staged. */
  unmerged: string[]
  absent: string[]
  staged: Compared[]
}

const MAX_INDEX_BYTES = 512 * 1024 * 1024

/** What only the session's own index knows: it is read as data, through a copy and with our git directory. */
async function readSessionIndex(place: Place, tip: string): Promise<Noted> {
  const noted: Noted = { unmerged: [], absent: [], staged: [] }
  const [mine, theirs] = [place.ours, place.git].map(dir =>
    readPlainFile(join(dir, 'index'), { refuseLinks: true, maxBytes: MAX_INDEX_BYTES }),
  )
  // Both were the same when it began, and most agents leave it so.
  if (!theirs || theirs.length < 32 || (mine && theirs.equals(mine))) return noted
  const gitDir = mkdtempSync(join(place.folder, 'looking-'))
  try {
    writeFileSync(join(gitDir, 'HEAD'), `${tip}\n`)
    writeFileSync(join(gitDir, 'index'), theirs)
    const isSplit = copySharedIndex(theirs, place.git, gitDir, MAX_INDEX_BYTES)
    const env = ourEnvironment(place, { gitDir })
    const compared = await comparedWith(place, env, tip)
    noted.unmerged = compared.flatMap(({ letter, path }) => (letter === 'U' ? [path] : []))
    noted.staged = compared.filter(isFile)
    // Only an index of a later form can say that a file is left out of the checkout.
    if (isSplit || theirs.readUInt32BE(4) > 2) {
      const listed = await git(place.worktree, ['ls-files', '-t', '-z'], { env, answers: [128] })
      for (const line of byteFields(listed.stdout)) if (line.startsWith('S ')) noted.absent.push(line.slice(2))
    }
  } finally {
    rmSync(gitDir, { recursive: true, force: true })
  }
  return noted
}

/** A file that is not there because the session narrowed its checkout is unchanged, not deleted. */
async function markAbsent({ worktree }: Place, names: string[], env: Record<string, string>): Promise<void> {
  const absent = names.filter(name => !lstatSync(pathOf(worktree, name), { throwIfNoEntry: false }))
  if (!absent.length) return
  const input = nameBytes(absent.map(name => `${name}\0`).join(''))
  await git(worktree, ['update-index', '--skip-worktree', '-z', '--stdin'], { effect: 'git.add', env, input })
}
