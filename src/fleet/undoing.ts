import * as life from '../domain/life.ts'
import { advance, branchTip, commitTree, contains, revertTree } from '../git/index.ts'
import { runChecks } from './checking.ts'
import { type Fleet, retryOnConflict } from './fleet.ts'
import { type Candidate, decide, MAX_ROUNDS, read } from './landing-steps.ts'
import { current, put } from './records.ts'
import { sentence } from './sentences.ts'
import { undoMessage } from './trailers.ts'

/** Takes a landed mission back by a commit of its own, through the same path; what landed later stays. */
export async function undoMission(fleet: Fleet, missionId: string, signal: AbortSignal): Promise<void> {
  const { mission, session, project, repository } = await read(fleet, missionId, signal)
  if (!mission.undo || !mission.landed) return
  const fail = (code: string, text: string, hint?: string) =>
    decide(fleet, missionId, (m, by) => life.undoFailed(m, { code, text, try: hint }, by))
  try {
    const earlier = mission.undo.candidate
    if (earlier && (await contains(repository, earlier.branch, earlier.commit)))
      return await undone(fleet, missionId, project.id, earlier)
    for (let round = 1; round <= MAX_ROUNDS; round++) {
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
      const candidate: Candidate = {
        commit: await commitTree(repository, {
          tree: reverted.tree,
          parents: [base],
          message: undoMessage(mission, session, commit),
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
        commit: candidate.commit,
        purpose: 'undo',
        since: mission.undo.requested_at,
        signal,
      })
      if (signal.aborted) return
      if (failure) return await fail('checks_failed', `Without it, ${failure.text}`)
      await noteUndo(fleet, missionId, candidate)
      const advanced = await advance(repository, { branch, from: base, to: candidate.commit })
      if ('moved' in advanced) return await undone(fleet, missionId, project.id, candidate)
      if ('blocked' in advanced)
        return await fail(
          'in_the_way',
          advanced.blocked === 'files'
            ? `Uncommitted files are in the way: ${advanced.paths.join(', ')}.`
            : `${branch} is busy: ${advanced.doing}.`,
          `fleet mission undo ${missionId}`,
        )
    }
    await fail('base_busy', 'The base branch kept moving.', `fleet mission undo ${missionId}`)
  } catch (error) {
    if (!signal.aborted) await fail('undo_failed', `Undoing failed: ${sentence(error)}`)
  }
}

async function noteUndo(fleet: Fleet, missionId: string, candidate: Candidate): Promise<void> {
  await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'missions', missionId)
    await fleet.commit('commit.undo-candidate', {
      changes: [
        put(
          'missions',
          { ...value, undo: { requested_at: value.undo?.requested_at ?? fleet.now(), candidate } },
          version,
        ),
      ],
    })
  })
}

async function undone(fleet: Fleet, missionId: string, projectId: string, candidate: Candidate): Promise<void> {
  await retryOnConflict(async () => {
    const mission = await current(fleet, 'missions', missionId)
    const project = await current(fleet, 'projects', projectId)
    const step = life.undone(
      { ...mission.value, undo: { requested_at: mission.value.undo?.requested_at ?? fleet.now(), candidate } },
      { actor: 'fleet', now: fleet.now() },
    )
    await fleet.commit('commit.undone', {
      changes: [
        put('missions', step.mission, mission.version),
        put('projects', { ...project.value, known_tip: candidate.commit }, project.version),
      ],
      events: step.events,
    })
  })
}
