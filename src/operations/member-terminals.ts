import * as z from 'zod'
import { Forbidden } from '../domain/errors.ts'
import { Timestamp } from '../domain/ids.ts'
import { Handle, type Member, MemberRole } from '../domain/records/team.ts'
import { SCREEN_STATES } from '../domain/rules/screen.ts'
import { noteNudge } from '../fleet/health/monitor.ts'
import { current } from '../fleet/records.ts'
import { addMember, dismissMember, lookUpMember } from '../fleet/teams/members.ts'
import { liveOf } from '../fleet/teams/sessions.ts'
import { lookUpTeam } from '../fleet/teams/teams.ts'
import * as acts from '../fleet/terminals/acts.ts'
import { endTerminal } from '../fleet/terminals/ending.ts'
import { openTerminal } from '../fleet/terminals/opening.ts'
import { joinOutside } from '../fleet/terminals/outside.ts'
import { requirePlaced, requireTmux, terminalTurns } from '../fleet/terminals/panes.ts'
import { readDaemon } from '../store/index.ts'
import { KEYS } from '../tmux/keys.ts'
import { isPerson, isPrincipal } from './authorize.ts'
import { ask, Ref } from './inputs.ts'
import { type Context, command, query, tokenOf } from './operation.ts'
import { requireNoLonger } from './person.ts'
import { requireLead, teamOf } from './team-callers.ts'
import { MemberRef } from './teams.ts'

const TeamRef = Ref.describe('an id, its first letters, or the name')
const Who = z.object({ team_id: TeamRef, member: MemberRef })
const State = z.enum(SCREEN_STATES)
const MOST_LINES = 2000
const MOST_TYPED = 4000
const MOST_HOURS = 30 * 24
const HOUR_MS = 3_600_000

async function memberOf(context: Context, { team_id, member }: z.infer<typeof Who>) {
  const team = await teamOf(context, team_id)
  return (await lookUpMember(context.fleet, team, member)).value
}

/** With whom the token of a session that they let in ends. */
async function endsWith({ fleet, caller }: Context): Promise<Member['joined_by']> {
  if (!isPrincipal(caller)) return null
  const { epoch } = (await current(fleet.view?.whole ?? fleet, 'principals', caller.id)).value
  return { principal_id: caller.id, epoch, token_id: tokenOf(caller) ?? null }
}

/** Of the agents of a team, its lead steers terminals. For people it is a permission. */
async function steered(context: Context, who: z.infer<typeof Who>): Promise<string> {
  await requireLead(context)
  return (await memberOf(context, who)).id
}

export const memberTerminals = [
  query({
    name: 'capture_member',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Show what the terminal of a member in tmux shows, and what the fleet makes of it',
    http: 'GET /api/teams/:team_id/members/:member/terminal',
    inServer: true,
    agentMay: () => true,
    input: Who.extend({ lines: z.coerce.number().int().min(1).max(MOST_LINES).default(50) }),
    output: z.object({ state: State, text: z.string().nullable(), lines: z.array(z.string()) }),
    run: async (context, { lines, ...who }) => acts.captured(context.fleet, await steered(context, who), lines),
  }),
  command({
    name: 'send_member_input',
    may: 'teams.manage',
    mayAlso: () => ['takeover.use'],
    mcp: 'teams',
    summary: 'Answer what the terminal of a member asks: press keys, or type a line. Only a person can',
    http: 'POST /api/teams/:team_id/members/:member/terminal/input',
    inServer: true,
    input: Who.extend({
      keys: z.array(z.enum(KEYS)).max(20).optional().describe('pressed one after the other'),
      text: z.string().min(1).max(MOST_TYPED).optional().describe('typed as one line and sent with Enter'),
    }),
    output: z.object({ state: State.describe('what the terminal shows afterwards') }),
    run: async (context, { keys, text, ...who }) => {
      if (!isPerson(context.caller)) throw new Forbidden('Only a person answers what a terminal asks.')
      return { state: await acts.answered(context.fleet, (await memberOf(context, who)).id, { keys, text }) }
    },
  }),
  command({
    name: 'exec_in_member',
    may: 'teams.manage',
    mayAlso: () => ['takeover.use'],
    mcp: 'teams',
    summary: 'Run a shell command in the terminal of an idle member, as its client does after !. For leads and people',
    http: 'POST /api/teams/:team_id/members/:member/terminal/exec',
    inServer: true,
    agentMay: () => true,
    input: Who.extend({ command: z.string().min(1).max(MOST_TYPED) }),
    output: z.object({ typed: z.string() }),
    run: async (context, { command: line, ...who }) => {
      await acts.executed(context.fleet, await steered(context, who), line)
      return { typed: line }
    },
  }),
  query({
    name: 'ping_member',
    may: 'teams.read',
    mcp: 'teams',
    summary: 'Say whether the terminal of a member is alive and what it shows, without typing anything',
    http: 'GET /api/teams/:team_id/members/:member/terminal/ping',
    inServer: true,
    agentMay: () => true,
    input: Who,
    output: z.object({
      alive: z.boolean(),
      state: z.enum([...SCREEN_STATES, 'ended']),
      text: z.string().nullable(),
      waiting: z.number().int().describe('how many messages wait to be typed'),
    }),
    run: async (context, who) => acts.pinged(context.fleet, (await memberOf(context, who)).id),
  }),
  command({
    name: 'nudge_member',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Remind an idle member in tmux of mail it has not answered, or of a line of yours',
    http: 'POST /api/teams/:team_id/members/:member/terminal/nudge',
    inServer: true,
    agentMay: () => true,
    input: Who.extend({ text: z.string().min(1).max(500).optional() }),
    output: z.object({ typed: z.string() }),
    run: async (context, { text, ...who }) => {
      const id = await steered(context, who)
      const typed = await acts.nudged(context.fleet, id, text)
      await noteNudge(context.fleet, id)
      return { typed }
    },
  }),
  query({
    name: 'attach_member',
    may: 'teams.manage',
    mayAlso: () => ['takeover.use'],
    mcp: false,
    summary: 'Show the command with which a person looks at the terminal of a member, and types there',
    http: 'GET /api/teams/:team_id/members/:member/terminal/attach',
    input: Who,
    output: z.object({ argv: z.array(z.string()) }),
    run: async (context, who) => ({ argv: await acts.attachment(context.fleet, (await memberOf(context, who)).id) }),
  }),
  command({
    name: 'open_member',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Open the terminal of a member in tmux again, in the same worktree',
    http: 'POST /api/teams/:team_id/members/:member/terminal',
    inServer: true,
    agentMay: () => true,
    input: Who,
    output: z.object({ opened: z.string() }),
    run: async (context, who) => {
      const id = await steered(context, who)
      requirePlaced((await current(context.fleet, 'members', id)).value)
      await requireTmux(context.fleet)
      await openTerminal(context.fleet, ask(context, 'open_member'), id)
      return { opened: id }
    },
  }),
  command({
    name: 'delete_member',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Ask the client of a member in tmux to end, and dismiss the member once it has',
    http: 'DELETE /api/teams/:team_id/members/:member',
    inServer: true,
    input: Who.extend({ force: z.boolean().default(false).describe('end its whole process tree') }),
    output: z.object({ dismissed: z.boolean(), lines: z.array(z.string()).describe('what it showed last') }),
    run: async (context, { force, ...who }) => {
      const { id } = await memberOf(context, who)
      const { ended, lines } = await acts.left(context.fleet, id, force)
      if (ended) await dismissMember(context.fleet, ask(context, 'delete_member'), id, 'A person deleted it.')
      return { dismissed: ended, lines }
    },
  }),
  command({
    name: 'join_team',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Take a session that you started yourself into a team. Its token speaks for that member only',
    http: 'POST /api/teams/:team_id/join',
    inServer: true,
    input: z.object({
      team_id: TeamRef,
      handle: Handle,
      role: MemberRole.default('worker'),
      hours: z.number().min(0.01).max(MOST_HOURS).default(24).describe('how long its token is valid'),
    }),
    output: z.object({
      member: z.string(),
      handle: z.string(),
      token: z.string(),
      url: z.string(),
      until: Timestamp.nullable(),
    }),
    run: async (context, { team_id, handle, role, hours }) => {
      if (!isPerson(context.caller)) throw new Forbidden('Only a person takes a session into a team.')
      const { fleet, caller } = context
      requireNoLonger(caller, new Date(Date.parse(fleet.now()) + hours * HOUR_MS).toISOString())
      const { value: team } = await lookUpTeam(fleet, team_id)
      const entry = team.roster.find(each => each.handle.toLowerCase() === handle.toLowerCase())
      const wanted = { handle, role, charter: '', labels: [], settings: {}, placement: 'outside' as const }
      const asking = ask(context, 'join_team')
      const id = entry?.member_id ?? (await addMember(fleet, { ...asking, key: undefined }, team.id, wanted)).value.id
      const { member, token } = await joinOutside(fleet, asking, id, { hours, joined_by: await endsWith(context) })
      const url = readDaemon(fleet.home.path)?.url ?? ''
      return { member: member.id, handle: member.handle, token, url, until: member.joined_until }
    },
  }),
  command({
    name: 'leave_team',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'End the token of a session that joined a team. The member stays, and can join again',
    http: 'POST /api/teams/:team_id/members/:member/leave',
    inServer: true,
    input: Who,
    output: z.object({ left: z.string() }),
    run: async (context, who) => {
      const { id } = await memberOf(context, who)
      await terminalTurns.take(id, async () => {
        const session = await liveOf(context.fleet, (await current(context.fleet, 'members', id)).value)
        if (session?.reason === 'outside')
          await endTerminal(context.fleet, session, { text: 'It has left. It can join again: fleet team join' })
      })
      return { left: id }
    },
  }),
]
