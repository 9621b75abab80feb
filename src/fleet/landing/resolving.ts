import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import { NotShown } from '../../domain/rules/candidate.ts'
import { disputedIn, type Settled, settledText } from '../../domain/rules/conflict-parts.ts'
import { toReview } from '../../domain/rules/life.ts'
import {
  branchTip,
  type Conflict,
  commitTree,
  conflictParts,
  editedTree,
  type FileEdit,
  mergeTrees,
  type TreeFile,
} from '../../git/index.ts'
import type { Ask } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { choicesFor } from './conflicts.ts'
import { type Edited, editWork } from './person-edits.ts'
import { messageOf } from './trailers.ts'

/** How a person resolves one file: by one side as a whole, or place by place. */
export interface Resolution {
  path: string
  take?: 'base' | 'work'
  places?: readonly Settled[]
}

export interface Resolved {
  /** The candidate and the tip of the base branch that the person was shown. */
  expected: string
  base: string
  files: readonly Resolution[]
}

/** Merges the base branch into a mission's work as a person decided. The result is a new candidate to review. */
export async function resolveConflict(fleet: Fleet, ask: Ask, mission: Mission, wish: Resolved): Promise<Mission> {
  return editWork(fleet, ask, { mission, expected: wish.expected }, async start => {
    const { project, by } = start
    const commit = await mergeOf(start, wish)
    const text = `The conflict with ${project.base_branch} is resolved. Review the result before it lands.`
    return {
      commit,
      cause: `The conflict with ${project.base_branch} was resolved by hand.`,
      step: m => toReview(m, { code: 'resolved', text, try: `fleet land ${m.id}` }, by),
    }
  })
}

async function mergeOf({ mission, session, project, repository, by }: Edited, wish: Resolved): Promise<string> {
  const branch = project.base_branch
  const base = await branchTip(repository, branch)
  const work = mission.candidate.commit
  if (!base || base !== wish.base)
    throw new NotShown(`${branch} has moved since you were shown this conflict.`, {
      try: 'Look at the conflict again',
      facts: { base, expected: wish.base },
    })
  const merged = await mergeTrees(repository, base, work)
  if (!('conflicts' in merged))
    throw new NotAllowed(`The work has no conflicts with ${branch}.`, { try: `fleet land ${mission.id}` })
  const edits: FileEdit[] = []
  for (const conflict of merged.conflicts) edits.push(await editOf({ repository, branch }, conflict, wish.files))
  const unknown = wish.files.find(({ path }) => !merged.conflicts.some(conflict => conflict.path === path))
  if (unknown) throw new InvalidInput('files', `${unknown.path} is not in conflict`)
  const tree = await editedTree(repository, merged.tree, edits)
  const message = messageOf(mission, session, `Merge ${branch} and resolve the conflicts`)
  return commitTree(repository, { tree, parents: [work, base], message, at: by.now })
}

async function editOf(
  { repository, branch }: Pick<Edited, 'repository'> & { branch: string },
  conflict: Conflict,
  files: readonly Resolution[],
): Promise<FileEdit> {
  const { name, path } = conflict
  const wishes = files.filter(file => file.path === path)
  const [wish] = wishes
  if (!wish) throw new InvalidInput('files', `${path} is still in conflict: choose a side, or resolve each conflict`)
  if (wishes.length > 1) throw new InvalidInput('files', `${path} is listed twice`)
  const parts = await conflictParts(repository, conflict)
  const choices = choicesFor(conflict, parts)
  if (!choices.length)
    throw new NotAllowed(`${path} cannot be resolved here (${conflict.kind}).`, {
      try: 'Ask the agent, or resolve it in the worktree',
    })
  if (wish.take) return { name, to: conflict[wish.take] ?? null }
  const count = parts && disputedIn(parts).length
  if (!parts || !wish.places || wish.places.length !== count)
    throw new InvalidInput(
      'files',
      parts
        ? `${path} has ${count} conflicts to resolve`
        : `${path} has conflicts that cannot be resolved one by one: take one side`,
      { try: `take: base (${branch}) or work` },
    )
  const content = Buffer.from(settledText(parts, wish.places), 'latin1')
  return { name, to: { mode: modeOf(conflict as Required<Conflict>), content } }
}

/** A side that changed the mode of the file decides. */
const modeOf = ({ base, work, original }: { base: TreeFile; work: TreeFile; original?: TreeFile }): string =>
  work.mode === original?.mode ? base.mode : work.mode
