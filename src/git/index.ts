/** Plain functions over git: worktrees, merging without a checkout, moving a branch without harm to a checkout. */
export { type Advanced, advance, advanceWhenFree } from './advance.ts'
export { branchName, slug } from './branch-names.ts'
export {
  type Changes,
  changedAmong,
  changedFiles,
  changes,
} from './changes.ts'
export type { InUse } from './checkouts.ts'
export { type Cloning, cloneInto } from './cloning.ts'
export type { Collected, Leftovers } from './collected.ts'
export {
  type Conflict,
  commitNamed,
  commitTree,
  contains,
  isAncestor,
  type Merged,
  mergeTips,
  mergeTrees,
  type NewCommit,
  revertTree,
  treeOf,
} from './commits.ts'
export { conflictParts } from './conflict-parts.ts'
export { type Difference, differenceOf, liveDifferenceOf, type Sizes, sizesOf } from './differences.ts'
export { bytesOf } from './disk.ts'
export { blobOf, editedTree, type FileEdit, fileEntry, type TreeFile } from './file-edits.ts'
export { fileIn, fileOf, type Logged, linesOf, logOf, textOf, trackedFiles } from './files.ts'
export { markedGenerated } from './generated.ts'
export { explainsTip, type GuardMark, guardDifference, guardMark, pushGuardEnvironment } from './guard.ts'
export { commitsBeyond, commitsOf, largeFiles, mergeBase } from './histories.ts'
export { canLetGo, countOurRefs, keepRef, keptRef } from './kept-refs.ts'
export { branchTip, type Repository, readRef, requireWorktree } from './layout.ts'
export { commitLeftovers } from './leftovers.ts'
export { type FolderLocation, locate } from './locate.ts'
export { type MergedInto, mergeInto } from './merge-into.ts'
export { isOnlyOurs, makeRepository, removeUntouched } from './new-repository.ts'
export { cachesOf, dropCaches, isWorkedIn, keepCaches, noteWorkedIn } from './private/caches.ts'
export { convertLinked } from './private/converting.ts'
export { filesIn } from './private/exact.ts'
export { type Given, tellBase } from './private/giving.ts'
export { type Partly, repositoryInWalls } from './private/inside-walls.ts'
export { addPlace, checkoutPlace, isCheckingOut, placesIn, removePlace } from './private/making.ts'
export { moveOn } from './private/moving-on.ts'
export { folderOf, isLinked, type Place, placeAt, tipOf } from './private/place.ts'
export { dropRef } from './private/project-refs.ts'
export { seal } from './private/sealing.ts'
export { settingsOf } from './private/settings.ts'
export { keepTip } from './private/taking-in.ts'
export { unheld } from './private/unheld.ts'
export {
  beginWarm,
  cacheKeyIn,
  canBecomeReady,
  entriesIn,
  isReusable,
  layAside,
  makeReady,
  moveCachesIn,
  moveIn,
  type Ready,
  readyAt,
  sparseAt,
  type Warm,
} from './private/warm.ts'
export { fetchTip, pushCommit, type Remote, remoteOf, remoteTip } from './remotes.ts'
export {
  type Description,
  describe,
  openRepository,
  requireCommits,
  requireFileRefs,
  requireNameable,
} from './repository.ts'
export { GitFailed, gitVersion, OLDEST_GIT, requireGit, type Within } from './run.ts'
export { commitsWith, linesWith, pathsWith } from './searching.ts'
export { snapshot } from './snapshots.ts'
export { MAX_FILE_BYTES } from './status.ts'
export { strandedSubmodules } from './submodules.ts'
export { emptyTrash, throwAway } from './trash.ts'
export {
  type Added,
  addWorktree,
  checkoutScratch,
  type NewWorktree,
  removeWorktree,
  scratchWorktree,
} from './worktrees.ts'
