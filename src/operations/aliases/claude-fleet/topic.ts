import * as z from 'zod'
import { InvalidInput, Refusal } from '../../../domain/errors.ts'
import type { Event } from '../../../domain/records/event.ts'
import type { Session } from '../../../domain/records/session.ts'
import type { TranscriptEvent } from '../../../domain/records/transcript.ts'
import type { Fleet } from '../../../fleet/fleet.ts'
import { dependenciesOf, readable } from '../../../fleet/records.ts'
import type { Item } from '../../operation.ts'
import { inTheirWords, isTold, outputOf, type Told } from './events.ts'
import { isOfTeam, type Look, teamEvent } from './team-events.ts'

/** What the topic is made of, each as its reader may see it. */
interface Sources {
  events(after: string): AsyncIterable<Item<unknown>>
  /** The cursor after the newest event. */
  now(): Promise<string>
  /** The sessions at work. */
  live(): Promise<string[]>
  /** The end of a transcript. */
  end(session: string): Promise<string>
  /** Refused where the reader may not see what is said in a session. */
  output(session: string, after: string | null): Promise<AsyncIterable<Item<unknown>>>
  /** What the reader may see of a team. */
  look: Look
}

/** The output of so many sessions is followed at once; a cursor names each of them. */
const MOST_SESSIONS = 250

/** Where everything was read to: the events, and the transcript of each session that was announced and not dismissed. */
const Place = z.strictObject({
  events: z.string().max(120),
  outputs: z
    .record(z.string().max(120), z.string().max(120).nullable())
    .refine(outputs => Object.keys(outputs).length <= MOST_SESSIONS),
})
type Place = z.infer<typeof Place>

const cursorOf = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url')

function placeOf(cursor: string): Place {
  try {
    return Place.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()))
  } catch {
    throw new InvalidInput('after', 'this is not a cursor of the topic claude-fleet', {
      try: 'Leave it out to follow from now.',
    })
  }
}

type Next = { from: string; result: IteratorResult<Item<unknown>> }
const EVENTS = ''

/**
 * Events and output, merged so that a worker is spawned before it prints and dismissed after its last word. Each item
 * has the place of everything, so that a reader who comes back misses nothing and sees nothing twice.
 */
export async function* followAsClaudeFleet(
  fleet: Fleet,
  after: string,
  sources: Sources,
): AsyncGenerator<Item<object>> {
  const place = placeOf(after)
  const streams = new Map<string, AsyncIterator<Item<unknown>>>()
  const pending = new Map<string, Promise<Next>>()
  /** What the workers of sessions are called. */
  const handles = new Map<string, string>()
  const advance = (from: string): void => {
    const next = streams.get(from)!.next()
    const named = next.then(result => ({ from, result }))
    // Nobody may be waiting for it any more when it fails.
    named.catch(() => {})
    pending.set(from, named)
  }
  const listen = async (session: string, from: string | null): Promise<void> => {
    place.outputs[session] = from
    const output = await sources.output(session, from).catch(ifRefused)
    if (!output) return
    const { value } = (await readable(fleet, 'sessions', session)) ?? {}
    handles.set(session, (value && (await memberNameOf(fleet, value))) ?? session)
    streams.set(session, output[Symbol.asyncIterator]())
    advance(session)
  }
  const item = (told: Told): Item<object> => ({ cursor: cursorOf(place), kind: told.kind, data: told.data })

  try {
    for (const [session, from] of Object.entries(place.outputs)) await listen(session, from)
    streams.set(EVENTS, sources.events(place.events)[Symbol.asyncIterator]())
    advance(EVENTS)
    let held: Item<unknown> | undefined
    for (;;) {
      const { from, result } = await Promise.race(pending.values())
      pending.delete(from)
      if (from !== EVENTS) {
        if (!result.done && result.value.kind !== 'end') {
          const output = outputOf(result.value.data as TranscriptEvent)
          place.outputs[from] = result.value.cursor || null
          if (output) yield item({ kind: 'worker_output', data: { handle: handles.get(from) ?? from, output } })
          advance(from)
          continue
        }
        streams.delete(from)
        // The event that it ended may have waited for this.
        if (!held || (held.data as Event).session_id !== from) continue
      } else {
        if (result.done) return
        held = result.value
        const { kind, data } = held
        if (kind === 'reset' || kind === 'ping') {
          if (kind === 'ping') place.events = held.cursor
          // Among the events that were dropped may be those that sessions ended.
          else
            for (const session of Object.keys(place.outputs)) if (!streams.has(session)) delete place.outputs[session]
          yield item({ kind, data: {} })
          held = undefined
          advance(EVENTS)
          continue
        }
        if (kind === 'session_ended' && streams.has((data as Event).session_id ?? '')) continue
      }
      const event = held.data as Event
      const session = event.session_id ?? ''
      const isKnown = session in place.outputs
      const told = event.kind === 'adopted' && isKnown ? undefined : await tell(fleet, event, sources.look)
      place.events = held.cursor
      held = undefined
      const hasRoom = Object.keys(place.outputs).length < MOST_SESSIONS
      const isNew = BEGINS.includes(event.kind) && !isKnown && hasRoom && event.session_id !== null
      if (isNew) place.outputs[session] = null
      if (event.kind === 'session_ended') delete place.outputs[session]
      if (told) yield item(told)
      if (isNew) await listen(session, null)
      advance(EVENTS)
    }
  } finally {
    for (const stream of streams.values()) stream.return?.().catch(() => {})
  }
}

/** The place after everything that happened until now. */
export async function claudeFleetNow(sources: Pick<Sources, 'now' | 'live' | 'end'>): Promise<string> {
  // The events first: a session that starts in between is then announced, and not forgotten.
  const place: Place = { events: await sources.now(), outputs: {} }
  for (const id of (await sources.live()).slice(0, MOST_SESSIONS))
    place.outputs[id] = (await sources.end(id).catch(ifRefused)) ?? null
  return cursorOf(place)
}

const BEGINS: readonly Event['kind'][] = ['session_running', 'adopted']

/** The name of the member whose session it is, if the reader may see it. */
async function memberNameOf(fleet: Fleet, { member_id }: Session): Promise<string | undefined> {
  return member_id ? (await readable(fleet, 'members', member_id))?.value.handle : undefined
}

async function tell(fleet: Fleet, event: Event, look: Look): Promise<Told | undefined> {
  if (isOfTeam(event)) return teamEvent(event, look)
  if (!isTold(event)) return undefined
  const [mission, session, project] = await Promise.all([
    event.mission_id ? readable(fleet, 'missions', event.mission_id) : undefined,
    event.session_id ? readable(fleet, 'sessions', event.session_id) : undefined,
    event.project_id ? readable(fleet, 'projects', event.project_id) : undefined,
  ])
  // What its reader may not see is not named.
  const seen = mission ? await dependenciesOf(fleet, mission.value) : []
  const team = mission?.value.task && (await readable(fleet, 'teams', mission.value.task.team_id))
  return inTheirWords(event, {
    mission: mission && { ...mission.value, depends_on: seen.map(({ value }) => value.id) },
    session: session?.value,
    team: team?.value.name ?? project?.value.name ?? null,
    member: session && (await memberNameOf(fleet, session.value)),
  })
}

function ifRefused(error: unknown): undefined {
  if (!(error instanceof Refusal)) throw error
  return undefined
}
