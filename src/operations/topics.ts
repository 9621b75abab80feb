import { NotFound, Refusal } from '../domain/errors.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { lookUp } from '../fleet/records.ts'
import { claudeFleetNow, followAsClaudeFleet } from './aliases/claude-fleet/topic.ts'
import { authorize } from './authorize.ts'
import { withoutCosts } from './costs.ts'
import { operationNamed } from './index.ts'
import type { Context, Item, Operation, Query, Streaming } from './operation.ts'
import { parseInput } from './shape.ts'

/** What can be followed over a WebSocket. For docs/reference/live.md too. */
export const TOPICS = {
  fleet: 'every event of the fleet',
  'project:<id>': 'the events of a project',
  'mission:<id>': 'the events of a mission',
  'team:<id>': 'the events of a team: its members, its mail, its blackboard',
  'session:<id>': 'the transcript of a session as it grows, from its beginning; the last event is `end`',
  'claude-fleet': 'events with the names and shapes of claude-fleet, and the text that agents print',
} as const

type Asker = Pick<Context, 'fleet' | 'caller'>
type Input = Record<string, unknown>

/** A topic that its caller may follow. */
export interface Topic {
  /** With the whole id. */
  readonly name: string
  /** Its messages have the names and shapes of another tool. */
  readonly isAlias: boolean
  /** Throws if the caller may no longer follow it. */
  recheck(): Promise<void>
  /** The cursor to follow from if only what is new is wanted. Null: it is followed from its beginning. */
  now(): Promise<string | null>
  follow(after: string | null, signal: AbortSignal): AsyncIterable<Item<unknown>>
}

/** The collection that a name is looked up in, and what its reader must be allowed to use; the first is the stream. */
const OF_RECORDS = {
  project: ['projects', id => ({ stream_events: { project_id: id }, get_project: { project_id: id } })],
  mission: ['missions', id => ({ stream_events: { mission_id: id }, get_mission: { mission_id: id } })],
  team: ['teams', id => ({ stream_events: { team_id: id }, get_team: { team_id: id } })],
  session: ['sessions', id => ({ stream_session: { session_id: id } })],
} as const satisfies Record<
  string,
  ['projects' | 'missions' | 'sessions' | 'teams', (id: string) => Record<string, Input>]
>

/**
 * Decides whether a caller may follow a topic. It asks `authorize` about the operations that show the same, with the
 * same input; nothing else decides. A name is looked up only for those who may ask about it.
 */
export async function authorizeTopic(asker: Asker, name: string): Promise<Topic> {
  if (name === 'fleet') return shownBy(asker, name, { stream_events: {} })
  if (name === 'claude-fleet') return asClaudeFleet(asker, name)
  const [, kind, ref] = /^(project|mission|session|team):(.{1,120})$/.exec(name) ?? []
  if (!kind || !ref) throw new NotFound('topic', name, { try: `Topics are ${Object.keys(TOPICS).join(', ')}.` })
  const [collection, asks] = OF_RECORDS[kind as keyof typeof OF_RECORDS]
  const { value } = await lookUp(await requireAll(asker, asks(ref)), collection, ref)
  return shownBy(asker, `${kind}:${value.id}`, asks(value.id))
}

async function shownBy(asker: Asker, name: string, asks: Record<string, Input>): Promise<Topic> {
  const [[first, input]] = Object.entries(asks) as [[string, Input]]
  const stream = known(first) as Streaming
  const recheck = async () => void (await requireAll(asker, asks))
  await recheck()
  return {
    name,
    isAlias: false,
    recheck,
    now: () => (first === 'stream_events' ? newest(asker, input) : Promise.resolve(null)),
    async *follow(after, signal) {
      const fleet = await requireAll(asker, asks)
      const items = stream.run({ ...asker, fleet, signal }, parseInput(stream, after ? { ...input, after } : input))
      for await (const item of items) yield withoutCosts(asker.caller, item)
    },
  }
}

/** The text that agents print is shown session by session, to those who may follow that session. */
async function asClaudeFleet(asker: Asker, name: string): Promise<Topic> {
  const asks = { stream_events: {}, list_sessions: { live: true } }
  const events = await shownBy(asker, name, asks)
  const place = {
    now: () => newest(asker, {}),
    live: async () => {
      const input = { live: true, limit: 500 }
      const { sessions } = (await ask(asker, 'list_sessions', input)) as { sessions: { id: string }[] }
      return sessions.map(({ id }) => id)
    },
    end: async (session: string) => {
      const input = { session_id: session, last: true, limit: 1 }
      return ((await ask(asker, 'read_transcript', input)) as { cursor: string }).cursor
    },
  }
  /** The sessions whose text is shown now. */
  const shown = new Set<Topic>()
  return {
    ...events,
    isAlias: true,
    recheck: async () => {
      for (const topic of [events, ...shown]) await topic.recheck()
    },
    now: () => claudeFleetNow(place),
    async *follow(after, signal) {
      yield* followAsClaudeFleet(await requireAll(asker, asks), after ?? '', {
        ...place,
        look: (operation, input) => seen(asker, operation, input),
        events: from => events.follow(from, signal),
        output: async (session, from) => {
          const topic = await authorizeTopic(asker, `session:${session}`)
          return during(shown, topic, topic.follow(from, signal))
        },
      })
    },
  }
}

async function* during<T>(shown: Set<Topic>, topic: Topic, items: AsyncIterable<T>): AsyncGenerator<T> {
  shown.add(topic)
  try {
    yield* items
  } finally {
    shown.delete(topic)
  }
}

/** What the asker may see. */
async function seen<T>(asker: Asker, operation: string, input: object): Promise<T | undefined> {
  return ask(asker, operation, input as Input).catch((error: unknown) => {
    if (error instanceof Refusal) return undefined
    throw error
  }) as Promise<T | undefined>
}

/** As `list_events` says, because its cursor is one that `stream_events` accepts from this caller. */
const newest = async (asker: Asker, input: Input): Promise<string> =>
  ((await ask(asker, 'list_events', { ...input, limit: 1 })) as { cursor: string }).cursor

async function ask(asker: Asker, name: string, raw: Input): Promise<unknown> {
  const operation = known(name) as Query
  const fleet = await requireAll(asker, { [name]: raw })
  return operation.run({ ...asker, fleet, signal: new AbortController().signal }, parseInput(operation, raw))
}

/** Returns the fleet as the caller sees it with the first of them. */
async function requireAll(asker: Asker, asks: Record<string, Input>): Promise<Fleet> {
  const seen: Fleet[] = []
  for (const [name, input] of Object.entries(asks)) seen.push(await authorize(known(name), asker, input))
  return seen[0]!
}

function known(name: string): Operation {
  const operation = operationNamed(name)
  if (!operation) throw new Error(`there is no operation ${name}`)
  return operation
}
