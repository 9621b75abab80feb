import { join } from 'node:path'
import { newId } from '../src/domain/ids.ts'
import type { NewEvent } from '../src/domain/records/event.ts'
import { MISSION_COUNTS } from '../src/domain/records/fleet.ts'
import { type Landing, Mission } from '../src/domain/records/mission.ts'
import { Project } from '../src/domain/records/project.ts'
import { Report } from '../src/domain/records/report.ts'
import { Session } from '../src/domain/records/session.ts'
import type { Fleet } from '../src/fleet/fleet.ts'
import { put } from '../src/fleet/records.ts'
import { type Change, MAX_COMMIT_ITEMS } from '../src/store/index.ts'

const PROJECTS = 10
/** A server drops all but the newest events; this many missions still have theirs. */
const MISSIONS_WITH_EVENTS = 25_000
const FAMILY = 10
const FIRST = Date.parse('2024-01-01T00:00:00Z')
const OID = 'c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00'

export interface Filled {
  project: string
  /** A mission with sub-missions. */
  parent: string
  mission: string
}

interface Past {
  changes: Change[]
  events: NewEvent[]
}

/** Writes missions that are over, with everything that is stored about them, as if the fleet had run for years. */
export async function fill(fleet: Fleet, missions: number): Promise<Filled> {
  const projects = Array.from({ length: PROJECTS }, (_, i) => aProject(fleet, i))
  await fleet.store.commit({ changes: projects.map(project => put('projects', project, 'absent')) })
  const counts: Record<string, number> = {}
  const ofProjects: Record<string, Record<string, number>> = {}
  let batch: Past = { changes: [], events: [] }
  let parent: string | null = null
  let last = ''
  for (let i = 0; i < missions; i++) {
    const mission = aMission(projects[i % PROJECTS]!, i, i % FAMILY ? parent : null)
    if (i % FAMILY === 0) parent = mission.id
    last = mission.id
    ofProjects[mission.project_id] ??= {}
    const ofProject = ofProjects[mission.project_id]!
    for (const tally of [counts, ofProject]) tally[mission.status] = (tally[mission.status] ?? 0) + 1
    const past = pastOf(fleet, mission)
    if (missions - i > MISSIONS_WITH_EVENTS) past.events = []
    if (batch.changes.length + batch.events.length + past.changes.length + past.events.length > MAX_COMMIT_ITEMS) {
      await fleet.store.commit(batch)
      batch = { changes: [], events: [] }
    }
    batch.changes.push(...past.changes)
    batch.events.push(...past.events)
  }
  await fleet.store.commit(batch)
  await fleet.store.commit({
    changes: [
      put(
        'counts',
        { id: MISSION_COUNTS, cursor: await fleet.store.tail(), counts, projects: ofProjects, totals: null },
        'absent',
      ),
    ],
  })
  return { project: projects[0]!.id, parent: parent!, mission: last }
}

const timeOf = (number: number, minute = 0): string =>
  new Date(FIRST + number * 600_000 + minute * 60_000).toISOString()

function aProject(fleet: Fleet, number: number): Project {
  const created_at = timeOf(0)
  return Project.parse({
    id: newId(),
    name: `project ${number}`,
    path: join(fleet.home.path, `repository-${number}`),
    worktree: 'git',
    base_branch: 'main',
    created_at,
    updated_at: created_at,
  })
}

function aMission(project: Project, number: number, parent: string | null): Mission {
  const status = number % 20 === 7 ? 'cancelled' : number % 50 === 3 ? 'failed' : 'done'
  return Mission.parse({
    id: newId(),
    project_id: project.id,
    title: `Mission ${number}: make the part of the program that does one thing do another`,
    prompt: { inline: `Look at the part with the number ${number}, and say what you see. `.repeat(8) },
    acceptance_criteria: 'All tests pass and the page shows the new number.',
    tags: ['common', `week-${number % 52}`],
    parent_mission_id: parent,
    status,
    result: status === 'done' ? 'landed' : null,
    status_reason: status === 'failed' ? { code: 'agent_failed', text: 'Exited with code 1.' } : null,
    session_id: newId(),
    sessions: 1,
    landed: status === 'done' ? landedAt(timeOf(number, 6)) : null,
    created_at: timeOf(number),
    queued_at: timeOf(number),
    started_at: timeOf(number, 1),
    updated_at: timeOf(number, 6),
    ended_at: timeOf(number, 6),
  })
}

const landedAt = (at: string): Landing => ({
  ...{ candidate: OID, commit: OID, onto: OID, branch: 'main', at, approved: null, files: 1, forced: null },
  ...{ evidence: [], includes: [], with: null, undone: null },
})

function pastOf(fleet: Fleet, mission: Mission): Past {
  const { id, project_id, session_id, status } = mission
  const about = { mission_id: id, project_id }
  const outcome = status === 'done' ? 'completed' : status
  const session = Session.parse({
    ...about,
    id: session_id,
    node: 'local',
    number: 1,
    reason: 'first',
    agent: 'shell',
    model: null,
    status: 'ended',
    outcome,
    outcome_reason: 'The script ended well.',
    exit_code: 0,
    worktree: join(fleet.home.worktrees, project_id, id),
    branch: `fleet/shell/mission/${id}`,
    start_commit: OID,
    end_commit: OID,
    base_tip: OID,
    worktree_kept: status === 'failed',
    created_at: mission.queued_at,
    started_at: mission.started_at,
    ended_at: mission.ended_at,
  })
  const report = Report.parse({
    ...about,
    id: newId(),
    session_id,
    source: 'git',
    summary: 'It does the other thing now. '.repeat(10),
    files_changed: Array.from({ length: 5 }, (_, i) => ({ path: `src/part-${i}/file.txt`, change: 'modified' })),
    commits: [{ commit: OID, subject: mission.title }],
    created_at: mission.ended_at,
  })
  const event = (kind: NewEvent['kind'], time: string | null, data: Record<string, unknown> = {}): NewEvent => ({
    kind,
    time: time!,
    actor: 'fleet',
    ...about,
    session_id,
    data,
  })
  const over =
    status === 'done'
      ? (['landing_started', 'landed', 'worktree_removed'] as const)
      : status === 'failed'
        ? (['failed'] as const)
        : (['cancelled'] as const)
  return {
    changes: [put('missions', mission, 'absent'), put('sessions', session, 'absent'), put('reports', report, 'absent')],
    events: [
      event('mission_created', mission.created_at, { title: mission.title, was: null, status: 'draft' }),
      event('auto_dispatched', mission.queued_at, { was: 'draft', status: 'queued' }),
      event('session_starting', mission.started_at, {
        was: 'queued',
        status: 'running',
        agent: 'shell',
        reason: 'first',
      }),
      event('session_running', mission.started_at, { pid: 4711 }),
      event('session_ended', mission.ended_at, { outcome, exit_code: 0 }),
      ...over.map(kind => event(kind, mission.ended_at)),
    ],
  }
}
