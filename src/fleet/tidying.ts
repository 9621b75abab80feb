import { rm } from 'node:fs/promises'
import type { NewEvent } from '../domain/event.ts'
import { about, type By } from '../domain/life.ts'
import type { Project } from '../domain/project.ts'
import type { Session } from '../domain/session.ts'
import { effect } from '../effects.ts'
import { keepRef, keptRef, removeWorktree } from '../git/index.ts'
import { Turns } from '../git/turns.ts'
import type { Change, Collection, RecordOf } from '../store/index.ts'
import { type Fleet, retryOnConflict } from './fleet.ts'
import { forgetKept } from './kept-processes.ts'
import { all, put } from './records.ts'
import { repositoryOf } from './repositories.ts'

/** Who works in the worktrees of a mission: a session, a landing or whoever tidies up, one at a time. */
export const worktreeTurns = new Turns()

/** The ref that keeps a session's commits once its branch and worktree are gone. */
export const refOf = (session: Session): string => keptRef(session.mission_id, session.number)

/**
 * Removes the worktree and the branch of a session that is over, and of those before it that worked there too.
 * Its work stays under a ref of ours; doing it again is free.
 */
export async function retire(
  fleet: Fleet,
  session: Session,
  project: Project,
  { keepBranch = false } = {},
): Promise<void> {
  if (!session.worktree || !session.branch) return
  const repository = await repositoryOf(project)
  await removeWorktree(repository, session.worktree)
  if (session.end_commit)
    await keepRef(repository, {
      ref: refOf(session),
      oid: session.end_commit,
      ...(!keepBranch && { deleteBranch: session.branch }),
    })
  await retryOnConflict(async () => {
    const mission = await fleet.store.get('missions', session.mission_id)
    const shared = (await Array.fromAsync(all(fleet, 'sessions', 'mission', [session.mission_id]))).filter(
      ({ value }) => value.worktree === session.worktree && value.worktree_kept,
    )
    if (!shared.length) return
    const changes: Change[] = shared.map(({ value, version }) =>
      put('sessions', { ...value, worktree_kept: false }, version),
    )
    // A mission that already has a newer branch keeps that.
    if (mission && mission.value.branch === session.branch && session.end_commit && !keepBranch)
      changes.push(put('missions', { ...mission.value, branch: refOf(session) }, mission.version))
    const by = { actor: 'fleet', now: fleet.now() }
    const event = about({ id: session.mission_id, project_id: session.project_id }, 'worktree_removed', by, {
      session_id: session.id,
      data: { worktree: session.worktree, ref: refOf(session) },
    })
    await fleet.commit('commit.worktree-removed', { changes, events: [event] })
  })
}

/**
 * Whatever is remembered of a mission that is being deleted. Its own record goes last, so that a deletion cut short is
 * found and finished; its commits stay in the repository under refs.
 */
export async function forgetMission(fleet: Fleet, missionId: string, by: By): Promise<void> {
  for (const id of await forgetKept(fleet, missionId)) await forget(fleet, 'processes', id)
  for await (const { value: session } of all(fleet, 'sessions', 'mission', [missionId])) {
    const project = await fleet.store.get('projects', session.project_id)
    // What no commit holds stays on the disk; a person who wants it gone has said so before it came to this.
    if (session.worktree_kept && !session.left_behind && project && !(await sharedWithLater(fleet, session)))
      await worktreeTurns.take(missionId, () => retire(fleet, session, project.value))
    await effect('files.forget', () => rm(fleet.home.session(session.id), { recursive: true, force: true }))
    await forget(fleet, 'sessions', session.id)
  }
  for (const collection of ['reports', 'comments', 'evidence', 'messages', 'questions'] as const) {
    for await (const { value } of all(fleet, collection, 'mission', [missionId]))
      await forget(fleet, collection, value.id)
  }
  await forget(fleet, 'schedules', missionId)
  await effect('files.forget', () => rm(fleet.home.task(missionId), { recursive: true, force: true }))
  await forget(fleet, 'missions', missionId, mission => [
    about(mission, 'mission_deleted', by, { data: { was: mission.status, status: null, planning: mission.planning } }),
  ])
}

export async function forget<C extends Collection>(
  fleet: Fleet,
  collection: C,
  id: string,
  eventsOf?: (record: RecordOf<C>) => NewEvent[],
): Promise<void> {
  await retryOnConflict(async () => {
    const found = await fleet.store.get(collection, id)
    if (found)
      await fleet.commit('commit.forgotten', {
        changes: [{ remove: collection, id, expects: found.version }],
        events: eventsOf?.(found.value),
      })
  })
}

/** A resumed session works in the worktree of the one before it: only the newest of them may remove it. */
export async function sharedWithLater(fleet: Fleet, session: Session): Promise<boolean> {
  for await (const { value } of all(fleet, 'sessions', 'mission', [session.mission_id])) {
    if (value.number > session.number && value.worktree === session.worktree) return true
  }
  return false
}
