import { existsSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { Mission } from '../domain/records/mission.ts'
import type { Session } from '../domain/records/session.ts'
import { effective } from '../domain/rules/effective.ts'
import { ended } from '../domain/rules/ending.ts'
import { about, type By, step, toPerson, toReview } from '../domain/rules/life.ts'
import { handedBack } from '../domain/rules/takeover.ts'
import { defaultsOf } from '../fleet/dispatch/capacity.ts'
import { spent } from '../fleet/dispatch/holds.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { all, current, fleetState, put } from '../fleet/records.ts'
import { talkLeft } from '../fleet/sessions/ending.ts'

export interface Origin {
  madeAt: string
  /** Where the home was, and where this one is going to be. */
  from: string
  to: string
  /** Clients store their conversations on their machine. */
  sameMachine: boolean
  paused: boolean
}

export interface Settled {
  /** Sessions that were live. */
  lost: number
  /** Missions that wait for a person, because the original home may still be working on them. */
  asking: string[]
  /** Missions that were landing, or being undone. */
  landing: string[]
}

const REASON = 'It was running when the backup was made.'

/**
 * Sessions that are live in the backup run elsewhere or nowhere: the original home may still exist, with its agents
 * running. So no session is continued, no worktree is used, and nothing lands automatically.
 */
export async function settleRestored(fleet: Fleet, origin: Origin): Promise<Settled> {
  const by: By = { actor: 'person', now: fleet.now() }
  const { value, expects } = await fleetState(fleet)
  await fleet.commit('commit.wish', {
    changes: [put('fleet', { ...value, paused: value.paused || origin.paused, updated_at: by.now }, expects)],
    events: [{ kind: 'restored', time: by.now, actor: by.actor, data: { made_at: origin.madeAt, from: origin.from } }],
  })
  const asking: string[] = []
  const landing: string[] = []
  const lost = await Array.fromAsync(all(fleet, 'sessions', 'live'), ({ value }) => value.id)
  for (const id of lost) {
    const mission = await loseSession(fleet, id, origin, by)
    if (mission.status === 'needs_input') asking.push(mission.id)
  }
  await moveWorktrees(fleet, origin)
  // Browsers must sign in with a link of this home.
  for (const { value, version } of await Array.fromAsync(all(fleet, 'devices', 'signed_in')))
    await fleet.commit('commit.wish', { changes: [put('devices', { ...value, signed_out_at: by.now }, version)] })
  await endSideProcesses(fleet, by)
  for (const { value, version } of await Array.fromAsync(all(fleet, 'missions', 'taken_over'))) {
    const next = handedBack(
      value,
      { failed: `A person had taken it over. ${REASON}`, changed: false, added: false, concern: null },
      by,
    )
    await fleet.commit('commit.wish', { changes: [put('missions', next.mission, version)], events: next.events })
    asking.push(value.id)
  }
  for (const { value, version } of await Array.fromAsync(all(fleet, 'missions', 'landing'))) {
    const next = unlanded(value, by)
    await fleet.commit('commit.wish', { changes: [put('missions', next.mission, version)], events: next.events })
    landing.push(value.id)
  }
  return { lost: lost.length, asking, landing }
}

/** Moving a branch is left to a person: it may have been moved since. */
function unlanded(mission: Mission, by: By): ReturnType<typeof toReview> {
  if (mission.status !== 'landing')
    return step({ ...mission, undo: null }, {}, by, 'undo_failed', {
      cause: 'It was restored while it was being undone.',
    })
  const as = mission.landing_commit ? ` as ${mission.landing_commit.commit}` : ''
  const text = `It was about to land${as} when the backup was made.`
  return toReview(
    mission,
    { code: 'restored', text, try: `Check whether it has landed, then fleet land ${mission.id}` },
    by,
  )
}

async function loseSession(fleet: Fleet, id: string, origin: Origin, by: By): Promise<Mission> {
  const session = await current(fleet, 'sessions', id)
  const mission = await current(fleet, 'missions', session.value.mission_id)
  const { value: project } = await current(fleet, 'projects', session.value.project_id)
  const { landing, maxRetries } = effective(mission.value, project, defaultsOf(fleet))
  const talk = await talkLeft(fleet, mission.value, session.value, false)
  const isThere = session.value.worktree !== null && existsSync(session.value.worktree)
  const after = ended(
    mission.value,
    {
      outcome: 'lost',
      reason: REASON,
      uncounted: true,
      changed: false,
      report: null,
      landing,
      maxRetries,
      concern: null,
      unheard: talk.unheard,
      question: null,
      unusable: null,
      added: false,
      isolated: session.value.worktree !== null,
    },
    by,
  )
  // Otherwise two homes would work on one branch.
  const next =
    isThere && after.mission.status === 'queued'
      ? toPerson(
          mission.value,
          {
            code: 'restored',
            text: `${REASON} Its worktree is still at ${session.value.worktree}, where an agent may still be at work.`,
            try: `fleet retry ${mission.value.id}`,
          },
          by,
        )
      : after
  const over: Session = {
    ...session.value,
    status: 'ended',
    outcome: 'lost',
    outcome_reason: REASON,
    stopping: null,
    conversation: origin.sameMachine ? session.value.conversation : null,
    ended_at: by.now,
  }
  await fleet.commit('commit.session-ended', {
    changes: [
      put('missions', { ...next.mission, asking: false }, mission.version),
      put('sessions', over, session.version),
      ...talk.changes,
      ...(await spent(fleet, over)),
    ],
    events: [
      about(next.mission, 'session_ended', by, {
        session_id: id,
        cause: REASON,
        data: { outcome: 'lost', agent: over.agent, usage: over.usage },
      }),
      ...talk.events.map(([kind, data]) => about(next.mission, kind, by, { session_id: id, data })),
      ...next.events,
    ],
  })
  return next.mission
}

const AT_ONCE = 40

/** The backup has no worktrees. Work continues in new ones of this home. */
async function moveWorktrees(fleet: Fleet, { from, to }: Origin): Promise<void> {
  const moved = (path: string | null): string | null =>
    path?.startsWith(from + sep) ? join(to, relative(from, path)) : path
  const stored = await Array.fromAsync(all(fleet, 'sessions', 'created'))
  const changes = stored
    .filter(({ value }) => value.worktree)
    .map(({ value, version }) =>
      put('sessions', { ...value, worktree: moved(value.worktree), worktree_kept: false }, version),
    )
  for (let done = 0; done < changes.length; done += AT_ONCE)
    await fleet.commit('commit.wish', { changes: changes.slice(done, done + AT_ONCE) })
}

async function endSideProcesses(fleet: Fleet, by: By): Promise<void> {
  for (const { value, version } of await Array.fromAsync(all(fleet, 'processes', 'live')))
    await fleet.commit('commit.side-process', {
      changes: [put('processes', { ...value, status: 'ended', reason: REASON, ended_at: by.now, url: null }, version)],
    })
}
