/** Two projects with one record of every kind each, for tests of who sees what. */
import { ApprovalRule } from '../domain/records/approval-rule.ts'
import { AuditEntry } from '../domain/records/audit.ts'
import { Post } from '../domain/records/board.ts'
import { Checkpoint } from '../domain/records/checkpoint.ts'
import type { NewEvent } from '../domain/records/event.ts'
import { Fault } from '../domain/records/fault.ts'
import { MISSION_COUNTS, Spending } from '../domain/records/fleet.ts'
import { Loop } from '../domain/records/loop.ts'
import { Comment, Evidence, type Mission } from '../domain/records/mission.ts'
import { Plan } from '../domain/records/plan.ts'
import type { Grant } from '../domain/records/principal.ts'
import { Reservation } from '../domain/records/reservation.ts'
import { Schedule } from '../domain/records/schedule.ts'
import { NO_USAGE } from '../domain/records/session.ts'
import { SideProcess } from '../domain/records/side-process.ts'
import { Spawn } from '../domain/records/spawn.ts'
import { Swarm } from '../domain/records/swarm.ts'
import { Message, Question } from '../domain/records/talk.ts'
import { Delivery, Mail, Member, Team } from '../domain/records/team.ts'
import { Workflow } from '../domain/records/workflow.ts'
import { aMission, aProject, aReport, aSession, NOW } from '../domain/samples.testkit.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { put } from '../fleet/records.ts'
import type { Change } from '../store/index.ts'
import type { Principal } from './operation.ts'

/** Nothing of the foreign project has a name or an id without this. */
export const FOREIGN = 'zzforeign'
export const OWN = 'ownproject'

/** The names by which operations find the records of a project. */
export const refsOf = (project: string): Readonly<Record<string, string>> => ({
  project_id: project,
  mission_id: `${project}-review`,
  session_id: `${project}-ended`,
  question_id: `${project}-question`,
  comment_id: `${project}-comment`,
  plan_id: `${project}-plan`,
  workflow_id: `${project}-workflow`,
  loop_id: `${project}-loop`,
  schedule_id: `${project}-schedule`,
  report_id: `${project}-report`,
  rule_id: `${project}-rule`,
  team_id: `${project}-team`,
  mail_id: `${project}-mail`,
  swarm_id: `${project}-swarm`,
  checkpoint_id: `${project}-checkpoint`,
  task_id: `${project}-failed`,
  spawn_id: `${project}-spawn`,
  member: `${project}-member`,
  server_id: `${project}-server`,
  first: `${project}-review`,
  second: `${project}-done`,
})

const CHECKED = {
  ...{ commit: 'c'.repeat(40), purpose: 'landing', command: 'true', exit_code: 0, passed: true },
  ...{ output: { inline: '' }, seconds: 1 },
}
const WAITING = { author: 'person', status: 'waiting' }
const OPEN = {
  ...{ kind: 'question', asked_as: 'q', tool: null, status: 'open', answer: null, answered_by: null },
  ...{ deadline: null, otherwise: null, answered_at: null },
}
const ALLOWED = { scope: 'project', tool: 'Bash', question_id: 'q', created_by: 'person' }
const MADE = { definition: { inline: '[]' }, stages: 0, status: 'done' }
const NIGHTLY = { cron: '0 5 * * *', time_zone: 'UTC', next_at: NOW, waiting: [] }
const SHOWN = {
  ...{ kind: 'preview', run: 1, worktree: '/w', status: 'ended', stopping: null, port: null, url: null },
  ...{ process: null, exit_code: 0, reason: null, until: null, up_at: null, ended_at: NOW },
}
const SPENT = { day: NOW.slice(0, 10), agent: 'shell', sessions: 1, cost_usd: 1 }
const ASKED = {
  ...{ at: NOW, last_at: NOW, principal: { kind: 'owner', id: null, name: 'owner' }, way: 'rest', address: null },
  ...{ device_id: null, token_id: null, operation: 'pause', touched: [], outcome: 'done', code: null, count: 1 },
}
const FAILED = { reactor: 'sessions', since: NOW, tries: 1, tried_at: NOW, next_try_at: NOW }

export const aPrincipal = (grants: Grant[], more: Partial<Principal> = {}): Principal => ({
  kind: 'person',
  id: 'ada',
  name: 'Ada',
  grants,
  limit: null,
  ...more,
})

export async function fill(fleet: Fleet, project: string): Promise<void> {
  const of = { project_id: project, created_at: NOW, updated_at: NOW }
  const mission_id = `${project}-review`
  const session_id = `${project}-ended`
  const within = { ...of, mission_id, session_id }
  const text = { inline: project }
  const team_id = `${project}-team`
  const missions = (['queued', 'review', 'done', 'failed', 'running', 'landing'] as const).map(status =>
    aMission({
      ...of,
      id: `${project}-${status}`,
      status,
      title: `${project} ${status}`,
      tags: [project, 'shared'],
      ready: status === 'queued',
      ended_at: status === 'done' || status === 'failed' ? NOW : null,
      result: status === 'done' ? 'landed' : null,
      session_ids: status === 'review' ? [session_id] : [],
      task: status === 'failed' ? { team_id, assignee: null, handing: null, blocked: null } : null,
    } as Partial<Mission>),
  )
  const server = { id: `${project}-server`, name: `${project}-docs`, url: 'https://docs.example', created_at: NOW }
  const records: Change[] = [
    put(
      'projects',
      aProject({ id: project, name: project, path: `/${project}`, mcp_servers: [server] as never }),
      'absent',
    ),
    ...missions.map(each => put('missions', each, 'absent')),
    put('sessions', aSession({ ...of, id: session_id, mission_id, status: 'ended', ended_at: NOW }), 'absent'),
    put('sessions', aSession({ ...of, id: `${project}-live`, mission_id: `${project}-running` }), 'absent'),
    put('reports', aReport({ ...of, id: `${project}-report`, mission_id, session_id, summary: project }), 'absent'),
    put('comments', Comment.parse({ ...within, id: `${project}-comment`, author: 'person', body: project }), 'absent'),
    put('evidence', Evidence.parse({ ...within, ...CHECKED, id: `${project}-evidence`, name: project }), 'absent'),
    put('messages', Message.parse({ ...within, ...WAITING, id: `${project}-message`, text }), 'absent'),
    put('questions', Question.parse({ ...within, ...OPEN, id: `${project}-question`, text }), 'absent'),
    put(
      'approval_rules',
      ApprovalRule.parse({
        ...within,
        ...ALLOWED,
        id: `${project}-rule`,
        subject: JSON.stringify({ command: project }),
      }),
      'absent',
    ),
    put(
      'workflows',
      Workflow.parse({ ...of, ...MADE, id: `${project}-workflow`, name: project, task: text }),
      'absent',
    ),
    put('schedules', Schedule.parse({ ...of, ...NIGHTLY, id: `${project}-schedule` }), 'absent'),
    put('processes', SideProcess.parse({ ...within, ...SHOWN, id: `${project}-process`, command: project }), 'absent'),
    put('plans', Plan.parse({ ...within, id: `${project}-plan`, status: 'proposed', goal: text }), 'absent'),
    put('loops', Loop.parse({ ...of, id: `${project}-loop`, goal: text, status: 'paused' }), 'absent'),
    ...ofTeam(project, project),
    put('spending', Spending.parse({ ...NO_USAGE, ...of, ...SPENT, id: `${project}-spending` }), 'absent'),
    put('audit', AuditEntry.parse({ ...ASKED, ...within, id: `${project}-entry` }), 'absent'),
    put(
      'faults',
      Fault.parse({ ...FAILED, id: `${project}-fault`, record: `missions/${mission_id}`, reason: project }),
      'absent',
    ),
  ]
  const events: NewEvent[] = missions.flatMap(({ id, status }) => [
    {
      kind: 'mission_created',
      time: NOW,
      actor: 'person',
      project_id: project,
      mission_id: id,
      data: { was: null, status },
    },
  ])
  for (const record of records) await fleet.store.commit({ changes: [record] })
  for (const event of events) await fleet.store.commit({ changes: [], events: [event] })
}

/** A team of a project with one record of every kind. */
function ofTeam(project: string, name: string): Change[] {
  const of = { project_id: project, created_at: NOW, updated_at: NOW }
  const team_id = `${name}-team`
  const seat = { handle: `${name}-member`, member_id: `${name}-member`, is_agent: true }
  const letter = { thread: `${name}-mail`, team_id, from: { member_id: null, handle: 'fleet', role: 'f' }, order: 1 }
  const onItsWay = {
    ...{ mail_id: letter.thread, team_id, member_id: seat.member_id, state: 'queued', needs: 'none' },
    ...{ wakes: false, order: 1 },
  }
  const author = { member_id: seat.member_id, handle: seat.handle, role: 'worker' }
  const posted = { team_id, from: author, message_type: 'status', is_object: false, order: 1 }
  const stands = {
    team_id,
    from: author,
    to: author,
    goal: name,
    standing: { inline: `{"goal":"${name}","now":"x"}` },
    order: 1,
  }
  const reserved = { team_id, holder: author, file: `src/${name}` }
  const requested = { team_id, from: author, actor: 'person', role: 'worker', state: 'requested', order: 1 }
  return [
    put('teams', Team.parse({ ...of, id: team_id, name: `team-of-${name}`, roster: [seat] }), 'absent'),
    put('members', Member.parse({ ...of, ...seat, id: seat.member_id, team_id, role: 'worker' }), 'absent'),
    put('swarms', Swarm.parse({ ...of, id: `${name}-swarm`, team_id, name: `swarm-of-${name}` }), 'absent'),
    put('posts', Post.parse({ ...of, ...posted, id: `${name}-post`, payload: { inline: name } }), 'absent'),
    put('checkpoints', Checkpoint.parse({ ...of, ...stands, id: `${name}-checkpoint` }), 'absent'),
    put('reservations', Reservation.parse({ ...of, ...reserved, id: `${name}-reservation` }), 'absent'),
    put('spawns', Spawn.parse({ ...of, ...requested, id: `${name}-spawn` }), 'absent'),
    put(
      'mail',
      Mail.parse({ ...of, ...letter, id: letter.thread, to: [seat.handle], body: { inline: name } }),
      'absent',
    ),
    put('deliveries', Delivery.parse({ ...of, ...onItsWay, id: `${name}-delivery`, from: 'fleet' }), 'absent'),
  ]
}

/** Another team of a project, with what it has and an event. Nothing of it has a name or an id without `name`. */
export async function addTeam(fleet: Fleet, project: string, name: string): Promise<void> {
  for (const record of ofTeam(project, name)) await fleet.store.commit({ changes: [record] })
  const data = { team: `${name}-team`, name }
  await fleet.store.commit({
    changes: [],
    events: [{ kind: 'team_created', time: NOW, actor: 'person', project_id: project, data }],
  })
}

/** As the daemon saves them: all projects in one record. */
export async function saveCounts(fleet: Fleet, ...projects: string[]): Promise<void> {
  const each = { queued: 1, review: 1, done: 1, failed: 1, running: 1, landing: 1 }
  const counts = Object.fromEntries(Object.keys(each).map(status => [status, projects.length]))
  const value = {
    id: MISSION_COUNTS,
    cursor: await fleet.store.tail(),
    counts,
    projects: Object.fromEntries(projects.map(id => [id, each])),
    totals: null,
  } as const
  await fleet.store.commit({ changes: [put('counts', value, 'absent')] })
}
