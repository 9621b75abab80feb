import type { z } from 'zod'
import { ApprovalRule } from '../domain/records/approval-rule.ts'
import { AuditEntry, principalKey } from '../domain/records/audit.ts'
import { awaitsTarget, Post } from '../domain/records/board.ts'
import { CheckRun } from '../domain/records/check-run.ts'
import { Checkpoint } from '../domain/records/checkpoint.ts'
import { Device } from '../domain/records/device.ts'
import { Fault } from '../domain/records/fault.ts'
import { Counts, FleetState, Provider, Receipt, Spending } from '../domain/records/fleet.ts'
import { isLoopOver, Loop } from '../domain/records/loop.ts'
import { Comment, Evidence, isListed, isToSend, Mission } from '../domain/records/mission.ts'
import { Notification, NotificationSettings } from '../domain/records/notification.ts'
import { Plan } from '../domain/records/plan.ts'
import { PluginRecord } from '../domain/records/plugin.ts'
import { AccessToken, Principal } from '../domain/records/principal.ts'
import { Project } from '../domain/records/project.ts'
import { Report } from '../domain/records/report.ts'
import { Reservation } from '../domain/records/reservation.ts'
import { Schedule } from '../domain/records/schedule.ts'
import { Session } from '../domain/records/session.ts'
import { SideProcess } from '../domain/records/side-process.ts'
import { isOpen, Spawn } from '../domain/records/spawn.ts'
import { LeaseRecord, Migrated } from '../domain/records/store.ts'
import { Swarm } from '../domain/records/swarm.ts'
import { Message, Question } from '../domain/records/talk.ts'
import { Delivery, Mail, Member, Team } from '../domain/records/team.ts'
import { Template } from '../domain/records/template.ts'
import { Workflow } from '../domain/records/workflow.ts'
import { isOver } from '../domain/rules/delegation.ts'
import { isClosed } from '../domain/rules/mail.ts'
import { isAskedAbout } from '../domain/rules/pull-request.ts'
import { holdersOf, isBegun, isOpenTask, mayStart } from '../domain/rules/team-task.ts'

/** The keys a record is found by in one index; several for a list such as tags, none to stay out of it. */
export type KeyPart = string | number
type Keys<T> = (record: T) => readonly KeyPart[][]
interface Declared<S extends z.ZodType> {
  schema: S
  indexes: Record<string, Keys<z.infer<S>>>
}
/** A function gives the schema, because making one takes long and most commands need few. */
const declare = <S extends z.ZodType>(schema: () => S, indexes: Record<string, Keys<z.infer<S>>>): Declared<S> => ({
  get schema() {
    return schema()
  },
  indexes,
})

/**
 * Every collection, declared once; an engine derives its tables from this. Every collection also has the index 'id'.
 */
export const COLLECTIONS = {
  projects: declare(() => Project, {
    created: p => [[p.created_at]],
    path: p => [[p.path]],
    name: p => [[p.name.toLowerCase()]],
    deleting: p => (p.deleting ? [[p.created_at]] : []),
  }),
  missions: declare(() => Mission, {
    created: m => (isListed(m) ? [[m.created_at]] : []),
    project: m => (isListed(m) ? [[m.project_id, m.created_at]] : []),
    status: m => (isListed(m) ? [[m.status, m.created_at]] : []),
    project_status: m => (isListed(m) ? [[m.project_id, m.status, m.created_at]] : []),
    tag: m => m.tags.map(tag => [tag, m.created_at]),
    tag_status: m => m.tags.map(tag => [tag, m.status, m.created_at]),
    tag_project: m => m.tags.map(tag => [tag, m.project_id, m.created_at]),
    /** By the time they ended. */
    ended: m => (isListed(m) && isOver(m) && m.ended_at ? [[m.ended_at]] : []),
    project_ended: m => (isListed(m) && isOver(m) && m.ended_at ? [[m.project_id, m.ended_at]] : []),
    parent: m => (m.parent_mission_id ? [[m.parent_mission_id, m.created_at]] : []),
    dependency: m => m.depends_on.map(id => [id]),
    /** Queued with every dependency met, in the order in which they start: highest priority, then oldest. */
    ready: m => (mayStart(m) ? [[1_000_000 - m.priority, m.queued_at ?? m.created_at]] : []),
    /** The same by how long they wait. */
    ready_since: m => (mayStart(m) ? [[m.queued_at ?? m.created_at]] : []),
    /** Queued but not ready. The daemon goes through these once when it starts. */
    unready: m => (m.status === 'queued' && !m.ready ? [[m.created_at]] : []),
    landing: m => (m.status === 'landing' || m.undo ? [[m.project_id, m.landing_at ?? m.updated_at]] : []),
    /** Pull requests that GitHub is asked about, the next one first. */
    pull_request: m => (isAskedAbout(m) ? [[m.pull_request.look_at]] : []),
    cancelling: m => (m.cancel_requested ? [[m.updated_at]] : []),
    deleting: m => (m.deleting ? [[m.created_at]] : []),
    workflow: m => (m.workflow ? [[m.workflow.id, m.workflow.stage]] : []),
    /** The missions of team members, which lists leave out. */
    member: m => (m.member ? [[m.project_id, m.created_at]] : []),
    /** The tasks of a team. */
    task: m => (m.task ? [[m.task.team_id, m.created_at]] : []),
    open_task: m => (isOpenTask(m) ? [[m.task!.team_id, m.created_at]] : []),
    unassigned: m => (isOpenTask(m) && !m.task!.assignee ? [[m.task!.team_id, m.created_at]] : []),
    /** Of whoever has it, and of whoever it is being handed to. */
    assigned: m => (isOpenTask(m) ? holdersOf(m).map(id => [id, m.created_at]) : []),
    /** Begun, and due to go on: its member begins no other task before. */
    begun: m => (isBegun(m) ? [[m.task!.assignee!.member_id, m.queued_at ?? m.created_at]] : []),
    taken_over: m => (m.taken_over ? [[m.taken_over.since]] : []),
  }),
  sessions: declare(() => Session, {
    created: s => [[s.created_at]],
    mission: s => [[s.mission_id, s.created_at]],
    member: s => (s.member_id ? [[s.member_id, s.created_at]] : []),
    project: s => [[s.project_id, s.created_at]],
    live: s => (s.status === 'ended' ? [] : [[s.created_at]]),
    /** The sessions of one worktree. Several missions may share it. */
    place: s => (s.worktree_kept && s.worktree ? [[s.worktree, s.created_at]] : []),
    worktree: s => (s.status === 'ended' && s.worktree_kept && s.worktree ? [[s.ended_at ?? s.created_at]] : []),
  }),
  reports: declare(() => Report, {
    created: r => [[r.created_at]],
    mission: r => [[r.mission_id, r.created_at]],
    project: r => [[r.project_id, r.created_at]],
  }),
  comments: declare(() => Comment, {
    mission: c => [[c.mission_id, c.created_at]],
    /** Comments of people that the agent has not been told yet. */
    unsent: c => (isToSend(c) ? [[c.mission_id, c.created_at]] : []),
  }),
  evidence: declare(() => Evidence, { mission: e => [[e.mission_id, e.created_at]] }),
  check_runs: declare(() => CheckRun, {
    project: r => [[r.project_id, r.created_at]],
    live: r => (r.status === 'ended' ? [] : [[r.created_at]]),
  }),
  messages: declare(() => Message, {
    mission: m => [[m.mission_id, m.created_at]],
    waiting: m => (m.status === 'waiting' ? [[m.session_id, m.created_at]] : []),
  }),
  questions: declare(() => Question, {
    mission: q => [[q.mission_id, q.created_at]],
    session: q => [[q.session_id, q.created_at]],
    open: q => (q.status === 'open' ? [[q.created_at]] : []),
  }),
  approval_rules: declare(() => ApprovalRule, {
    created: r => [[r.created_at]],
    project: r => [[r.project_id, r.created_at]],
    mission: r => (r.mission_id ? [[r.mission_id, r.created_at]] : []),
  }),
  workflows: declare(() => Workflow, {
    created: w => [[w.created_at]],
    project: w => [[w.project_id, w.created_at]],
    status: w => [[w.status, w.created_at]],
    /** Not over. The daemon looks at these when it starts. */
    active: w => (w.status === 'making' || w.status === 'running' ? [[w.created_at]] : []),
  }),
  schedules: declare(() => Schedule, {
    created: s => [[s.created_at]],
    project: s => [[s.project_id, s.created_at]],
    due: s => (s.enabled && s.next_at ? [[s.next_at]] : []),
    waiting: s => (s.waiting.length ? [[s.waiting[0]!]] : []),
  }),
  processes: declare(() => SideProcess, {
    mission: p => [[p.mission_id, p.created_at]],
    live: p => (p.status === 'ended' ? [] : [[p.created_at]]),
    created: p => [[p.created_at]],
  }),
  plans: declare(() => Plan, {
    created: p => [[p.created_at]],
    project: p => [[p.project_id, p.created_at]],
    status: p => [[p.status, p.created_at]],
    project_status: p => [[p.project_id, p.status, p.created_at]],
    /** Its planner or a person still has to act. */
    open: p => (p.status === 'planning' || p.status === 'proposed' ? [[p.status, p.created_at]] : []),
  }),
  loops: declare(() => Loop, {
    project: l => [[l.project_id, l.created_at]],
    active: l => (isLoopOver(l) ? [] : [[l.created_at]]),
  }),
  teams: declare(() => Team, {
    created: t => (t.ended_at ? [] : [[t.created_at]]),
    project: t => (t.ended_at ? [] : [[t.project_id, t.created_at]]),
    /** Also those that were deleted. */
    ever: t => [[t.project_id, t.created_at]],
    name: t => [[t.name.toLowerCase(), t.created_at]],
  }),
  members: declare(() => Member, {
    team: m => (m.dismissed_at ? [] : [[m.team_id, m.created_at]]),
    /** Also those that were dismissed. */
    ever: m => [[m.team_id, m.created_at]],
    project: m => [[m.project_id, m.created_at]],
    held: m => (m.held?.until && !m.dismissed_at ? [[m.held.until]] : []),
    ill: m => (m.health.state !== 'healthy' ? [[m.health.since ?? m.created_at]] : []),
    health_due: m => (m.health.due_at ? [[m.health.due_at]] : []),
  }),
  swarms: declare(() => Swarm, {
    team: s => [[s.team_id, s.created_at]],
    project: s => [[s.project_id, s.created_at]],
    name: s => [[s.team_id, s.name.toLowerCase(), s.created_at]],
    ending: s => (s.state === 'ending' ? [[s.updated_at]] : []),
  }),
  posts: declare(() => Post, {
    project: p => [[p.project_id, p.order]],
    board: p => (p.archived_at ? [] : [[p.team_id, p.swarm_id ?? '', p.order]]),
    /** Also those that were archived. */
    ever: p => [[p.team_id, p.swarm_id ?? '', p.order]],
    target: p => (awaitsTarget(p) ? [[p.target!.member_id, p.order]] : []),
  }),
  checkpoints: declare(() => Checkpoint, {
    project: c => [[c.project_id, c.order]],
    team: c => [[c.team_id, c.order]],
    team_state: c => [[c.team_id, c.state, c.order]],
    to: c => [[c.to.member_id, c.order]],
    to_state: c => [[c.to.member_id, c.state, c.order]],
    loading: c => (c.loading ? [[c.loading.member_id, c.order]] : []),
  }),
  spawns: declare(() => Spawn, {
    project: s => [[s.project_id, s.order]],
    team: s => [[s.team_id, s.order]],
    open: s => (isOpen(s) ? [[s.team_id, s.order]] : []),
    requested_by: s => (isOpen(s) ? [[s.from.member_id, s.order]] : []),
  }),
  reservations: declare(() => Reservation, {
    project: r => [[r.project_id, r.created_at]],
    team: r => [[r.team_id, r.created_at, r.file]],
    holder: r => [[r.holder.member_id, r.created_at, r.file]],
    session: r => (r.session_id ? [[r.session_id]] : []),
    mission: r => (r.mission_id ? [[r.mission_id]] : []),
  }),
  mail: declare(() => Mail, {
    team: m => [[m.team_id, m.order]],
    project: m => [[m.project_id, m.order]],
    thread: m => [[m.thread, m.order]],
  }),
  deliveries: declare(() => Delivery, {
    mail: d => [[d.mail_id, d.order]],
    project: d => [[d.project_id, d.order]],
    member: d => [[d.member_id, d.order]],
    /** Can be handed over now. */
    queued: d => (d.state === 'queued' && d.held === null ? [[d.member_id, d.order]] : []),
    held: d => (d.state === 'queued' && d.held !== null ? [[d.team_id, d.order]] : []),
    /** Still to be heard, or answered. */
    open: d => (isClosed(d) ? [] : [[d.member_id, d.order]]),
    session: d => (d.session_id ? [[d.session_id, d.order]] : []),
    due: d => (d.due_at && !isClosed(d) ? [[d.due_at]] : []),
    pair: d => [[d.from, d.member_id, d.order]],
  }),
  plugins: declare(() => PluginRecord, {}),
  templates: declare(() => Template, { name: t => [[t.name.toLowerCase()]] }),
  receipts: declare(() => Receipt, { created: r => [[r.created_at]] }),
  fleet: declare(() => FleetState, {}),
  counts: declare(() => Counts, {}),
  providers: declare(() => Provider, {}),
  devices: declare(() => Device, {
    signed_in: d => (d.signed_out_at ? [] : [[d.signed_in_at]]),
    push: d => (d.signed_out_at || !d.push ? [] : [[d.push.since]]),
  }),
  principals: declare(() => Principal, {
    created: p => [[p.created_at]],
    name: p => [[p.name.toLowerCase(), p.created_at]],
    provider: p => (p.provider ? [[p.provider.issuer, p.provider.subject]] : []),
  }),
  tokens: declare(() => AccessToken, {
    principal: t => [[t.principal_id ?? 'owner', t.created_at]],
    /** JWTs, which are forgotten once they have ended. */
    exchanged: t => (t.via === 'exchange' && t.expires_at ? [[t.expires_at]] : []),
  }),
  audit: declare(() => AuditEntry, {
    at: a => [[a.at]],
    principal: a => [[principalKey(a.principal), a.at]],
    project: a => (a.project_id ? [[a.project_id, a.at]] : []),
  }),
  notification_settings: declare(() => NotificationSettings, {}),
  notifications: declare(() => Notification, {
    waiting: n => (n.status === 'waiting' ? [[n.due_at]] : []),
    over: n => (n.status === 'waiting' ? [] : [[n.updated_at]]),
    channel: n => [[n.channel, n.created_at]],
  }),
  faults: declare(() => Fault, { reactor: f => [[f.reactor, f.since]], since: f => [[f.since]] }),
  lease: declare(() => LeaseRecord, {}),
  migrations: declare(() => Migrated, {}),
  spending: declare(() => Spending, { day: s => [[s.day, s.project_id]] }),
} as const

export type Collection = keyof typeof COLLECTIONS
export type RecordOf<C extends Collection> = z.infer<(typeof COLLECTIONS)[C]['schema']>
