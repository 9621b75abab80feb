import { join } from 'node:path'
import { type Checkout, checkoutsOf, exists, type Repository, readText } from './layout.ts'

/** Where git keeps what it stashed for a merge or a rebase. */
export const AUTOSTASHES = ['MERGE_AUTOSTASH', 'rebase-merge/autostash', 'rebase-apply/autostash']

/** Where a branch is in use: checked out, or named by an operation that will write to it. */
export interface InUse {
  path: string
  /** The operation under way there, such as 'rebase'; undefined: none. */
  doing?: string
}

/** Every checkout of a branch, and whether it is busy. It starts no process, but takes longer with every worktree. */
export async function usesOf(repo: Repository, branch: string): Promise<InUse[]> {
  const checkouts = await checkoutsOf(repo)
  const uses = await Promise.all(checkouts.map(checkout => useOf(checkout, `refs/heads/${branch}`)))
  return uses.flatMap((use, i) => (use ? [{ path: checkouts[i]!.path, ...use }] : []))
}

const OPERATIONS = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply/applying', 'git am'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_START', 'bisect'],
] as const

export type Operation = (typeof OPERATIONS)[number][1]

/** The operation that was begun in a checkout and not finished. */
export async function operationIn(gitDir: string): Promise<Operation | undefined> {
  const found = await Promise.all(OPERATIONS.map(([file]) => exists(join(gitDir, file))))
  return OPERATIONS[found.indexOf(true)]?.[1] ?? (await sequenceIn(gitDir))
}

/** A cherry-pick or revert of several commits that has more to do. Git lists the current one first. */
async function sequenceIn(gitDir: string): Promise<'cherry-pick' | 'revert' | undefined> {
  const steps = (await readText(join(gitDir, 'sequencer/todo')))?.split('\n').filter(line => /^\s*[^\s#]/.test(line))
  if (!steps || steps.length < 2) return undefined
  return steps.some(line => /^\s*revert\b/.test(line)) ? 'revert' : 'cherry-pick'
}

/**
 * An operation that needs more than one commit to finish: a single commit would lose the rest. Before a merge git may
 * have stashed changes, which it restores when the merge is finished.
 */
export async function moreToCome(gitDir: string): Promise<Operation | undefined> {
  const doing = await operationIn(gitDir)
  if (doing === 'rebase' || doing === 'git am' || doing === 'bisect') return doing
  return (await sequenceIn(gitDir)) ?? ((await exists(join(gitDir, 'MERGE_AUTOSTASH'))) ? 'merge' : undefined)
}

async function useOf({ path, gitDir }: Checkout, ref: string): Promise<{ doing?: Operation } | undefined> {
  // A worktree whose folder was deleted does not use its branch, unless it is locked: its disk may come back.
  if (!(await exists(path)) && !(await exists(join(gitDir, 'locked')))) return undefined
  const head = await readText(join(gitDir, 'HEAD'))
  if (head?.trim() === `ref: ${ref}`) {
    const doing = await operationIn(gitDir)
    return doing ? { doing } : {}
  }
  // During a rebase or bisect HEAD is detached, although the branch will be written.
  if (head?.startsWith('ref: ')) return undefined
  if (await rebaseWrites(gitDir, ref)) return { doing: 'rebase' }
  const bisected = (await readText(join(gitDir, 'BISECT_START')))?.trim()
  if (bisected && (bisected === ref || `refs/heads/${bisected}` === ref)) return { doing: 'bisect' }
}

/** A rebase detaches HEAD and writes the branch at its end; with --update-refs, other branches too. */
async function rebaseWrites(gitDir: string, ref: string): Promise<boolean> {
  const named = await Promise.all(
    ['rebase-merge/head-name', 'rebase-apply/head-name', 'rebase-merge/update-refs'].map(file =>
      readText(join(gitDir, file)),
    ),
  )
  return named.some(text => text?.split('\n').includes(ref))
}
