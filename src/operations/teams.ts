import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { Id, Timestamp } from '../domain/ids.ts'
import type { Mission, MissionSettings } from '../domain/records/mission.ts'
import { Handle, Member, MemberRole, Team } from '../domain/records/team.ts'
import { MAX_TEAM_FILE_CHARS, memberFields, TeamFile } from '../domain/records/team-file.ts'
import { MEMBER_STATES, stateOf } from '../domain/rules/member-state.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { requireCodingAgent } from '../fleet/missions/agents.ts'
import { withoutRolesIn } from '../fleet/people/principals.ts'
import { current, lookUp } from '../fleet/records.ts'
import { createTeam } from '../fleet/teams/creating.ts'
import { addMember, changeMember, dismissMember, lookUpMember } from '../fleet/teams/members.ts'
import { liveOf } from '../fleet/teams/sessions.ts'
import { readTeamFile, teamTemplate } from '../fleet/teams/team-files.ts'
import {
  changeTeam,
  deleteTeam,
  goneFrom,
  lookUpTeam,
  membersOf,
  sessionsOfMember,
  spentBy,
  teamsOf,
} from '../fleet/teams/teams.ts'
import { TEAM_TEMPLATES } from '../fleet/teams/templates.ts'
import { lookUpSwarm } from '../fleet/teamwork/swarms.ts'
import { requireNoOpenTasks } from '../fleet/teamwork/tasks.ts'
import { openTerminal, requireInTerminal } from '../fleet/terminals/opening.ts'
import { requireTmux } from '../fleet/terminals/panes.ts'
import { ask, given, ProjectRef, Ref } from './inputs.ts'
import { HealthView, healthView } from './monitor.ts'
import { command, query } from './operation.ts'
import { missionOf, teamOf } from './team-callers.ts'
import { Circles, circlesOf } from './team-circles.ts'

const TeamRef = Ref.describe('an id, its first letters, or the name')
export const SwarmRef = Ref.describe('the name of a swarm in its team, or its id')
export const MemberRef = Ref.describe('the name of a member in its team, or its id')

export const MemberView = Member.omit({ wakes: true, generation: true, joined_by: true }).extend({
  health: HealthView.describe('how it is, and what was done about it'),
  works_for: z.string().nullable().describe('the name of the member who is told first if its answers are overdue'),
  state: z.enum(MEMBER_STATES),
  waits_for: z.string().nullable(),
  agent: z.string().nullable().describe('empty: a person, or the default of the project'),
  model: z.string().nullable(),
  task: z.object({ id: Id, title: z.string() }).nullable().describe('the task of the team that it is at work on'),
  unread: z.number().int().describe('how many messages it has not heard yet; at most 500 are counted'),
  max_budget_usd: z.number().nullable().describe('for all its sessions together; empty: no limit'),
  spent_usd: z.number().describe('by all its sessions'),
})
const TeamSummary = Team.omit({ roster: true }).extend({
  agents: z.number().int(),
  people: z.number().int(),
})
const TeamView = TeamSummary.extend({
  spent_usd: z.number().describe('by all its members, also those that were dismissed'),
  members: z.array(MemberView),
  gone: z
    .array(Member.pick({ id: true, handle: true, role: true }).extend({ dismissed_at: Timestamp }))
    .describe('agents that were dismissed, among the newest hundred members'),
  circles: Circles,
})
const MemberDetail = MemberView.extend({ charter: z.string().describe('its standing instructions') })

const summaryOf = ({ roster, ...team }: Team): z.infer<typeof TeamSummary> => ({
  ...team,
  agents: roster.filter(({ is_agent }) => is_agent).length,
  people: roster.filter(({ is_agent }) => !is_agent).length,
})

const NO_FILE = TeamFile.omit({ members: true }).parse({})

const MOST_UNREAD = 500

export async function memberView(
  fleet: Fleet,
  { wakes: _, generation: __, joined_by: ___, ...member }: Member,
): Promise<z.infer<typeof MemberView>> {
  const mission = await missionOf(fleet, member as Member)
  const boss = member.works_for ? await fleet.store.get('members', member.works_for) : undefined
  const waiting = await fleet.store.find('deliveries', { index: 'queued', equals: [member.id], limit: MOST_UNREAD })
  const sessions = await sessionsOfMember(fleet, member as Member)
  const task = await taskOf(fleet, member as Member)
  return {
    ...member,
    health: await healthView(fleet, member as Member),
    // A member at work on a task is not idle, although its own mission waits for mail.
    ...stateOf(member, task ?? mission),
    works_for: boss && !boss.value.dismissed_at ? boss.value.handle : null,
    agent: mission?.agent ?? null,
    model: mission?.model ?? null,
    task: task ? { id: task.id, title: task.title } : null,
    unread: waiting.items.length,
    max_budget_usd: mission?.max_budget_usd ?? null,
    spent_usd: sessions.reduce((sum, { usage }) => sum + usage.cost_usd, 0),
  }
}

/** The task that a live session of a member works at. Undefined: it has none, or it answers its mail. */
async function taskOf(fleet: Fleet, member: Member): Promise<Mission | undefined> {
  const live = await liveOf(fleet, member)
  if (!live || live.mission_id === member.mission_id) return undefined
  return (await fleet.store.get('missions', live.mission_id))?.value
}

async function memberDetail(fleet: Fleet, member: Member): Promise<z.infer<typeof MemberDetail>> {
  const mission = await missionOf(fleet, member)
  return { ...(await memberView(fleet, member)), charter: mission ? await fleet.blobs.read(mission.prompt) : '' }
}

const { description, max_members, max_budget_usd, spawning } = Team.shape
/** What a team may be given; each has its default, or what its file says. */
const Changeable = z.object({
  description: description.unwrap().optional(),
  max_members: max_members.unwrap().optional().describe('how many agents it may have at once; default: 10'),
  max_budget_usd: max_budget_usd.unwrap().optional(),
  spawning: spawning.unwrap().optional(),
})

export const teams = [
  command({
    name: 'create_team',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Create a team: agents that stay, keep their conversation, and write to each other',
    http: 'POST /api/teams',
    input: Changeable.extend({
      project_id: ProjectRef,
      name: Handle,
      template: z.string().max(60).optional().describe('a built-in template, whose members it gets at once'),
      file: z
        .string()
        .max(MAX_TEAM_FILE_CHARS)
        .optional()
        .describe('the text of a team file with its members, in YAML, JSON or TOML, instead of a template'),
    }),
    output: TeamView,
    run: async (context, { project_id, name, template, file, ...own }) => {
      if (template !== undefined && file !== undefined) throw new InvalidInput('file', 'is given, and a template too')
      const described =
        file !== undefined
          ? await readTeamFile(file)
          : template !== undefined
            ? await teamTemplate(template)
            : undefined
      const wanted = { ...(described?.team ?? NO_FILE), ...given(own), name }
      const making = createTeam(context.fleet, ask(context, 'create_team'), project_id, wanted)
      const { value } = await making.catch(error => {
        throw file === undefined ? error : described!.located(error)
      })
      return teamView(context.fleet, value)
    },
  }),
  query({
    name: 'list_team_templates',
    may: 'teams.read',
    mcp: 'teams',
    summary: 'List the built-in templates for teams, each as the file that it is',
    http: 'GET /api/team-templates',
    input: z.object({}),
    output: z.object({ templates: z.array(z.object({ name: z.string(), summary: z.string(), file: z.string() })) }),
    run: async () => ({ templates: [...TEAM_TEMPLATES] }),
  }),
  query({
    name: 'list_teams',
    may: 'teams.read',
    mcp: 'teams',
    summary: 'List the teams, oldest first',
    http: 'GET /api/teams',
    input: z.object({ project_id: ProjectRef.optional() }),
    output: z.object({ teams: z.array(TeamSummary) }),
    run: async ({ fleet }, { project_id }) => {
      const project = project_id && (await lookUp(fleet, 'projects', project_id)).value.id
      return { teams: (await teamsOf(fleet, project)).map(summaryOf) }
    },
  }),
  query({
    name: 'get_team',
    may: 'teams.read',
    mcp: 'teams',
    summary: 'Show a team: who is in it, what each does now, and what each waits for',
    http: 'GET /api/teams/:team_id',
    input: z.object({ team_id: TeamRef }),
    output: TeamView,
    run: async ({ fleet }, { team_id }) => teamView(fleet, (await lookUpTeam(fleet, team_id)).value),
  }),
  query({
    name: 'team_status',
    may: 'teams.read',
    mcp: 'teams',
    summary: 'Show your own team, or the only one: who is in it, what each does now, and what each waits for',
    http: 'GET /api/team',
    agentMay: () => true,
    input: z.object({}),
    output: TeamView,
    run: async context => teamView(context.fleet, await teamOf(context, undefined)),
  }),
  command({
    name: 'change_team',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Change a team, or pause it: then nobody in it is woken',
    http: 'PUT /api/teams/:team_id',
    input: Changeable.extend({ team_id: TeamRef, paused: z.boolean().optional() }),
    output: TeamView,
    run: async (context, { team_id, ...change }) => {
      const { value } = await lookUpTeam(context.fleet, team_id)
      const changed = await changeTeam(context.fleet, ask(context, 'change_team'), value.id, given(change))
      return teamView(context.fleet, changed.value)
    },
  }),
  command({
    name: 'delete_team',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Delete a team. Its mail and the work of its members stay',
    http: 'DELETE /api/teams/:team_id',
    needsFleet: true,
    input: z.object({ team_id: TeamRef, dismiss: z.boolean().default(false).describe('dismiss its agents first') }),
    output: z.object({ deleted: z.string(), dismissed: z.array(z.string()) }),
    run: async (context, { team_id, dismiss }) => {
      const { value: team } = await lookUpTeam(context.fleet, team_id)
      await requireNoOpenTasks(context.fleet, team)
      const agents = dismiss ? team.roster.filter(({ is_agent }) => is_agent) : []
      const asking = ask(context, 'delete_team')
      for (const { member_id } of agents)
        await dismissMember(context.fleet, { ...asking, key: undefined }, member_id, 'Its team was deleted.')
      // People are in no project, so somebody who sees one sees none of them.
      const everybody = context.fleet.view?.whole ?? context.fleet
      await deleteTeam(context.fleet, asking, team.id, when => withoutRolesIn(everybody, team.id, when))
      return { deleted: team.id, dismissed: agents.map(({ handle }) => handle) }
    },
  }),
  command({
    name: 'add_member',
    may: 'teams.manage',
    mcp: 'teams',
    mayAlso: ({ conversation }) => (conversation === undefined ? [] : ['missions.run']),
    summary: 'Add an agent to a team. It starts when mail comes, with its charter as its standing instructions',
    http: 'POST /api/teams/:team_id/members',
    input: z.object({
      team_id: TeamRef,
      ...memberFields,
      swarm_id: SwarmRef.optional().describe('a swarm of the team that it joins'),
      works_for: MemberRef.optional().describe('the member who is told first if its answers are overdue'),
      placement: z
        .enum(['headless', 'tmux'])
        .default('headless')
        .describe('tmux: its own client in a window that one can watch and type in'),
      conversation: Ref.optional().describe(
        'a session of the project that has ended: the member goes on with a copy of its conversation, in a worktree of its own',
      ),
    }),
    output: MemberDetail,
    run: async (context, { team_id, handle, role, charter, labels, swarm_id, works_for, ...rest }) => {
      const { placement, conversation, ...settings } = rest
      const { value: team } = await lookUpTeam(context.fleet, team_id)
      if (conversation !== undefined && placement !== 'headless')
        throw new InvalidInput('conversation', 'is for members without a terminal', {
          try: 'Leave out one of the two.',
        })
      if (placement === 'tmux') await requireTerminalFor(context.fleet, team, settings)
      const swarm = swarm_id ? (await lookUpSwarm(context.fleet, team, swarm_id)).value.id : undefined
      const boss = works_for ? (await lookUpMember(context.fleet, team, works_for)).value.id : undefined
      const joining = { handle, role, charter, labels, swarm_id: swarm, works_for: boss, placement, conversation }
      const wanted = { ...joining, settings: given(settings) }
      const { value } = await addMember(context.fleet, ask(context, 'add_member'), team.id, wanted)
      if (placement === 'tmux' && !value.session_id)
        await openTerminal(context.fleet, { ...ask(context, 'add_member'), key: undefined }, value.id)
      return memberDetail(context.fleet, value)
    },
  }),
  query({
    name: 'get_member',
    may: 'teams.read',
    mcp: 'teams',
    summary: 'Show a member of a team with its charter',
    http: 'GET /api/teams/:team_id/members/:member',
    input: z.object({ team_id: TeamRef, member: MemberRef }),
    output: MemberDetail,
    run: async ({ fleet }, { team_id, member }) => {
      const { value: team } = await lookUpTeam(fleet, team_id)
      return memberDetail(fleet, (await lookUpMember(fleet, team, member)).value)
    },
  }),
  command({
    name: 'change_member',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Change the role or labels of a member, or pause it: then mail does not wake it',
    http: 'PUT /api/teams/:team_id/members/:member',
    input: z.object({
      team_id: TeamRef,
      member: MemberRef,
      role: MemberRole.optional(),
      labels: Member.shape.labels.unwrap().optional(),
      paused: z.boolean().optional(),
    }),
    output: MemberDetail,
    run: async (context, { team_id, member, ...change }) => {
      const { value: team } = await lookUpTeam(context.fleet, team_id)
      const { value } = await lookUpMember(context.fleet, team, member)
      const changed = await changeMember(context.fleet, ask(context, 'change_member'), value.id, given(change))
      return memberDetail(context.fleet, changed.value)
    },
  }),
  command({
    name: 'dismiss_member',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Dismiss a member: its session stops, its work is kept, and its unread mail goes back to the senders',
    http: 'POST /api/teams/:team_id/members/:member/dismiss',
    needsFleet: true,
    input: z.object({ team_id: TeamRef, member: MemberRef, reason: z.string().max(1000).optional() }),
    output: z.object({ dismissed: z.string(), handle: z.string(), at: Timestamp }),
    run: async (context, { team_id, member, reason }) => {
      const { value: team } = await lookUpTeam(context.fleet, team_id)
      const { value } = await lookUpMember(context.fleet, team, member)
      const gone = await dismissMember(context.fleet, ask(context, 'dismiss_member'), value.id, reason)
      return { dismissed: value.id, handle: value.handle, at: gone.value.dismissed_at! }
    },
  }),
]

async function requireTerminalFor(fleet: Fleet, { project_id }: Team, settings: Partial<MissionSettings>) {
  const { value: project } = await current(fleet, 'projects', project_id)
  const agent = settings.agent ?? (await requireCodingAgent(fleet, project))
  requireInTerminal(fleet, agent, settings, project)
  await requireTmux(fleet)
}

async function teamView(fleet: Fleet, team: Team): Promise<z.infer<typeof TeamView>> {
  const [members, left, spent_usd, circles] = await Promise.all([
    membersOf(fleet, team),
    goneFrom(fleet, team),
    spentBy(fleet, team),
    circlesOf(fleet, team),
  ])
  const views = members.map(member => memberView(fleet, member))
  const gone = left.map(({ id, handle, role, dismissed_at }) => ({ id, handle, role, dismissed_at: dismissed_at! }))
  return { ...summaryOf(team), spent_usd, members: await Promise.all(views), gone, circles }
}
