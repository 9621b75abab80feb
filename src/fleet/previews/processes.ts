import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { NotAllowed } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { KEPT_TITLES, type KeptKind, type KeptProcess } from '../../domain/records/side-process.ts'
import { about } from '../../domain/rules/life.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import { effect } from '../../platform/effects.ts'
import { newestLaunch } from '../../platform/launch-folder.ts'
import { type Belonging, keptMark } from '../../runner/processes.ts'
import { stopTree } from '../../runner/stopping.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { all, current, derivedId, put } from '../records.ts'

/** One of each kind per mission: of two who ask at once, one makes the record and both are answered with it. */
export const keptId = (missionId: string, kind: KeptKind): string => derivedId('process', missionId, kind)

/** Leaves the wish that it runs; whoever holds the home sees to it. Asking for what already runs changes nothing. */
export async function startKept(
  fleet: Fleet,
  ask: Ask,
  missionId: string,
  kind: KeptKind,
): Promise<Stored<KeptProcess>> {
  const id = keptId(missionId, kind)
  await oncePerKey(fleet, ask, async () => {
    const before = await fleet.store.get('processes', id)
    if (before && before.value.status !== 'ended') {
      if (!before.value.stopping) return { subject: id, changes: [] }
      throw new NotAllowed(`The ${KEPT_TITLES[kind]} of mission ${missionId} is just being ended.`, {
        try: 'Ask again in a moment.',
      })
    }
    const mission = await current(fleet, 'missions', missionId)
    if (mission.value.deleting) throw new NotAllowed(`Mission ${missionId} is being deleted.`)
    const { value: project } = await current(fleet, 'projects', mission.value.project_id)
    const session = await sessionOf(fleet, mission.value)
    if (kind === 'remote') requireRemote(fleet, mission.value, session)
    const when = by(fleet, ask)
    const hours = fleet.settings.previewHours
    const wanted: KeptProcess = {
      id,
      mission_id: missionId,
      project_id: project.id,
      kind,
      run: (before?.value.run ?? 0) + 1,
      session_id: session.id,
      worktree: session.worktree ?? project.path,
      command: kind === 'preview' ? commandOf(mission.value, project) : null,
      status: 'starting',
      stopping: null,
      port: null,
      url: null,
      process: null,
      exit_code: null,
      reason: null,
      until: kind === 'preview' ? new Date(Date.parse(when.now) + hours * 3_600_000).toISOString() : null,
      created_at: when.now,
      up_at: null,
      ended_at: null,
    }
    return {
      subject: id,
      changes: [put('processes', wanted, before?.version ?? 'absent')],
      checks: [{ collection: 'missions', id: missionId, expects: mission.version }],
      events: [about(mission.value, 'process_asked', when, { data: { process: id, kind } })],
    }
  })
  return current(fleet, 'processes', id)
}

async function sessionOf(fleet: Fleet, mission: Mission): Promise<Session> {
  const session = mission.session_id ? (await fleet.store.get('sessions', mission.session_id))?.value : undefined
  if (!session || session.status === 'starting')
    throw new NotAllowed(`Mission ${mission.id} has no worktree yet: no agent has worked on it.`, {
      try: `fleet mission show ${mission.id}`,
    })
  return session
}

function commandOf(mission: Mission, project: Project): string {
  const line = mission.preview_command ?? project.preview_command
  if (line) return line
  throw new NotAllowed(`Neither mission ${mission.id} nor its project has a preview command.`, {
    try: `fleet project set ${project.id} --preview "npm run dev -- --port \\$PORT"`,
  })
}

/** Beside an agent at work it would be a second one in the same files. */
function requireRemote(fleet: Fleet, mission: Mission, session: Session): void {
  const { title, remote } = fleet.agents.ofSession(session.agent)
  if (!remote)
    throw new NotAllowed(`${title} has no remote control; of the agents only Claude Code has.`, {
      try: `fleet takeover ${mission.id}`,
    })
  if (session.status !== 'ended')
    throw new NotAllowed(`Someone is at work in the worktree of mission ${mission.id}.`, {
      try: `Wait until it has ended, or fleet takeover ${mission.id}`,
    })
}

/** Leaves the wish that it ends. */
export async function stopKept(
  fleet: Fleet,
  ask: Ask,
  missionId: string,
  kind: KeptKind,
): Promise<Stored<KeptProcess>> {
  const id = keptId(missionId, kind)
  await oncePerKey(fleet, ask, async () => {
    const found = await fleet.store.get('processes', id)
    if (!found || found.value.status === 'ended')
      throw new NotAllowed(`There is no ${KEPT_TITLES[kind]} of mission ${missionId} to stop.`, {
        try: 'fleet preview list',
      })
    const when = by(fleet, ask)
    return {
      subject: id,
      changes: [
        put('processes', { ...found.value, stopping: found.value.stopping ?? 'A person stopped it.' }, found.version),
      ],
      events: [
        about({ id: missionId, project_id: found.value.project_id }, 'process_stop_requested', when, {
          data: { process: id, kind },
        }),
      ],
    }
  })
  return current(fleet, 'processes', id)
}

/** What runs for a mission, or is about to. */
export async function keptOf(fleet: Fleet, missionId: string): Promise<KeptProcess[]> {
  return (await Array.fromAsync(all(fleet, 'processes', 'mission', [missionId])))
    .map(stored => stored.value)
    .filter(each => each.status !== 'ended')
}

/** Whose work is shown in a worktree; it is not tidied away meanwhile. */
export const keptInWorktree = async (fleet: Fleet, session: Session): Promise<KeptProcess[]> =>
  (await keptOf(fleet, session.mission_id)).filter(each => each.worktree === session.worktree)

/** The kind of its launches, and where they are. */
export const KEPT_LAUNCH = 'kept'
export const launchesOfKept = (fleet: Fleet, { id, run }: KeptProcess): string =>
  join(fleet.home.process(id), String(run))

/** All that belongs to it. Not the worktree: sessions work there too. */
export function belongingOf(
  fleet: Fleet,
  kept: KeptProcess,
  known: ReadonlyMap<number, string> = new Map(),
): Belonging {
  const directory = newestLaunch(launchesOfKept(fleet, kept), KEPT_LAUNCH)
  return { mark: keptMark(fleet.home.id, kept.id), root: kept.process, worktree: null, directory, known }
}

/** Ends what is kept here and now, with or without a server: for whoever takes the worktree away. */
export async function endKept(fleet: Fleet, kept: readonly KeptProcess[], reason: string): Promise<void> {
  for (const { id } of kept) {
    await changeKept(fleet, id, { stopping: reason })
    const found = await fleet.store.get('processes', id)
    if (!found) continue
    await stopTree(() => belongingOf(fleet, found.value), fleet.settings.graceSeconds * 1000)
    await keptEnded(fleet, id, { reason, exit_code: null })
  }
}

/** Changes one that has not ended; undefined: it has, or is forgotten. */
export function changeKept(
  fleet: Fleet,
  id: string,
  change: Partial<KeptProcess>,
  event?: 'process_up' | 'process_ended',
): Promise<KeptProcess | undefined> {
  return retryOnConflict(async () => {
    const found = await fleet.store.get('processes', id)
    if (!found || found.value.status === 'ended') return undefined
    const next = { ...found.value, ...change, stopping: found.value.stopping ?? change.stopping ?? null }
    const when = { actor: 'fleet', now: fleet.now() }
    const { mission_id, project_id, kind, url } = next
    const told = event
      ? [
          about({ id: mission_id, project_id }, event, when, {
            cause: next.reason ?? undefined,
            data: { process: id, kind, url },
          }),
        ]
      : []
    await fleet.commit('commit.kept-process', { changes: [put('processes', next, found.version)], events: told })
    return next
  })
}

export const keptEnded = (
  fleet: Fleet,
  id: string,
  { reason, exit_code }: { reason: string; exit_code: number | null },
): Promise<KeptProcess | undefined> =>
  changeKept(
    fleet,
    id,
    {
      status: 'ended',
      reason: clipped(reason, MAX_REASON_CHARS),
      exit_code,
      url: null,
      process: null,
      ended_at: fleet.now(),
    },
    'process_ended',
  )

/** With a mission everything kept for it goes. */
export async function forgetKept(fleet: Fleet, missionId: string): Promise<string[]> {
  await endKept(fleet, await keptOf(fleet, missionId), 'Its mission was deleted.')
  const ids = (await Array.fromAsync(all(fleet, 'processes', 'mission', [missionId]))).map(({ value }) => value.id)
  for (const id of ids) await effect('files.forget', () => rm(fleet.home.process(id), { recursive: true, force: true }))
  return ids
}
