import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { NotAllowed } from '../../domain/errors.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { about, type By } from '../../domain/rules/life.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import {
  type Collected,
  canLetGo,
  folderOf,
  keepRef,
  keptRef,
  placeAt,
  removePlace,
  removeWorktree,
  unheld,
} from '../../git/index.ts'
import { Turns } from '../../git/turns.ts'
import { effect } from '../../platform/effects.ts'
import type { Change, Collection, RecordOf, Stored } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { forgetSideProcesses } from '../previews/processes.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { all, current, put, sessionsOf } from '../records.ts'
import { gitWithin } from '../sessions/sandbox.ts'
import { poolOf } from './pool.ts'

/** The turns of the worktrees of a mission: a session, a landing or a clean-up, one at a time. */
export const worktreeTurns = new Turns()

/** The place of a member belongs to several missions, one after another, so it has turns of its own. */
export const inPlace = <T>({ member_id, worktree }: Session, run: () => Promise<T>): Promise<T> =>
  member_id && worktree ? worktreeTurns.take(worktree, run) : run()

/** The session that a team member had after this one, in the same place. */
async function memberWentOn(fleet: Fleet, { id, member_id, worktree }: Session): Promise<Session | undefined> {
  const newest = member_id && (await fleet.store.get('members', member_id))?.value.session_id
  const session = newest && newest !== id ? (await fleet.store.get('sessions', newest))?.value : undefined
  return session?.worktree === worktree ? session : undefined
}

/** The ref that keeps a session's commits once its branch and worktree are gone. */
export const refOf = (session: Session): string => keptRef(session.mission_id, session.number)

interface Retiring {
  keepBranch?: boolean
  discard?: boolean
  /** The files may wait for the next mission. */
  reuse?: boolean
  /** The session that gets a new worktree at the same path. */
  next?: Session
}

/**
 * Removes the worktree and the branch of an ended session, and of earlier sessions that worked there too. Their work
 * stays under a ref. Doing it again is free. Returns why the worktree stays, if it does.
 */
export async function retire(
  fleet: Fleet,
  session: Session,
  project: Project,
  retiring: Retiring = {},
): Promise<string | undefined> {
  // Whoever is about to work there has the turn.
  if (retiring.next) return letGo(fleet, session, project, retiring)
  return inPlace(session, async () =>
    (await memberWentOn(fleet, session)) ? undefined : letGo(fleet, session, project, retiring),
  )
}

async function letGo(
  fleet: Fleet,
  session: Session,
  project: Project,
  { keepBranch = false, discard = false, reuse = true, next }: Retiring,
): Promise<string | undefined> {
  if (!session.worktree || !session.branch) return undefined
  const repository = await repositoryOf(project)
  const place = placeAt(session.worktree)
  const pool = poolOf(fleet)
  // This may wait for somebody to leave, who may have worked there. So what they left is looked for after it.
  const mayKeep = place !== undefined && reuse && !discard && (await pool.wants(place, project))
  const left = discard ? [] : await unheldBy(fleet, session, project)
  if (left.length) return noteLeftBehind(fleet, session, left)
  const isKept = mayKeep && (await pool.keep(place, project))
  if (!isKept && (place || existsSync(folderOf(session.worktree)))) await removePlace(session.worktree, repository)
  else if (!isKept) await removeWorktree(repository, session.worktree)
  const holdsBranch = keepBranch || !(await canLetGo(repository, session.branch, session.end_commit ?? ''))
  const there = async () =>
    (await Array.fromAsync(all(fleet, 'sessions', 'place', [session.worktree!]))).filter(
      ({ value }) => value.id !== next?.id,
    )
  const others = (await there()).map(({ value }) => value)
  // The last session of each mission that worked there, because each mission's work keeps a name of its own.
  const lastOfEach = new Map([...others, session].map(each => [each.mission_id, each]))
  for (const last of lastOfEach.values()) {
    const deleteBranch = last.id === session.id && !holdsBranch ? session.branch : undefined
    if (last.end_commit) await keepRef(repository, { ref: refOf(last), oid: last.end_commit, deleteBranch })
  }
  await retryOnConflict(async () => {
    const shared = await there()
    if (!shared.length) return
    // More do not fit into one commit. The last commit has the event.
    for (let i = MOST_AT_ONCE; i < shared.length; i += MOST_AT_ONCE)
      await fleet.commit('commit.worktree-removed', {
        isRepeatable: true,
        changes: shared
          .slice(i, i + MOST_AT_ONCE)
          .map(({ value, version }) => put('sessions', { ...value, worktree_kept: false }, version)),
      })
    const changes: Change[] = shared
      .slice(0, MOST_AT_ONCE)
      .map(({ value, version }) => put('sessions', { ...value, worktree_kept: false }, version))
    for (const last of lastOfEach.values()) {
      const mission = await fleet.store.get('missions', last.mission_id)
      // A mission that already has a newer branch keeps that.
      if (mission && mission.value.branch === session.branch && last.end_commit && !keepBranch)
        changes.push(put('missions', { ...mission.value, branch: refOf(last) }, mission.version))
    }
    const by = { actor: 'fleet', now: fleet.now() }
    const event = about({ id: session.mission_id, project_id: session.project_id }, 'worktree_removed', by, {
      session_id: session.id,
      data: {
        worktree: session.worktree,
        ref: refOf(session),
        ...(holdsBranch && !keepBranch ? { branch_kept: session.branch } : {}),
      },
    })
    await fleet.commit('commit.worktree-removed', { changes, events: [event], isRepeatable: true })
  })
  return undefined
}

const MOST_AT_ONCE = 40

/** What its worktree has that the project does not. */
export async function unheldBy(fleet: Fleet, session: Session, project: Project): Promise<string[]> {
  const mission = (await current(fleet, 'missions', session.mission_id)).value
  return unheld(session.worktree!, project.copy_files, await gitWithin(fleet, session, mission, project))
}

/** What only the worktree has after its work was committed. Copies of the person's own files are no work. */
export function leftIn({ unfinished, skipped }: Collected, { copy_files }: Project): string | null {
  if (unfinished) return `The worktree is in the middle of something: ${unfinished.doing}.`
  const work = skipped.filter(({ path }) => !copy_files.some(copy => path === copy || path.startsWith(`${copy}/`)))
  return work.length ? clipped(`Not committed: ${work.map(({ path }) => path).join(', ')}.`, MAX_REASON_CHARS) : null
}

/**
 * Sessions of a mission whose worktrees have something that the project does not, each with the sentence that says so.
 */
export async function leftBehind(fleet: Fleet, missionId: string): Promise<Stored<Session>[]> {
  const sessions = await sessionsOf(fleet, missionId)
  const kept = sessions.filter(({ value }) => value.worktree_kept && value.worktree)
  const looked = await Promise.all(
    kept.map(async stored => {
      const { value } = stored
      if (value.left_behind) return [stored]
      const project = (await fleet.store.get('projects', value.project_id))?.value
      const left = project ? await unheldBy(fleet, value, project) : []
      return left.length ? [{ ...stored, value: { ...value, left_behind: leftSentence(left) } }] : []
    }),
  )
  return looked.flat()
}

/** Refuses to forget them unless a person discards what they hold. */
export function stillHolds(left: readonly Stored<Session>[], despite: string): NotAllowed {
  const worktrees = new Map(left.map(({ value }) => [value.worktree!, value.left_behind!]))
  const named = [...worktrees].slice(0, MOST_NAMED)
  const more = worktrees.size > MOST_NAMED ? [`So do ${worktrees.size - MOST_NAMED} more.`] : []
  const sentences = named.map(([path, why]) => `The worktree ${path} holds work that no commit does. ${why}`)
  return new NotAllowed([...sentences, ...more].join(' '), {
    try: `Look at it, then ${despite}`,
    facts: { worktrees: named.map(([path, left_behind]) => ({ path, left_behind })) },
  })
}

const MOST_NAMED = 5

/** A person discarded what they hold. */
export const discarded = (left: readonly Stored<Session>[]): Change[] =>
  left.map(({ value, version }) => put('sessions', { ...value, left_behind: null }, version))

/** What `unheldBy` found, in words. */
const leftSentence = (left: readonly string[]): string =>
  clipped(`Not held by the project: ${left.join(', ')}.`, MAX_REASON_CHARS)

/** Notes why the worktree stays. */
async function noteLeftBehind(fleet: Fleet, session: Session, left: string[]): Promise<string> {
  const left_behind = leftSentence(left)
  await retryOnConflict(async () => {
    const stored = await fleet.store.get('sessions', session.id)
    if (!stored || stored.value.left_behind) return
    await fleet.commit('commit.session-noted', {
      changes: [put('sessions', { ...stored.value, left_behind }, stored.version)],
    })
  })
  return left_behind
}

/**
 * Deletes everything about a mission. Its own record goes last, so that a deletion that was cut short is found and
 * finished. Its commits stay in the repository under refs.
 */
export async function forgetMission(fleet: Fleet, missionId: string, by: By): Promise<void> {
  for (const id of await forgetSideProcesses(fleet, missionId)) await forget(fleet, 'processes', id)
  for (const { value: session } of await sessionsOf(fleet, missionId)) {
    const project = await fleet.store.get('projects', session.project_id)
    // What no commit holds stays on disk. A person who wants it gone has said so before.
    if (session.worktree_kept && !session.left_behind && project && !(await sharedWithLater(fleet, session)))
      await worktreeTurns.take(missionId, () => retire(fleet, session, project.value, { discard: true }))
    await effect('files.forget', () => rm(fleet.home.session(session.id), { recursive: true, force: true }))
    await forget(fleet, 'sessions', session.id)
  }
  for (const collection of ['reports', 'comments', 'evidence', 'messages', 'questions', 'approval_rules'] as const) {
    for await (const { value } of all(fleet, collection, 'mission', [missionId]))
      await forget(fleet, collection, value.id)
  }
  await forget(fleet, 'schedules', missionId)
  await effect('files.forget', () => rm(fleet.home.task(missionId), { recursive: true, force: true }))
  await forget(fleet, 'missions', missionId, mission => [
    about(mission, 'mission_deleted', by, {
      data: { was: mission.status, status: null, planning: mission.planning, parent: mission.parent_mission_id },
    }),
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

/**
 * A resumed session works in the worktree of the one before, and so does a mission that shares it. Only the newest of
 * them may remove it, after those that are to share it have had their turn.
 */
export async function sharedWithLater(fleet: Fleet, session: Session): Promise<boolean> {
  if (await laterIn(fleet, session)) return true
  for await (const { value } of all(fleet, 'missions', 'dependency', [session.mission_id]))
    if (value.start_from === 'share' && ['draft', 'queued', 'running'].includes(value.status)) return true
  return false
}

/** A session that worked, or works, in the same worktree after this one. */
export async function laterIn(fleet: Fleet, session: Session): Promise<Session | undefined> {
  const ofMember = await memberWentOn(fleet, session)
  if (ofMember) return ofMember
  // The list may not have the newest session yet, which is the one that works there now.
  const newest = (await fleet.store.get('missions', session.mission_id))?.value.session_id
  const now = newest && (await fleet.store.get('sessions', newest))?.value
  if (now && now.number > session.number && now.worktree === session.worktree) return now
  const others = (await Array.fromAsync(all(fleet, 'sessions', 'place', [session.worktree!]))).map(({ value }) => value)
  return others.findLast(({ id, created_at }) => id !== session.id && created_at > session.created_at)
}
