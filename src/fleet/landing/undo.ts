import type { Candidate, LandingCommit } from '../../domain/records/mission.ts'
import * as landings from '../../domain/rules/landing.ts'
import { advanceWhenFree, branchTip, commitTree, contains, keepRef, revertTree } from '../../git/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { current, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { takeBack } from './brought-along.ts'
import { runChecks } from './checks.ts'
import { decide, read, roundsOf, type Work, whatIsInTheWay } from './steps.ts'
import { undoMessage } from './trailers.ts'

/** Takes a landed mission back by a commit of its own, through the same path; what landed later stays. */
export async function undoMission(fleet: Fleet, missionId: string, signal: AbortSignal): Promise<void> {
  const work = await read(fleet, missionId, signal)
  const { mission, session, project, repository } = work
  if (!mission.undo || !mission.landed) return
  const fail = (code: string, text: string, hint?: string) =>
    decide(fleet, missionId, (m, by) => landings.undoFailed(m, { code, text, try: hint }, by))
  try {
    const earlier = mission.undo.landing_commit
    if (earlier && (await contains(repository, earlier.branch, earlier.commit)))
      return await undone(fleet, work, earlier)
    for (let round = 1; round <= roundsOf(project); round++) {
      const { branch, commit } = mission.landed
      const base = await branchTip(repository, branch)
      if (!base)
        return await fail(
          'base_gone',
          `The branch ${branch} is gone.`,
          `Bring it back, then fleet mission undo ${missionId}`,
        )
      const reverted = await revertTree(repository, { commit, onto: base })
      if (reverted === 'nothing') return await fail('nothing_to_undo', `${branch} no longer holds ${commit}.`)
      if ('conflicts' in reverted)
        return await fail(
          'undo_conflict',
          `Later work changed the same lines: ${reverted.conflicts.map(c => c.path).join(', ')}.`,
          'Undo the later missions first, or revert it by hand.',
        )
      const undoing: LandingCommit = {
        commit: await commitTree(repository, {
          tree: reverted.tree,
          parents: [base],
          message: undoMessage(mission, session, mission.landed),
          at: mission.undo.requested_at,
        }),
        onto: base,
        branch,
        checked: true,
      }
      const failure = await runChecks(fleet, {
        mission,
        project,
        repository,
        commit: undoing.commit,
        candidate: mission.landed.candidate ?? undefined,
        purpose: 'undo',
        since: mission.undo.requested_at,
        signal,
      })
      if (signal.aborted) return
      if (failure) return await fail('checks_failed', `Without it, ${failure.text}`)
      await noteUndo(fleet, missionId, undoing)
      const advanced = await advanceWhenFree(repository, { branch, from: base, to: undoing.commit })
      if ('moved' in advanced) return await undone(fleet, work, undoing)
      if ('blocked' in advanced)
        return await fail('in_the_way', whatIsInTheWay(branch, advanced), `fleet mission undo ${missionId}`)
    }
    await fail('base_busy', 'The base branch kept moving.', `fleet mission undo ${missionId}`)
  } catch (error) {
    if (!signal.aborted) await fail('undo_failed', `Undoing failed: ${sentence(error)}`)
  }
}

async function noteUndo(fleet: Fleet, missionId: string, landing_commit: LandingCommit): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'missions', missionId)
    await fleet.commit('commit.undo-commit', {
      changes: [
        put(
          'missions',
          { ...value, undo: { requested_at: value.undo?.requested_at ?? fleet.now(), landing_commit } },
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

/** What landed as it was is still in the history of the base, where merging it again brings nothing: a copy of it does. */
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
