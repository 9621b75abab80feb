import * as z from 'zod'
import { Forbidden, InvalidInput } from '../domain/errors.ts'
import { Id } from '../domain/ids.ts'
import { Mission, MissionSettings, TeamTask } from '../domain/records/mission.ts'
import type { Member, Team } from '../domain/records/team.ts'
import { holderOf, isTask, TASK_STATES, type Task, taskState } from '../domain/rules/team-task.ts'
import { headOf } from '../domain/text.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { current } from '../fleet/records.ts'
import { lookUpMember } from '../fleet/teams/members.ts'
import * as tasks from '../fleet/teamwork/tasks.ts'
import { mayIn } from './authorize.ts'
import { ask, Ref } from './inputs.ts'
import { type Context, command, query } from './operation.ts'
import { knownIn, leads, memberIn, onlyTeamOf, teamOf } from './team-callers.ts'
import { MemberRef } from './teams.ts'
import { missionView } from './views.ts'

const TeamRef = Ref.optional().describe('a team; default: your own, or the only one')
const TaskRef = Ref.describe('the id of a task, or its first letters')
const Blockers = z.array(Ref).max(30).describe('ids of tasks of the team that must be done first')
const Title = z.string().min(3).max(200)
const Description = z.string().max(1_000_000).default('').describe('everything that whoever does it needs to know')

const Blocker = Mission.pick({ id: true, title: true, status: true })
const TaskView = Mission.pick({
  id: true,
  project_id: true,
  title: true,
  status: true,
  result: true,
  priority: true,
  tags: true,
  branch: true,
  session_id: true,
  created_at: true,
  updated_at: true,
  ended_at: true,
}).extend({
  team_id: Id,
  state: z.enum(TASK_STATES),
  assignee: TeamTask.shape.assignee.unwrap(),
  handing_to: z.string().nullable().describe('its session is being stopped for this member; empty: it is not'),
  description: z.string().describe('its beginning, in lists'),
  depends_on: z.array(Id).describe('the tasks that must be done first, also those that are'),
  blockers: z.array(Blocker).describe('the tasks that it still waits for'),
  waits_for: z.array(z.string()),
  why: z.string().nullable().describe('the reason for its status'),
  candidate: z.string().nullable().describe('the commit with its work so far'),
  landed: z.string().nullable().describe('the commit on the base branch'),
})
type TaskView = z.infer<typeof TaskView>

async function taskView(fleet: Fleet, mission: Mission, whole = false): Promise<TaskView> {
  if (!isTask(mission)) throw new InvalidInput('task_id', 'is no task of a team')
  const { all, open: blockers } = await tasks.blockersOf(fleet, mission)
  const { waits_for } = await missionView(fleet, mission)
  const { task, prompt, candidate, landed, status_reason } = mission
  return {
    ...shownOf(mission),
    team_id: task.team_id,
    state: taskState(mission, blockers),
    assignee: task.assignee,
    handing_to: task.handing ? (task.handing.to?.handle ?? 'nobody') : null,
    description: whole ? await fleet.blobs.read(prompt) : headOf(prompt),
    depends_on: all.map(({ id }) => id),
    blockers: blockers.map(({ id, title, status }) => ({ id, title, status })),
    waits_for: waits_for.map(({ text }) => text),
    why: status_reason?.text ?? null,
    candidate: candidate?.commit ?? null,
    landed: landed?.commit ?? null,
  }
}

const shownOf = ({ id, project_id, title, status, result, priority, tags, branch, session_id, ...rest }: Mission) => ({
  ...{ id, project_id, title, status, result, priority, tags, branch, session_id },
  ...{ created_at: rest.created_at, updated_at: rest.updated_at, ended_at: rest.ended_at },
})

/** A task with its team. An agent finds those of its own team only. */
async function taskOf(context: Context, ref: string): Promise<{ task: Task; team: Team }> {
  const { fleet } = context
  const own = await onlyTeamOf(context)
  const found = (await tasks.lookUpTask(fleet, own, ref)).value
  if (!isTask(found)) throw new InvalidInput('task_id', 'is no task of a team')
  return { task: found, team: own ?? (await current(fleet, 'teams', found.task.team_id)).value }
}

/** Whether somebody steers all tasks of a team: a lead or coordinator among its agents, or a person who may start work. */
async function steersTasks(context: Context, team: Team): Promise<boolean> {
  const { caller } = context
  if (caller.kind !== 'session') return mayIn(caller, 'missions.run', team.project_id, team.id)
  return leads(await memberIn(context, team))
}

async function requireSteering(context: Context, team: Team): Promise<void> {
  if (await steersTasks(context, team)) return
  throw new Forbidden('Only whoever leads the team may do that.', { try: 'Take a task that nobody has: team_take' })
}

/** Whoever has a task acts on it; so does whoever steers the team. */
async function requireHolder(context: Context, { task, team }: { task: Task; team: Team }): Promise<void> {
  const holder = holderOf(task)
  const me = await knownIn(context, team)
  if ((me && holder?.member_id === me.id) || (await steersTasks(context, team))) return
  const whose = holder ? `${holder.handle} has the task ${task.id}.` : `Nobody has the task ${task.id}.`
  throw new Forbidden(whose, { try: holder ? `Write to ${holder.handle}.` : `Take it first: team_take ${task.id}` })
}

const memberNamed = async ({ fleet }: Context, team: Team, ref: string): Promise<Member> =>
  (await lookUpMember(fleet, team, ref)).value

const { acceptance_criteria, mission_type, priority, tags, max_budget_usd } = MissionSettings.shape

export const teamTasks = [
  command({
    name: 'create_team_task',
    may: 'missions.create',
    touches: 'view',
    mayAlso: ({ agent }) => (agent ? ['missions.run'] : []),
    mcp: { set: 'teams', name: 'create_task' },
    summary: 'Create a task of a team. It starts once a member has it, is free, and what it depends on is done',
    http: 'POST /api/team-tasks',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      title: Title,
      description: Description,
      agent: MemberRef.optional().describe('the member who does it; default: nobody yet'),
      blocked_by: Blockers.default([]),
      ...{ acceptance_criteria, mission_type, priority, tags },
      max_budget_usd: max_budget_usd.unwrap().optional(),
    }),
    output: TaskView,
    run: async (context, { team_id, agent, ...wanted }) => {
      const team = await teamOf(context, team_id)
      if (context.caller.kind === 'session') await requireSteering(context, team)
      const to = agent ? await memberNamed(context, team, agent) : null
      const { value } = await tasks.createTask(context.fleet, ask(context, 'create_team_task'), team.id, wanted, to)
      return taskView(context.fleet, value, true)
    },
  }),
  command({
    name: 'team_assign',
    may: 'missions.run',
    touches: 'view',
    mcp: 'teams',
    summary: 'Give a task to a member: one that exists, by its id, or a new one. A session at work on it stops first',
    http: 'POST /api/team-tasks/assign',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      agent: MemberRef.describe('the name of the member'),
      task: z.string().min(3).max(200).describe('the id of a task, or the title of a new one'),
      description: z.string().max(1_000_000).optional().describe('of a new task'),
    }),
    output: TaskView,
    run: async (context, { team_id, agent, task, description }) => {
      const { fleet } = context
      const named = team_id === undefined ? await onlyTeamOf(context) : await teamOf(context, team_id)
      const known = description === undefined ? await tasks.taskCalled(fleet, named, task) : undefined
      // The id of a task says which team is meant.
      const its = known?.task && (await current(fleet, 'teams', known.task.team_id)).value
      const team = named ?? its ?? (await teamOf(context, undefined))
      await requireSteering(context, team)
      const to = await memberNamed(context, team, agent)
      const asking = ask(context, 'team_assign')
      if (known) return taskView(context.fleet, await tasks.assignTask(context.fleet, asking, known.id, to), true)
      const wanted = { ...DEFAULTS, title: task, description: description ?? '' }
      return taskView(context.fleet, (await tasks.createTask(context.fleet, asking, team.id, wanted, to)).value, true)
    },
  }),
  command({
    name: 'team_take',
    may: 'tasks.work',
    mcp: 'teams',
    summary: 'Take a task that nobody has. Of many who take it at once one gets it; the others are told who',
    http: 'POST /api/team-tasks/:task_id/take',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({ task_id: TaskRef }),
    output: TaskView,
    run: async (context, { task_id }) => {
      const { task, team } = await taskOf(context, task_id)
      const me = await memberIn(context, team)
      return taskView(context.fleet, await tasks.claimTask(context.fleet, ask(context, 'team_take'), task.id, me), true)
    },
  }),
  command({
    name: 'team_unassign',
    may: 'tasks.work',
    mcp: 'teams',
    summary: 'Give a task back to the team, with its work so far. A session at work on it stops',
    http: 'POST /api/team-tasks/:task_id/unassign',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({ task_id: TaskRef }),
    output: TaskView,
    run: async (context, { task_id }) => {
      const found = await taskOf(context, task_id)
      await requireHolder(context, found)
      const asking = ask(context, 'team_unassign')
      return taskView(context.fleet, await tasks.assignTask(context.fleet, asking, found.task.id, null), true)
    },
  }),
  command({
    name: 'team_complete',
    may: 'tasks.work',
    mcp: 'teams',
    summary:
      'Say that a task is done. Refused while tasks that block it are not. If you are at work on it, its work is taken in, checked and landed when your turn ends',
    http: 'POST /api/team-tasks/:task_id/complete',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({ task_id: TaskRef, summary: z.string().max(4000).default('').describe('what was done') }),
    output: TaskView,
    run: async (context, { task_id, summary }) => complete(context, task_id, summary, 'team_complete'),
  }),
  command({
    name: 'team_block',
    may: 'tasks.work',
    mcp: 'teams',
    summary: 'Say which tasks a task waits for. If you are at work on it, end your turn: it goes on once they are done',
    http: 'POST /api/team-tasks/:task_id/block',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({ task_id: TaskRef, blocked_by: Blockers.min(1), reason: z.string().max(2000).default('') }),
    output: TaskView,
    run: async (context, { task_id, blocked_by, reason }) =>
      block(context, task_id, { blocked_by, reason }, 'team_block'),
  }),
  command({
    name: 'update_team_task',
    may: 'tasks.work',
    mcp: { set: 'teams', name: 'update_task' },
    summary:
      'Change the state of a task: open gives it back, in_progress takes it, resolved completes it, blocked blocks it',
    http: 'PUT /api/team-tasks/:task_id',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({
      task_id: TaskRef,
      status: z.enum(['open', 'in_progress', 'resolved', 'blocked']),
      blocked_by: Blockers.default([]).describe('for blocked: what it waits for'),
    }),
    output: TaskView,
    run: async (context, { task_id, status, blocked_by }) => {
      const asking = ask(context, 'update_team_task')
      if (status === 'resolved') return complete(context, task_id, '', 'update_team_task')
      if (status === 'blocked') {
        if (!blocked_by.length) throw new InvalidInput('blocked_by', 'is missing: name the tasks that block it')
        return block(context, task_id, { blocked_by, reason: '' }, 'update_team_task')
      }
      const found = await taskOf(context, task_id)
      if (status === 'open') {
        await requireHolder(context, found)
        return taskView(context.fleet, await tasks.assignTask(context.fleet, asking, found.task.id, null), true)
      }
      const me = await memberIn(context, found.team)
      return taskView(context.fleet, await tasks.claimTask(context.fleet, asking, found.task.id, me), true)
    },
  }),
  query({
    name: 'team_tasks',
    may: 'teams.read',
    mcp: { set: 'teams', defaults: { limit: 20 } },
    summary: 'List the open tasks of a team, newest first: all, your own, or those that nobody has',
    http: 'GET /api/team-tasks',
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      filter: z.enum(['all', 'mine', 'unassigned']).default('all'),
      over: z.boolean().default(false).describe('with all: also those that are done or cancelled'),
      limit: z.coerce.number().int().min(1).max(100).default(50),
      cursor: z.string().max(500).optional(),
    }),
    output: z.object({ tasks: z.array(TaskView), cursor: z.string().optional() }),
    run: async (context, { team_id, ...wanted }) => {
      const team = await teamOf(context, team_id)
      const member = wanted.filter === 'mine' ? await knownIn(context, team) : undefined
      const { items, cursor } = await tasks.listTasks(context.fleet, team, { ...wanted, member })
      return { tasks: await Promise.all(items.map(each => taskView(context.fleet, each))), cursor }
    },
  }),
  query({
    name: 'get_team_task',
    may: 'teams.read',
    mcp: { set: 'teams', name: 'team_task' },
    summary: 'Show a task of a team: who has it, what it waits for, and its work',
    http: 'GET /api/team-tasks/:task_id',
    agentMay: () => true,
    input: z.object({ task_id: TaskRef }),
    output: TaskView,
    run: async (context, { task_id }) => taskView(context.fleet, (await taskOf(context, task_id)).task, true),
  }),
]

const DEFAULTS = {
  ...MissionSettings.pick({ acceptance_criteria: true, mission_type: true, priority: true, tags: true }).parse({}),
  blocked_by: [],
}

async function complete(context: Context, ref: string, summary: string, operation: string): Promise<TaskView> {
  const found = await taskOf(context, ref)
  await requireHolder(context, found)
  const session_id = context.caller.kind === 'session' ? context.caller.session_id : undefined
  const asking = ask(context, operation)
  const done = await tasks.completeTask(context.fleet, asking, found.task.id, { summary, session_id })
  return taskView(context.fleet, done, true)
}

async function block(
  context: Context,
  ref: string,
  why: { blocked_by: string[]; reason: string },
  operation: string,
): Promise<TaskView> {
  const found = await taskOf(context, ref)
  await requireHolder(context, found)
  const after = await tasks.blockTask(context.fleet, ask(context, operation), found.task.id, why)
  return taskView(context.fleet, after, true)
}
