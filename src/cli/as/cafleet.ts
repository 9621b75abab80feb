import { Forbidden, InvalidInput, NotFound, Refusal } from '../../domain/errors.ts'
import { openHome } from '../../platform/home.ts'
import type { Cli } from '../command.ts'
import { complain } from '../errors.ts'
import { EXIT, Exit, exitOfError } from '../exit.ts'
import { projectHere } from '../project-here.ts'
import { homeOf, namedServer } from '../server.ts'
import { teamMeant } from '../team-here.ts'

export type Options = Record<string, unknown>

export interface Member {
  id: string
  handle: string
  role: string
  placement: string
  person: string | null
  state: string
  waits_for: string | null
  agent: string | null
  session_id: string | null
  unread: number
  created_at: string
}

export interface Team {
  id: string
  name: string
  created_at: string
  members: Member[]
}

interface Letter {
  id: string
  from: { handle: string }
  to: string[]
  body: string
  created_at: string
  deliveries: { to: string; state: string }[]
}

/** One command as CAFleet's: in which team it is, and how long texts may be. */
export interface Cafleet {
  cli: Cli
  team(): Promise<Team>
  /** The text as it is shown. */
  shown(text: string): string
}

/** Their exit codes: 1 for a refusal, 2 for a wrong use. */
export async function asCafleet(
  cli: Cli,
  options: Options,
  work: (here: Cafleet) => Promise<unknown>,
): Promise<number> {
  try {
    const here = hereFrom(cli, options)
    await askWithToken(cli)
    const answer = await work(here)
    if (answer !== undefined) cli.terminal.data(answer)
    return EXIT.done
  } catch (error) {
    if (error instanceof Exit) return error.code
    complain(error, cli.terminal.streams, cli.terminal.json)
    return error instanceof Refusal && exitOfError(error) === EXIT.usage ? EXIT.usage : EXIT.failed
  }
}

/** Whoever has a token of their own asks the server of this home with it, and not as the owner. */
async function askWithToken({ where }: Cli): Promise<void> {
  if (!where.env.FLEET_TOKEN || namedServer(where)) return
  const home = openHome(homeOf(where))
  const { runningServer } = await import('../../daemon/running.ts')
  const { startInBackground } = await import('../../daemon/background.ts')
  where.url = ((await runningServer(home)) ?? (await startInBackground(home, where))).url
}

function hereFrom(cli: Cli, { sessionId, fleetId, full }: Options): Cafleet {
  const { CAFLEET_DATABASE_URL, CAFLEET_MAX_TEXT_LEN } = cli.where.env
  if (CAFLEET_DATABASE_URL)
    throw new InvalidInput('CAFLEET_DATABASE_URL', 'names a database of CAFleet, which is not read here', {
      try: 'Unset it. The records are in the home of the fleet; FLEET_STORE says where else.',
    })
  const most = full ? undefined : lengthFrom(CAFLEET_MAX_TEXT_LEN)
  const named = (fleetId ?? sessionId) as string | undefined
  return {
    cli,
    team: () => (named ? cli.ask<Team>('get_team', { team_id: named }) : teamMeant<Team>(cli)),
    shown: text => (most === undefined || text.length <= most ? text : `${text.slice(0, most)}…`),
  }
}

function lengthFrom(text: string | undefined): number | undefined {
  if (!text) return undefined
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidInput('CAFLEET_MAX_TEXT_LEN', 'must be a whole number of characters')
}

// Teams

const sessionOf = ({ id, name, created_at }: Team | Omit<Team, 'members'>) => ({
  ...{ session_id: id, label: name, created_at },
})

export async function createSession({ cli }: Cafleet, _: string[], { label }: Options): Promise<unknown> {
  const { project } = await projectHere(cli)
  const name = (label as string | undefined) ?? project.name.replace(/[^\w-]+/g, '-').slice(0, 40)
  return sessionOf(await cli.ask<Team>('create_team', { project_id: project.id, name }))
}

export async function listSessions({ cli }: Cafleet): Promise<unknown> {
  const { teams } = await cli.ask<{ teams: (Omit<Team, 'members'> & { agents: number })[] }>('list_teams', {})
  return teams.map(team => ({ ...sessionOf(team), agent_count: team.agents }))
}

export async function showSession({ cli }: Cafleet, [id]: string[]): Promise<unknown> {
  return sessionOf(await cli.ask<Team>('get_team', { team_id: id }))
}

export async function deleteSession({ cli }: Cafleet, [id]: string[]): Promise<unknown> {
  const { dismissed, deleted } = await cli.ask<{ deleted: string; dismissed: string[] }>('delete_team', {
    ...{ team_id: id, dismiss: true },
  })
  return { session_id: deleted, deregistered_count: dismissed.length }
}

// Who is in a team

export const agentOf = ({ id, handle, role, person, state, created_at }: Member) => ({
  ...{ agent_id: id, name: handle, role, kind: person === null ? 'agent' : 'person', status: state },
  registered_at: created_at,
})

export async function register(here: Cafleet, _: string[], { name, role }: Options): Promise<unknown> {
  const { cli, team } = here
  const { id, name: teamName } = await team()
  const { askAsTheirs } = await import('./claude-fleet.ts')
  const request = { handle: name, teamName, ...(role !== undefined && { agentType: role }) }
  const joins = {
    name: 'register',
    args: '',
    summary: '',
    ask: () => ({ method: 'POST', path: '/auth', body: request }),
  }
  const code = await askAsTheirs(cli, joins as never, [], { table: false })
  if (code) throw new Exit(code)
  cli.terminal.note(`Ask with that token from now on: FLEET_TOKEN=… fleet as cafleet --session-id ${id} …`)
  return undefined
}

export async function listAgents(here: Cafleet, _: string[], { agentId }: Options): Promise<unknown> {
  const team = await here.team()
  if (agentId !== undefined) await ownIn(here, team, agentId as string)
  return team.members.map(agentOf)
}

export async function showAgent(here: Cafleet, _: string[], { agentId, id }: Options): Promise<unknown> {
  const team = await here.team()
  if (agentId !== undefined) await ownIn(here, team, agentId as string)
  return agentOf(named(team, id as string))
}

export async function deregister(here: Cafleet, _: string[], { agentId }: Options): Promise<unknown> {
  const team = await here.team()
  const own = await ownIn(here, team, agentId as string)
  await here.cli.ask('dismiss_member', { team_id: team.id, member: own.id })
  return { agent_id: own.id, status: 'deregistered' }
}

/** A member by its id, the id that its token has, or its name. */
export function named(team: Team, ref: string): Member {
  const found = team.members.find(
    ({ id, handle, person }) =>
      id === ref || handle.toLowerCase() === ref.toLowerCase() || person?.endsWith(`:${ref}`) === true,
  )
  if (!found) throw new NotFound(`member of ${team.name}`, ref, { try: 'fleet as cafleet agent list' })
  return found
}

/** Who asks is said by the token. A flag may only say the same. */
export async function ownIn({ cli }: Cafleet, team: Team, ref: string): Promise<Member> {
  const session = cli.where.env.FLEET_SESSION
  const own = session
    ? team.members.find(({ session_id }) => session_id === session)
    : await memberOf(cli, team.members)
  if (own && named(team, ref).id === own.id) return own
  throw new Forbidden(`--agent-id is ${ref}, but you are ${own?.handle ?? 'not in this team'}.`, {
    try: 'The token says who you are: FLEET_TOKEN, or fleet as cafleet agent register.',
  })
}

async function memberOf(cli: Cli, members: readonly Member[]): Promise<Member | undefined> {
  const { kind, id } = await cli.ask<{ kind: string; id: string | null }>('who_am_i', {})
  const actors = kind === 'owner' ? ['person'] : [`person:${id}`, `service:${id}`]
  return members.find(({ person }) => person !== null && actors.includes(person))
}

// Mail

const letterOf = ({ shown }: Cafleet, { id, from, to, body, created_at, deliveries }: Letter) => ({
  ...{ task_id: id, from: from.handle, to: deliveries.length ? deliveries.map(each => each.to) : to },
  ...{ text: shown(body), created_at, states: Object.fromEntries(deliveries.map(each => [each.to, each.state])) },
})

async function written(here: Cafleet, { agentId, text }: Options, to: (team: Team) => string): Promise<unknown> {
  const team = await here.team()
  await ownIn(here, team, agentId as string)
  const wanted = { team_id: team.id, to: to(team), body: text, wake: true }
  return letterOf(here, await here.cli.ask<Letter>('send_mail', wanted))
}

export const sendMessage = (here: Cafleet, _: string[], options: Options): Promise<unknown> =>
  written(here, options, team => named(team, options.to as string).handle)

export const broadcast = (here: Cafleet, _: string[], options: Options): Promise<unknown> =>
  written(here, options, () => '@all')

const UNACKNOWLEDGED: readonly string[] = ['queued', 'handed', 'heard']

export async function poll(here: Cafleet, _: string[], options: Options): Promise<unknown> {
  const { agentId, all, since, pageSize = 100 } = options
  const team = await here.team()
  const own = await ownIn(here, team, agentId as string)
  if (since !== undefined && Number.isNaN(Date.parse(since as string)))
    throw new InvalidInput('--since', 'must be a time, such as 2026-01-31T12:00:00Z')
  // A running agent has only one team, and names none.
  const inTeam = here.cli.where.env.FLEET_SESSION ? {} : { team_id: team.id }
  const wanted = { ...inTeam, filter: 'all', limit: 200 }
  const { messages } = await here.cli.ask<{ messages: Letter[] }>('read_mail', wanted)
  const isWanted = ({ created_at, deliveries }: Letter): boolean =>
    (since === undefined || Date.parse(created_at) > Date.parse(since as string)) &&
    (all === true || deliveries.some(({ to, state }) => to === own.handle && UNACKNOWLEDGED.includes(state)))
  return messages
    .filter(isWanted)
    .slice(0, pageSize as number)
    .map(each => letterOf(here, each))
}

async function onMessage(here: Cafleet, { agentId, taskId }: Options, operation: string): Promise<unknown> {
  await ownIn(here, await here.team(), agentId as string)
  return here.cli.ask<unknown>(operation, { mail_id: taskId })
}

export const ackMessage = (here: Cafleet, _: string[], options: Options): Promise<unknown> =>
  onMessage(here, options, 'ack_mail')
export const cancelMessage = (here: Cafleet, _: string[], options: Options): Promise<unknown> =>
  onMessage(here, options, 'cancel_mail')
export const showMessage = async (here: Cafleet, _: string[], options: Options): Promise<unknown> =>
  letterOf(here, (await onMessage(here, options, 'get_mail')) as Letter)
