import type { Command } from 'commander'
import { NotAllowed } from '../../domain/errors.ts'
import { shortId } from '../../domain/ids.ts'
import type { Event } from '../../domain/records/event.ts'
import type { TranscriptEnd, TranscriptEvent } from '../../domain/records/transcript.ts'
import type { ReviewView } from '../../operations/reviews.ts'
import type { SessionView } from '../../operations/views.ts'
import { cut, safe, safeLine, widthOf } from '../../platform/safe-text.ts'
import { type Cli, countFrom, does } from '../command.ts'
import { EXIT } from '../exit.ts'
import { includedInWords } from '../landing.ts'
import { namesIn } from '../names.ts'
import { projectRef } from '../project-here.ts'
import { inStatusColour } from '../show.ts'
import type { Detail } from '../show-mission.ts'
import { type SessionItem, Showing, WHOLE } from '../transcript.ts'
import { untilInterrupted } from '../until.ts'

export function addWatching(program: Command): void {
  const logs = program
    .command('logs')
    .description('show the transcript of a mission')
    .argument('<mission>', 'mission or session: id or first letters')
    .option('-f, --follow', 'follow until the session ends')
    .option('--find <text>', 'only lines with this text')
    .option('--errors', 'only failures')
    .option('--session <n>', 'number of the session (default: the newest)', Number)
  does(logs, async (cli, [id], options) => {
    const session = await sessionOf(cli, id!, options.session as number | undefined)
    const { find: text, errors } = options
    if (text === undefined && !errors) return printTranscript(cli, session, options.follow === true)
    return printMatches(cli, session, { text, ...(errors === true && { only: 'errors' }) })
  })

  const diff = program
    .command('diff')
    .description('show the changes of a mission against its base branch, or of a session')
    .argument('<mission>', 'mission or session: id or first letters')
    .argument('[file]', 'only this file')
    .option('--id', 'print only the commit id that would land, for fleet land --commit')
    .option('--stat', 'print only file names and line counts')
    .option('-U, --context <n>', 'lines of context around each change', Number)
  does(diff, async (cli, [id, path], options) => {
    if (options.id) return printCandidate(cli, id!)
    const wish = { path, context: options.context as number | undefined, text: options.stat !== true }
    return printDiff(cli, id!, wish)
  })

  const compare = program
    .command('compare')
    .description('compare two missions or sessions: changes, checks and cost')
    .argument('<first>', 'id or first letters')
    .argument('<second>', 'id or first letters')
  does(compare, async (cli, [first, second]) => (await import('../compare.ts')).compare(cli, first!, second!))

  const conflict = program
    .command('conflict')
    .description('show the conflicts of a mission with its base branch, and what landed there since')
    .argument('<mission>', 'id or first letters')
  does(conflict, async (cli, [id]) => (await import('../show-conflict.ts')).showConflict(cli, id!))

  const events = program
    .command('events')
    .alias('log')
    .description('show what happened: events of missions, projects and the fleet')
    .argument('[n]', 'same as --limit', countFrom)
    .option('-f, --follow', 'follow new events')
    .option('--project <project>', 'only this project: id, name or path')
    .option('--mission <mission>', 'only this mission')
    .option('--kind <kinds...>', 'only these kinds')
    .option('--actor <actor>', 'only events by this actor: person, fleet, session, plugin, or a full name')
    .option('--before <cursor>', 'only events before this cursor')
    .option('--after <cursor>', 'only events after this cursor')
    .option('--limit <n>', 'maximum number', Number, 50)
  does(events, printEvents)
}

/** What the newest agent of a mission has printed so far. */
export const showLog = async (cli: Cli, id: string): Promise<number> =>
  printTranscript(cli, await sessionOf(cli, id), false)

/** Most people name the mission, and mean its newest session. A session can be named too. */
async function sessionOf(cli: Cli, id: string, number?: number): Promise<SessionView> {
  const client = await cli.client()
  const mission = await client.call<Detail>('get_mission', { mission_id: id }).catch(error => {
    if (error.code !== 'not_found') throw error
    return undefined
  })
  if (!mission) return client.call<SessionView>('get_session', { session_id: id })
  const session =
    number === undefined
      ? mission.sessions.find(each => each.id === mission.session_id)
      : mission.sessions.find(each => each.number === number)
  if (session) return session
  throw new NotAllowed(
    number === undefined
      ? `Mission ${shortId(mission.id)} has not run yet: it is ${mission.status}.`
      : `Mission ${shortId(mission.id)} has no session ${number}.`,
    { try: `fleet show ${shortId(mission.id)}` },
  )
}

async function printTranscript(cli: Cli, session: SessionView, follow: boolean): Promise<number> {
  const { terminal } = cli
  const leaving = untilInterrupted()
  const showing = new Showing(terminal)
  for await (const item of (await cli.client()).stream<SessionItem>(
    'stream_session',
    { session_id: session.id, follow, ...WHOLE },
    leaving,
  )) {
    if (item.kind === 'ping' || item.data === null) continue
    if (terminal.json) terminal.print(JSON.stringify(item))
    else if (item.kind === 'end') {
      for (const line of showing.rest()) terminal.print(line)
      const end = item.data as TranscriptEnd
      terminal.note(
        `${inStatusColour(terminal, end.outcome ?? 'ended')}${end.outcome_reason ? `: ${safe(end.outcome_reason)}` : ''}`,
      )
    } else for (const line of showing.take(item.data as TranscriptEvent)) terminal.print(line)
  }
  return EXIT.done
}

interface Found {
  matches: { event_id: string; at: string | null; type: string; snippet: string }[]
  cursor: string
  more: boolean
}

/** A long transcript is searched a part at a time. */
async function printMatches({ client, terminal }: Cli, session: SessionView, wanted: object): Promise<number> {
  const asking = await client()
  let found = 0
  for (let after: string | undefined, more = true; more; ) {
    const part = await asking.call<Found>('search_transcript', { session_id: session.id, ...wanted, after, limit: 500 })
    for (const match of part.matches) {
      const line = [terminal.paint('dim', match.at ?? ''), terminal.paint('bold', match.type), safeLine(match.snippet)]
      terminal.print(terminal.json ? JSON.stringify(match) : line.filter(Boolean).join('  '))
    }
    found += part.matches.length
    after = part.cursor
    more = part.more
  }
  return found ? EXIT.done : EXIT.failed
}

async function printCandidate(cli: Cli, mission_id: string): Promise<undefined> {
  const { candidate } = await cli.ask<Diff>('diff_mission', { mission_id, text: false })
  if (!candidate)
    throw new NotAllowed(`Mission ${mission_id} has no finished work.`, { try: `fleet show ${mission_id}` })
  cli.terminal.tell({ candidate }, () => cli.terminal.print(candidate))
}

interface Diff {
  /** Only of a mission. */
  candidate?: string | null
  includes?: ReviewView['includes']
  text: string
  truncated: boolean
  files: { path: string; change: string; from?: string; added: number | null; deleted: number | null }[]
}

async function printDiff(
  cli: Cli,
  id: string,
  wish: { path?: string; context?: number; text: boolean },
): Promise<undefined> {
  const { terminal } = cli
  const client = await cli.client()
  const answer = await client.call<Diff>('diff_mission', { mission_id: id, ...wish }).catch(error => {
    if (error.code !== 'not_found') throw error
    return client.call<Diff>('diff_session', { session_id: id, ...wish })
  })
  if (terminal.json) return void terminal.data(answer)
  if (!wish.text)
    terminal.table<Diff['files'][number]>(
      [
        { title: 'CHANGE', value: file => file.change },
        { title: '+', value: file => String(file.added ?? 'binary'), right: true },
        { title: '-', value: file => String(file.deleted ?? ''), right: true },
        { title: 'FILE', value: file => (file.from ? `${file.from} → ${file.path}` : file.path), flexible: true },
      ],
      answer.files,
    )
  else if (!terminal.streams.stdout.isTTY) terminal.write(answer.text)
  else for (const line of answer.text.split('\n')) terminal.print(diffLine(cli, line))
  for (const each of answer.includes ?? []) terminal.note(terminal.foreign(includedInWords(each)))
  if (answer.candidate) terminal.note(`candidate ${answer.candidate}`)
  if (answer.truncated) terminal.note('The diff is cut here. Name a file to see its own diff, or look at the branch.')
}

function diffLine({ terminal }: Cli, line: string): string {
  const text = safe(line)
  if (/^(diff|index|\+\+\+|---|rename|new file|deleted file)/.test(line)) return terminal.paint('bold', text)
  if (line.startsWith('@@')) return terminal.paint('cyan', text)
  if (line.startsWith('+')) return terminal.paint('green', text)
  return line.startsWith('-') ? terminal.paint('red', text) : text
}

interface Events {
  events: Event[]
  start?: string
  cursor: string
  more: boolean
}

async function printEvents(cli: Cli, [count]: string[], options: Record<string, unknown>): Promise<undefined> {
  const { terminal } = cli
  const client = await cli.client()
  const project_id = options.project === undefined ? undefined : await projectRef(cli, String(options.project))
  if (options.follow) {
    const leaving = untilInterrupted()
    for await (const item of client.stream<Event | null>(
      'stream_events',
      { project_id, after: options.after },
      leaving,
    )) {
      if (item.kind === 'ping' || item.data === null) continue
      terminal.print(
        terminal.json ? JSON.stringify(item) : eventLine(cli, item.data, await namesIn(cli, [item.data.actor])),
      )
    }
    return
  }
  const answer = await client.call<Events>('list_events', {
    project_id,
    mission_id: options.mission,
    kinds: options.kind,
    actor: options.actor,
    before: options.before,
    after: options.after,
    limit: count ?? options.limit,
  })
  if (terminal.json) return void terminal.data(answer)
  const who = await namesIn(
    cli,
    answer.events.map(({ actor }) => actor),
  )
  for (const event of answer.events) terminal.print(eventLine(cli, event, who))
  if (answer.more && options.after) terminal.note(`There are more: add --after ${answer.cursor}`)
  else if (answer.more) terminal.note(`There are more: add --before ${answer.start}`)
}

/** As wide as most kinds, so that what follows is in columns. */
const KIND_WIDTH = 17

function eventLine({ terminal }: Cli, event: Event, called: (actor: string) => string): string {
  const time = `${event.time.slice(0, 19).replace('T', ' ')}Z`
  const kind = event.kind.padEnd(KIND_WIDTH)
  const id = shortId(event.mission_id ?? '').padEnd(6)
  const more = [
    event.actor !== 'fleet' && `by ${called(event.actor)}`,
    event.cause && safeLine(event.cause),
    event.session_id && `session ${shortId(event.session_id)}`,
  ]
    .filter(Boolean)
    .join('  ')
  const shown = cut(more, terminal.width - widthOf(`${time}  ${kind}  ${id}  `))
  return `${terminal.paint('dim', time)}  ${terminal.paint('bold', kind)}  ${id}  ${shown}`.trimEnd()
}
