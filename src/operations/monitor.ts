import * as z from 'zod'
import { Id } from '../domain/ids.ts'
import { Health, MemberMonitor, TeamMonitor } from '../domain/records/health.ts'
import type { Member, Team } from '../domain/records/team.ts'
import { isWatched, nextInWords, patienceOf } from '../domain/rules/health.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { possibleFor } from '../fleet/health/facts.ts'
import { configureMember, configureTeam, startMonitor } from '../fleet/health/monitor.ts'
import { lookUpMember } from '../fleet/teams/members.ts'
import { lookUpTeam, membersOf } from '../fleet/teams/teams.ts'
import { ask, given, Ref } from './inputs.ts'
import { command, query } from './operation.ts'
import { teamOf } from './team-callers.ts'

const TeamRef = Ref.describe('an id, its first letters, or the name')

export const HealthView = Health.omit({ sign: true, restarted: true, pauses: true, paused: true }).extend({
  next: z.string().nullable().describe('what comes next, in words; empty: nothing, until it shows signs of life'),
})

export async function healthView(fleet: Fleet, member: Member): Promise<z.infer<typeof HealthView>> {
  const { sign: _, restarted: __, pauses: ___, paused: ____, ...health } = member.health
  const next = health.state === 'healthy' ? null : nextInWords(member.health, await possibleFor(fleet, member.id))
  return { ...health, next }
}

const Watched = z.object({
  id: Id,
  handle: z.string(),
  on: z.boolean().describe('it is watched'),
  quiet_seconds: z
    .number()
    .describe('how long it may show no sign of life now, by its own rhythm if nothing else is set'),
  set: MemberMonitor.describe('what was set for it alone'),
  health: HealthView,
})

export const MonitorView = z.object({
  team_id: Id,
  team: z.string(),
  ...TeamMonitor.shape,
  least_seconds: z.number().describe('the shortest time by the rhythm of a member (member_quiet)'),
  members: z.array(Watched),
})

async function monitorView(fleet: Fleet, team: Team): Promise<z.infer<typeof MonitorView>> {
  const least = fleet.settings.memberQuiet
  const agents = (await membersOf(fleet, team)).filter(({ person }) => person === null)
  const members = agents.map(async member => ({
    ...{ id: member.id, handle: member.handle, set: member.monitor },
    on: isWatched({ team, member }),
    quiet_seconds: patienceOf({ team, member }, { least }) / 1000,
    health: await healthView(fleet, member),
  }))
  return {
    team_id: team.id,
    team: team.name,
    ...team.monitor,
    least_seconds: least,
    members: await Promise.all(members),
  }
}

export const monitor = [
  command({
    name: 'start_monitor',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Watch the members of a team. Of two who start it at once, one does, and the other learns who did',
    http: 'POST /api/teams/:team_id/monitor/start',
    input: z.object({ team_id: TeamRef }),
    output: MonitorView.extend({ started: z.boolean().describe('false: they were watched already') }),
    run: async (context, { team_id }) => {
      const { value } = await lookUpTeam(context.fleet, team_id)
      const { team, started } = await startMonitor(context.fleet, ask(context, 'start_monitor'), value.id)
      return { ...(await monitorView(context.fleet, team)), started }
    },
  }),
  query({
    name: 'monitor_status',
    may: 'teams.read',
    mcp: 'teams',
    summary: 'Show how the members of a team are: since when, why, what was done, and what comes next',
    http: 'GET /api/teams/:team_id/monitor',
    agentMay: () => true,
    input: z.object({ team_id: TeamRef }),
    output: MonitorView,
    run: async (context, { team_id }) => monitorView(context.fleet, await teamOf(context, team_id)),
  }),
  command({
    name: 'configure_monitor',
    may: 'teams.manage',
    mcp: 'teams',
    summary:
      'Say how long the members of a team, or one of them, may show no sign of life, and whether they are watched',
    http: 'PUT /api/teams/:team_id/monitor',
    input: z.object({
      team_id: TeamRef,
      member: Ref.optional().describe('only this member: its name, or its id'),
      on: z.boolean().optional(),
      quiet_seconds: TeamMonitor.shape.quiet_seconds.unwrap().optional(),
    }),
    output: MonitorView,
    run: async (context, { team_id, member, ...change }) => {
      const { fleet } = context
      const { value: team } = await lookUpTeam(fleet, team_id)
      const asking = ask(context, 'configure_monitor')
      if (member === undefined) await configureTeam(fleet, asking, team.id, given(change))
      else await configureMember(fleet, asking, (await lookUpMember(fleet, team, member)).value.id, given(change))
      return monitorView(fleet, (await lookUpTeam(fleet, team.id)).value)
    },
  }),
]
