import { isOfTheStore } from '../../domain/errors.ts'
import type { Candidate, Landing, LandingCommit, StatusReason } from '../../domain/records/mission.ts'
import * as landings from '../../domain/rules/landing.ts'
import { commitTree, contains, keepRef, revertTree } from '../../git/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { nameOfActor } from '../people/principals.ts'
import { current, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { takeBack } from './brought-along.ts'
import { hasMoved, moveBranch, type Round } from './rounds.ts'
import { decide, read, type Work, whatIsInTheWay } from './steps.ts'
import { undoMessage } from './trailers.ts'

/** Takes a landed mission back by a commit of its own. What landed later stays. */
export async function undoMission(fleet: Fleet, missionId: string, signal: AbortSignal): Promise<void> {
  const work = await read(fleet, missionId, signal)
  const { undo, landed } = work.mission
  if (!undo || !landed) return
  try {
    const noted = undo.landing_commit
    if (await hasMoved(work, noted)) return await undone(fleet, work, noted!)
    const outcome = await moveBranch(fleet, undoRound(fleet, work, landed))
    if (outcome === 'decided') return
    const again = `fleet undo ${missionId}`
    if (outcome === 'branch gone')
      return await fail(fleet, work, {
        code: 'base_gone',
        text: `The branch ${landed.branch} is gone.`,
        try: `Bring it back, then ${again}`,
      })
    if (outcome === 'branch busy')
      return await fail(fleet, work, { code: 'base_busy', text: 'The base branch kept moving.', try: again })
    if ('blocked' in outcome)
      return await fail(fleet, work, {
        code: 'in_the_way',
        text: whatIsInTheWay(landed.branch, outcome),
        try: again,
      })
    await undone(fleet, work, outcome.moved)
  } catch (error) {
    if (isOfTheStore(error)) throw error
    if (!signal.aborted) await fail(fleet, work, { code: 'undo_failed', text: `Undoing failed: ${sentence(error)}` })
  }
}

const fail = (fleet: Fleet, { mission }: Work, why: StatusReason): Promise<void> =>
  decide(fleet, mission.id, (m, by) => landings.undoFailed(m, why, by))

function undoRound(fleet: Fleet, work: Work, landed: Landing): Round {
  const { mission, signal } = work
  return {
    work,
    branch: landed.branch,
    purpose: 'undo',
    candidate: landed.candidate ?? undefined,
    since: mission.undo!.requested_at,
    make: base => reverted(fleet, work, landed, base),
    async judge(failure) {
      if (signal.aborted) return undefined
      if (!failure) return {}
      await fail(fleet, work, {
        code: 'checks_failed',
        text: `Checks fail without it. ${failure.text}`,
        try: `To take it back all the same: git revert ${landed.commit}`,
      })
    },
    note: commit => noteUndo(fleet, mission.id, commit),
  }
}

async function reverted(fleet: Fleet, work: Work, landed: Landing, base: string): Promise<string | undefined> {
  const { mission, session, repository } = work
  const { branch, commit } = landed
  const revert = await revertTree(repository, { commit, onto: base })
  if (revert === 'nothing')
    return void (await fail(fleet, work, { code: 'nothing_to_undo', text: `${branch} no longer holds ${commit}.` }))
  if ('conflicts' in revert)
    return void (await fail(fleet, work, {
      code: 'undo_conflict',
      text: `Later work changed the same lines: ${revert.conflicts.map(c => c.path).join(', ')}.`,
      try: 'Undo the later missions first, or revert it by hand.',
    }))
  return commitTree(repository, {
    tree: revert.tree,
    parents: [base],
    message: undoMessage(mission, session, landed, await nameOfActor(fleet, mission.undo!.by ?? undefined)),
    at: mission.undo!.requested_at,
  })
}

async function noteUndo(fleet: Fleet, missionId: string, landing_commit: LandingCommit): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'missions', missionId)
    await fleet.commit('commit.undo-commit', {
      changes: [
        put(
          'missions',
          { ...value, undo: { by: null, requested_at: fleet.now(), ...value.undo, landing_commit } },
          version,
        ),
      ],
    })
  })
}

async function undone(fleet: Fleet, work: Work, { commit }: LandingCommit): Promise<void> {
  const { mission: subject } = work
  const again = await canLandAgain(work)
  await takeBack(fleet, subject.id, subject.landed?.includes ?? [], commit)
  await retryOnConflict(async () => {
    const mission = await current(fleet, 'missions', subject.id)
    const project = await current(fleet, 'projects', work.project.id)
    const step = landings.undone(mission.value, commit, again, { actor: 'fleet', now: fleet.now() })
    await fleet.commit('commit.undone', {
      changes: [
        put('missions', step.mission, mission.version),
        put('projects', { ...project.value, known_tip: commit }, project.version),
      ],
      events: step.events,
    })
  })
}

/**
 * Work that landed unchanged stays in the history of the base branch, so merging it again would bring nothing. A copy
 * of the work lands instead.
 */
async function canLandAgain({ mission, repository }: Work): Promise<Candidate | null> {
  const { candidate, landed } = mission
  if (!candidate || !landed || !(await contains(repository, landed.branch, candidate.commit))) return candidate
  const commit = await commitTree(repository, {
    tree: `${candidate.commit}^{tree}`,
    parents: [`${candidate.commit}^1`],
    message: 'Land again\n',
    at: mission.undo!.requested_at,
  })
  await keepRef(repository, { ref: `refs/fleet/${mission.id}/again`, oid: commit })
  return { ...candidate, commit, at: mission.undo!.requested_at }
}
