import { setTimeout as pause } from 'node:timers/promises'
import { InvalidInput } from '../../domain/errors.ts'
import { type Cli, textFrom } from '../command.ts'
import { EXIT, Exit } from '../exit.ts'
import { agentOf, type Cafleet, type Member, named, ownIn, type Team } from './cafleet.ts'

type Options = Record<string, unknown>

export async function createMember(here: Cafleet, words: string[], options: Options): Promise<unknown> {
  const { cli } = here
  const { name, description, codingAgent, model, role, promptFile, agentId, tmux } = options
  const team = await here.team()
  if (agentId !== undefined) await ownIn(here, team, agentId as string)
  const prompt = promptFile ? await textFrom(cli, promptFile === '-' ? '-' : `@${promptFile}`) : words.join(' ')
  const made = await cli.ask<Member>('add_member', {
    ...{ team_id: team.id, handle: name, charter: description },
    ...(codingAgent !== undefined && { agent: codingAgent }),
    ...(model !== undefined && { model }),
    ...(role !== undefined && { role }),
    ...(tmux === true && { placement: 'tmux' }),
  })
  if (prompt.trim()) await cli.ask('send_mail', { team_id: team.id, to: made.handle, body: prompt, wake: true })
  return agentOf(made)
}

const PATIENCE_MS = 15_000
const LOOK_EVERY_MS = 250
const LAST_LINES = 80
const MOST_EVENTS = 500

export async function deleteMember(
  here: Cafleet,
  _: string[],
  { memberId, agentId, force }: Options,
): Promise<unknown> {
  const { cli } = here
  const team = await here.team()
  if (agentId !== undefined) await ownIn(here, team, agentId as string)
  const { id, placement, handle } = named(team, memberId as string)
  if (placement === 'tmux') return deleteInTmux(cli, team, { id, handle }, force === true)
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    const member = await cli.ask<Member>('get_member', { team_id: team.id, member: id })
    if (force === true || !['working', 'waiting'].includes(member.state)) break
    if (Date.now() >= end) {
      await showEnd(cli, member)
      throw new Exit(EXIT.usage)
    }
    await pause(LOOK_EVERY_MS)
  }
  const gone = await cli.ask<{ dismissed: string; handle: string }>('dismiss_member', { team_id: team.id, member: id })
  return { agent_id: gone.dismissed, name: gone.handle, status: 'deleted' }
}

/** Its client is asked to end. If it has not done so within 15 s, its last lines are shown. */
async function deleteInTmux(
  { ask, terminal }: Cli,
  { id: team_id }: Team,
  { id, handle }: Pick<Member, 'id' | 'handle'>,
  force: boolean,
): Promise<unknown> {
  const wanted = { team_id, member: id, force }
  const { dismissed, lines } = await ask<{ dismissed: boolean; lines: string[] }>('delete_member', wanted)
  if (dismissed) return { agent_id: id, name: handle, status: 'deleted' }
  for (const line of lines.slice(-LAST_LINES)) terminal.note(terminal.foreign(line))
  terminal.note(`${handle} did not end. Wait, or use --force.`)
  throw new Exit(EXIT.usage)
}

/** The last lines of an agent that is still at work. */
async function showEnd(cli: Cli, member: Member): Promise<void> {
  for (const line of await lastLines(cli, member, LAST_LINES)) cli.terminal.note(cli.terminal.foreign(line))
  cli.terminal.note(`${member.handle} is still at work, and was not dismissed. Wait, or use --force.`)
}

/** What its newest session printed last. */
async function lastLines({ ask }: Cli, { session_id }: Member, most: number): Promise<string[]> {
  if (!session_id) return []
  const { logLine } = await import('../../operations/briefing.ts')
  const wanted = { session_id, limit: Math.min(most, MOST_EVENTS), last: true }
  const { events } = await ask<{ events: Record<string, unknown>[] }>('read_transcript', wanted)
  return events.flatMap(event => [logLine({ ...event }) ?? []].flat()).slice(-most)
}

export async function listMembers(here: Cafleet, _: string[], { agentId, activity }: Options): Promise<unknown> {
  const team = await here.team()
  if (agentId !== undefined) await ownIn(here, team, agentId as string)
  return team.members
    .filter(({ person }) => person === null)
    .map(each => ({
      ...agentOf(each),
      coding_agent: each.agent,
      ...(activity === true && { session_id: each.session_id, waits_for: each.waits_for, unread: each.unread }),
    }))
}

// Their windows

interface Captured {
  state: string
  lines: string[]
}

/** The member that is meant, and how our operations name it. */
async function meant(here: Cafleet, { agentId, memberId }: Options) {
  const team: Team = await here.team()
  if (agentId !== undefined) await ownIn(here, team, agentId as string)
  const member = named(team, memberId as string)
  return { member, who: { team_id: team.id, member: member.id } }
}

const isInTmux = ({ placement }: Member): boolean => placement === 'tmux'

/** What its window shows; of a member without one, what it printed last. */
export async function captureMember(here: Cafleet, _: string[], options: Options): Promise<unknown> {
  const { member, who } = await meant(here, options)
  const lines = (options.lines as number | undefined) ?? LAST_LINES
  const about = { member_id: member.id, name: member.handle }
  if (!isInTmux(member)) return { ...about, state: member.state, lines: await lastLines(here.cli, member, lines) }
  const shown = await here.cli.ask<Captured>('capture_member', { ...who, lines })
  return { ...about, state: shown.state, lines: shown.lines }
}

export async function sendInput(here: Cafleet, _: string[], options: Options): Promise<unknown> {
  const { choice, freetext } = options as { choice?: string; freetext?: string }
  if ((choice === undefined) === (freetext === undefined))
    throw new InvalidInput('--choice', 'or --freetext is needed, and not both')
  const { member, who } = await meant(here, options)
  const given = choice !== undefined ? { keys: [choice] } : { text: await textFrom(here.cli, freetext!) }
  const { state } = await here.cli.ask<{ state: string }>('send_member_input', { ...who, ...given })
  return {
    member_id: member.id,
    action: choice !== undefined ? 'choice' : 'freetext',
    value: choice ?? freetext,
    state,
  }
}

export async function execInMember(here: Cafleet, [command]: string[], options: Options): Promise<unknown> {
  const { member, who } = await meant(here, options)
  const { typed } = await here.cli.ask<{ typed: string }>('exec_in_member', { ...who, command })
  return { member_id: member.id, command: typed }
}

/** A member without a window needs no ping: mail wakes it. */
export async function pingMember(here: Cafleet, _: string[], options: Options): Promise<unknown> {
  const { member, who } = await meant(here, options)
  const answer = isInTmux(member)
    ? await here.cli.ask<{ alive: boolean; state: string; waiting: number }>('ping_member', who)
    : { alive: member.state !== 'failed', state: member.state, waiting: member.unread }
  here.cli.terminal.data({ member_id: member.id, alive: answer.alive, state: answer.state, unread: answer.waiting })
  if (!answer.alive) throw new Exit(EXIT.failed)
  return undefined
}

/** Without a window it is told by mail, which wakes it. */
export async function nudgeMember(here: Cafleet, [text]: string[], options: Options): Promise<unknown> {
  const { member, who } = await meant(here, options)
  if (isInTmux(member)) {
    const { typed } = await here.cli.ask<{ typed: string }>('nudge_member', { ...who, ...(text && { text }) })
    return { member_id: member.id, text: typed }
  }
  const body = text ?? 'Look at your mail, and answer what waits for you.'
  await here.cli.ask('send_mail', { team_id: who.team_id, to: member.handle, body, wake: true })
  return { member_id: member.id, text: body }
}
