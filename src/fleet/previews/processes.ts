import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { NotAllowed } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { SIDE_KINDS, SIDE_TITLES, type SideKind, type SideProcess } from '../../domain/records/side-process.ts'
import { about } from '../../domain/rules/life.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import { effect } from '../../platform/effects.ts'
import { newestLaunch } from '../../platform/launch-folder.ts'
import { ProcessTree } from '../../runner/process-tree.ts'
import { sideMark } from '../../runner/processes.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { current, derivedId, put } from '../records.ts'
import { isHere } from '../sessions/record.ts'

/** A mission has one process of each kind: of two requests at once, one makes the record and both get it. */
export const sideProcessId = (missionId: string, kind: SideKind): string => derivedId('process', missionId, kind)

/** Commits the wish that it runs, and the daemon starts it. A request for one that already runs changes nothing. */
export async function startSideProcess(
  fleet: Fleet,
  ask: Ask,
  missionId: string,
  kind: SideKind,
): Promise<Stored<SideProcess>> {
  const id = sideProcessId(missionId, kind)
  await oncePerKey(fleet, ask, async () => {
    const before = await fleet.store.get('processes', id)
    if (before && before.value.status !== 'ended') {
      if (!before.value.stopping) return { subject: id, changes: [] }
      throw new NotAllowed(`The ${SIDE_TITLES[kind]} of mission ${missionId} is being stopped.`, {
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
    const wanted: SideProcess = {
      id,
      mission_id: missionId,
      project_id: project.id,
      kind,
      run: (before?.value.run ?? 0) + 1,
      session_id: session.id,
      worktree: session.worktree ?? project.path,
      host: fleet.home.host,
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
      try: `fleet show ${mission.id}`,
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

/** Remote control beside an agent at work would put a second agent into the same files. */
function requireRemote(fleet: Fleet, mission: Mission, session: Session): void {
  const { title, remote } = fleet.agents.ofSession(session.agent)
  if (!remote)
    throw new NotAllowed(`${title} has no remote control; only Claude Code has it.`, {
      try: `fleet takeover ${mission.id}`,
    })
  if (session.status !== 'ended')
    throw new NotAllowed(`Someone is at work in the worktree of mission ${mission.id}.`, {
      try: `Wait until it has ended, or fleet takeover ${mission.id}`,
    })
}

/** Commits the wish that it ends. */
export async function stopSideProcess(
  fleet: Fleet,
  ask: Ask,
  missionId: string,
  kind: SideKind,
): Promise<Stored<SideProcess>> {
  const id = sideProcessId(missionId, kind)
  await oncePerKey(fleet, ask, async () => {
    const found = await fleet.store.get('processes', id)
    if (!found || found.value.status === 'ended')
      throw new NotAllowed(`There is no ${SIDE_TITLES[kind]} of mission ${missionId} to stop.`, {
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

/** The side processes of a mission that run, or are about to. */
export async function sideProcessesOf(fleet: Fleet, missionId: string): Promise<SideProcess[]> {
  const found = await Promise.all(SIDE_KINDS.map(kind => fleet.store.get('processes', sideProcessId(missionId, kind))))
  return found.flatMap(stored => stored?.value ?? []).filter(each => each.status !== 'ended')
}

/** The side processes in a session's worktree on this host. The worktree is not cleaned up while there are any. */
export const sideProcessesIn = async (fleet: Fleet, session: Session): Promise<SideProcess[]> =>
  (await sideProcessesOf(fleet, session.mission_id)).filter(
    each => each.worktree === session.worktree && isHere(fleet, each),
  )

/** The kind of its launches, and where they are. */
export const SIDE_LAUNCH = 'kept'
export const launchesOfSide = (fleet: Fleet, { id, run }: SideProcess): string =>
  join(fleet.home.process(id), String(run))

/** The process and everything it starts. The worktree is left out, because sessions work there too. */
export const treeOf = (fleet: Fleet, process: SideProcess): ProcessTree =>
  new ProcessTree({
    mark: sideMark(fleet.home.id, process.id),
    worktree: null,
    root: process.process,
    directory: () => newestLaunch(launchesOfSide(fleet, process), SIDE_LAUNCH),
  })

/** Ends them now, with or without a server, for code that removes the worktree. */
export async function endSideProcesses(fleet: Fleet, processes: readonly SideProcess[], reason: string): Promise<void> {
  for (const { id } of processes) {
    await changeSideProcess(fleet, id, { stopping: reason })
    const found = await fleet.store.get('processes', id)
    if (!found) continue
    if (isHere(fleet, found.value)) await treeOf(fleet, found.value).stop(fleet.settings.graceSeconds * 1000)
    await sideProcessEnded(fleet, id, { reason, exit_code: null })
  }
}

/** Changes one that has not ended. Undefined: it has ended, or is deleted. */
export function changeSideProcess(
  fleet: Fleet,
  id: string,
  change: Partial<SideProcess>,
  event?: 'process_up' | 'process_ended',
): Promise<SideProcess | undefined> {
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
    await fleet.commit('commit.side-process', { changes: [put('processes', next, found.version)], events: told })
    return next
  })
}

export const sideProcessEnded = (
  fleet: Fleet,
  id: string,
  { reason, exit_code }: { reason: string; exit_code: number | null },
): Promise<SideProcess | undefined> =>
  changeSideProcess(
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

/** Ends the side processes of a mission and removes their files. */
export async function forgetSideProcesses(fleet: Fleet, missionId: string): Promise<string[]> {
  await endSideProcesses(fleet, await sideProcessesOf(fleet, missionId), 'Its mission was deleted.')
  const ids = SIDE_KINDS.map(kind => sideProcessId(missionId, kind))
  for (const id of ids) await effect('files.forget', () => rm(fleet.home.process(id), { recursive: true, force: true }))
  return ids
}
