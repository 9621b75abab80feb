import { existsSync, lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NotFound } from '../../domain/errors.ts'
import { moreToCome, type Operation, operationIn } from '../checkouts.ts'
import { COMMIT, type Collected, conflictsMet, knownChanges, type Leftovers, withMarkers } from '../collected.ts'
import { asSomeone, isAncestor } from '../commits.ts'
import { nameBytes, shownName } from '../names.ts'
import { readPlainFile } from '../plain-files.ts'
import { byteFields, git } from '../run.ts'
import { type Change, isThere, pathOf, sift, stage } from '../status.ts'
import { writes } from '../writes/index.ts'
import { placeStatus } from './below.ts'
import { followBranch, leftAt, moveBranch } from './branch.ts'
import { commitStaged } from './committing.ts'
import { hiddenIn } from './hidden.ts'
import { isIgnoreFile, newlyIgnored } from './newly-ignored.ts'
import { noteProblem, ourEnvironment, type Place, projectOf, tipOf } from './place.ts'
import { fileEnvironment } from './programs.ts'
import { seal, setSession } from './sealing.ts'
import { type Compared, comparedWith, isFile, keepStaged } from './staged.ts'
import { type TakenIn, takeIn } from './taking-in.ts'
import { copySharedIndex } from './writing.ts'

/** What the steps of a collection share. */
interface Collecting {
  place: Place
  wanted: Leftovers
  taken: TakenIn
  noted: Noted
  /** The operation under way in the session's repository. */
  doing: Operation | undefined
  /** Where we left the branch of the project. */
  branchAt: readonly string[]
  env: Record<string, string>
}

type Unfinished = NonNullable<Collected['unfinished']>

/**
 * Does `commitLeftovers` in a place. It takes in the session's commits, commits with our own git what is uncommitted,
 * moves the project's branch, and puts the session's repository in order for the next user.
 */
export async function collectPlace(place: Place, wanted: Leftovers): Promise<Collected> {
  const { worktree, ours } = place
  rmSync(join(ours, 'index.lock'), { force: true })
  const taken = await takeIn(place)
  const branchAt = leftAt(place)
  // Noted before the session's repository is put in order, because afterwards the problem cannot be seen.
  if (taken.problem) noteProblem(place, taken.problem)
  const env = await fileEnvironment(place, wanted)
  if (!existsSync(worktree)) {
    await moveBranch(place, taken.branch ?? tipOf(place), branchAt)
    throw new NotFound('worktree', worktree)
  }
  const doing = await operationIn(place.git)
  const noted = await readSessionIndex(place, taken.tip ?? tipOf(place))
  const work: Collecting = { place, wanted, taken, noted, doing, branchAt, env }
  const unfinished = await unfinishedIn(work)
  if (unfinished) return leave(work, unfinished)
  const tip = await home(place, taken)
  if (tip === undefined) {
    const { changed } = await placeStatus(place, env)
    return leave(work, { doing: 'work on another branch', paths: changed.map(change => change.path) })
  }
  await goTo(place, tip, env)
  return finish(work, tip)
}

/** The operation that the session left unfinished, with the byte names of files in conflict. */
async function unfinishedIn({ place, noted, doing }: Collecting): Promise<Unfinished | undefined> {
  const { worktree, git: gitDir } = place
  const midway = await moreToCome(gitDir)
  if (midway) return { doing: midway, paths: noted.unmerged }
  const met = [...new Set([...noted.unmerged, ...conflictsMet(gitDir)])]
  const marked = [...withMarkers(worktree, met), ...noted.unmerged.filter(name => isNoFile(worktree, name))]
  return marked.length ? { doing: doing ?? 'merge', paths: marked } : undefined
}

/** Leaves the files as they are for a person. The commits on the session's branch count. */
async function leave(work: Collecting, { doing, paths }: Unfinished): Promise<Collected> {
  const { place, taken, wanted, branchAt, env } = work
  if (taken.branch) await goTo(place, taken.branch, env)
  const apart = await moveBranch(place, tipOf(place), branchAt)
  await seal(place, { walled: wanted.within !== undefined })
  return {
    tip: tipOf(place),
    committed: false,
    skipped: [],
    unfinished: { doing, paths: paths.map(shownName) },
    ...told({ problem: taken.problem, apart }),
    ...(taken.kept.length ? { kept: taken.kept } : {}),
  }
}

/** Commits what was left on top of `tip`, and prepares the place for its next user. */
async function finish(work: Collecting, tip: string): Promise<Collected> {
  const { place, wanted, taken, noted, branchAt, env } = work
  await markAbsent(place, noted.absent, env)
  const status = await placeStatus(place, env)
  const { added, committed, concluded, skipped: left } = await commitRest(work, status.changed)
  const own = tipOf(place)
  const staged = await keepStaged(place, noted.staged, { end: own, never: wanted.never })
  if (staged.problem) noteProblem(place, staged.problem)
  const end = await followBranch(place, branchAt, { env, within: wanted.within })
  const followed = end !== own
  const apart = await moveBranch(place, end, branchAt)
  await seal(place, { walled: wanted.within !== undefined })
  await setSession(place, end)
  const hidden = await hiddenIn({ place, below: status.below }, env)
  const { start, never } = wanted
  const mayHide = start && added.every(change => isIgnoreFile(change.path))
  const ignored = mayHide ? await newlyIgnored(place, { start, end, never }, env) : []
  const kept = [...taken.kept, ...(staged.ref ? [staged.ref] : [])]
  const skipped = [...left, ...ignored]
  const isKnown = committed && tip === wanted.start && !concluded && !followed
  const changes = isKnown ? knownChanges(added, end, wanted.message) : undefined
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

interface Rest {
  added: Change[]
  committed: boolean
  /** The commit concluded a merge of the session. */
  concluded: boolean
  skipped: Collected['skipped']
}

async function commitRest({ place, wanted, taken, noted, doing, env }: Collecting, changed: Change[]): Promise<Rest> {
  const { worktree } = place
  const listed = new Set(changed.map(change => change.path))
  // It is ignored but staged. If a folder replaced the file, finish keeps what was staged.
  const isForced = (path: string): boolean =>
    isThere(worktree, path) && !lstatSync(pathOf(worktree, path)).isDirectory()
  const forced = noted.staged.flatMap(({ letter, path }): Change[] =>
    letter === 'A' && !listed.has(path) && isForced(path)
      ? [{ path, kind: 'added', staged: false, submodule: false }]
      : [],
  )
  const { take, skipped } = await sift(wanted, [...changed, ...forced])
  const merging = doing === 'merge' ? taken.state.merging : []
  const concluded = merging.length > 0
  const { taken: added, skipped: unread } = await stage(worktree, take, env)
  const committed = added.length > 0 || concluded
  if (committed) {
    if (concluded) await conclude(place, merging, { message: wanted.message, env })
    else await commitStaged(place, { changes: added, more: changed.some(isStaged), message: wanted.message, env })
  }
  return { added, committed, concluded, skipped: [...skipped, ...unread] }
}

async function conclude(
  { worktree, ours }: Place,
  merging: readonly string[],
  { message, env }: { message: string; env: Record<string, string> },
): Promise<void> {
  writeFileSync(join(ours, 'MERGE_HEAD'), `${merging.join('\n')}\n`)
  await asSomeone(worktree, COMMIT, { effect: 'git.commit', input: message, env })
  rmSync(join(ours, 'MERGE_HEAD'), { force: true })
}

const isStaged = ({ staged }: Change): boolean => staged

const told = ({ problem, apart }: Pick<Collected, 'problem' | 'apart'>) => ({
  ...(problem ? { problem } : {}),
  ...(apart ? { apart } : {}),
})

/** Unchanged files keep their entry in our index and are not read again. */
async function goTo(place: Place, tip: string, env: Record<string, string>): Promise<void> {
  if (tip !== tipOf(place))
    await git(place.worktree, ['reset', '--quiet', '--mixed', tip], { effect: 'git.update-ref', env })
}

/** The commit that the work continues from: the session's HEAD, if it is on its branch or descends from it. */
async function home(place: Place, { state, tip, branch, problem }: TakenIn): Promise<string | undefined> {
  const known = branch ?? tipOf(place)
  // Commits that could not be taken in stay where they are. The files continue from the commit we know.
  if (tip === undefined) return problem ? known : undefined
  if (tip === known || state.head === place.record.branch) return tip
  return (await isAncestor(projectOf(place), known, tip)) ? tip : undefined
}

/** A pipe or a device in place of a conflicted file resolves nothing. */
function isNoFile(worktree: string, name: string): boolean {
  const found = lstatSync(pathOf(worktree, name), { throwIfNoEntry: false })
  return found !== undefined && !found.isFile() && !found.isSymbolicLink() && !found.isDirectory()
}

interface Noted {
  /**
   * From the session's index: byte names of files in conflict and files left out of the checkout, and what is staged.
   */
  unmerged: string[]
  absent: string[]
  staged: Compared[]
}

const MAX_INDEX_BYTES = 512 * 1024 * 1024

/** What only the session's index knows. It is read as data, through a copy and with our git directory. */
async function readSessionIndex(place: Place, tip: string): Promise<Noted> {
  const noted: Noted = { unmerged: [], absent: [], staged: [] }
  const [mine, theirs] = [place.ours, place.git].map(dir =>
    readPlainFile(join(dir, 'index'), { refuseLinks: true, maxBytes: MAX_INDEX_BYTES }),
  )
  // Both were the same at the start, and most agents leave it so.
  if (!theirs || theirs.length < 32 || (mine && theirs.equals(mine))) return noted
  const gitDir = mkdtempSync(join(place.folder, 'looking-'))
  try {
    const env = ourEnvironment(place, { gitDir })
    await writes().gitDir(gitDir, tip)
    await writes().head(gitDir, { commit: tip }, env)
    writeFileSync(join(gitDir, 'index'), theirs)
    const isSplit = copySharedIndex(theirs, place.git, gitDir, MAX_INDEX_BYTES)
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
