import { setTimeout as passed } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import { InvalidInput, type Refusal } from '../domain/errors.ts'
import { noteRefusal } from '../operations/auditing.ts'
import type { Context, Item } from '../operations/operation.ts'
import { authorizeTopic, type Topic } from '../operations/topics.ts'
import type { Explain } from './answers.ts'
import { Outbox } from './outbox.ts'
import { TooMany, TooSlow } from './refusals.ts'
import { Allowance, CLOSED, type CloseCode, close, type SocketLimits } from './socket-limits.ts'
import { heard, type Said, type Told } from './topic-messages.ts'

interface Followed {
  topic: Topic
  /** As the reader named it. */
  asked: string
  /** The last one that was sent, or that it is followed from. */
  cursor: string | null
  ending: AbortController
  items: AsyncIterator<Item<unknown>>
  first: Promise<IteratorResult<Item<unknown>>>
}

export interface TopicReader extends Pick<Context, 'fleet' | 'caller' | 'from'> {
  limits: SocketLimits
  explain: Explain
  /** How many topics all connections of this caller follow. */
  shared: { topics: number }
}

/** How long a cursor may take to turn out wrong before the topic counts as followed. */
const FIRST_WORD_MS = 50
/** Several commits in a row cause one look at what the reader may still follow. */
const LOOK_EVERY_MS = 200

/** What a topic is about, as an operation would name it. */
function namedBy(topic: string): Record<string, string> {
  const [kind, ref] = topic.split(':')
  return kind && ref ? { [`${kind}_id`]: ref } : {}
}

/** Serves topics to one reader. Says why before it closes the connection. */
export class TopicSocket {
  readonly #socket: WebSocket
  readonly #reader: TopicReader
  readonly #outbox: Outbox
  readonly #allowance: Allowance
  readonly #followed = new Map<string, Followed>()
  readonly #stopWatching: () => void
  #look: NodeJS.Timeout | undefined
  #answered = Promise.resolve()
  #isOver = false

  constructor(socket: WebSocket, reader: TopicReader) {
    this.#socket = socket
    this.#reader = reader
    this.#outbox = new Outbox(socket, reader.limits, () => this.end(CLOSED.tooSlow, new TooSlow()))
    this.#allowance = new Allowance(reader.limits, performance.now())
    this.#stopWatching = reader.fleet.store.watch(() => {
      this.#look ??= setTimeout(() => this.#lookAgain(), LOOK_EVERY_MS)
    })
    socket.on('message', (data, isBinary) => this.#hear(data as Buffer, isBinary))
    socket.on('error', () => socket.terminate())
    socket.once('close', () => this.#stop())
  }

  /** Ends the connection and says why. */
  end(code: CloseCode, refusal?: Refusal): void {
    if (this.#isOver) return
    this.#stop()
    if (refusal) this.#refuse(refusal)
    close(this.#socket, code)
  }

  #stop(): void {
    this.#isOver = true
    clearTimeout(this.#look)
    this.#stopWatching()
    for (const each of this.#followed.values()) this.#forget(each)
  }

  #tell(told: Told): void {
    this.#outbox.send(told)
  }

  #refuse(error: unknown, about: { id?: Said['id']; topic?: string } = {}): void {
    const { code, message, try: hint } = this.#reader.explain(error, '/ws').body.error as Record<string, string>
    this.#tell({ type: 'refused', ...about, code: code!, message: message!, try: hint })
  }

  #hear(data: Buffer, isBinary: boolean): void {
    if (this.#isOver) return
    try {
      const said = this.#read(data, isBinary)
      // One after the other: an answer may need the store.
      this.#answered = this.#answered.then(() => this.#answer(said)).catch(error => this.#broken(error))
    } catch (error) {
      this.end(error instanceof TooMany ? CLOSED.tooMany : CLOSED.badMessage, error as Refusal)
    }
  }

  #read(data: Buffer, isBinary: boolean): Said {
    const { maxMessageBytes, messagesPerSecond } = this.#reader.limits
    const count = (what: number) => {
      if (!this.#allowance.take(what, performance.now()))
        throw new TooMany(`Only ${messagesPerSecond} messages or topics a second are accepted.`)
    }
    count(1)
    if (isBinary) throw new InvalidInput('message', 'must be text')
    if (data.length > maxMessageBytes) throw new InvalidInput('message', `may have at most ${maxMessageBytes} bytes`)
    const said = heard(data.toString())
    if (said.type === 'subscribe') count(said.topics.length - 1)
    return said
  }

  #broken(error: unknown): void {
    this.#refuse(error)
    this.end(CLOSED.broken)
  }

  async #answer(said: Said): Promise<void> {
    if (this.#isOver) return
    const { id } = said
    if (said.type === 'ping') {
      const cursors = Array.from(this.#followed.values(), ({ topic, cursor }) => [topic.name, cursor])
      this.#tell({ type: 'pong', id, cursors: Object.fromEntries(cursors) })
    } else if (said.type === 'unsubscribe') {
      const ended = said.topics.flatMap(name => this.#named(name))
      for (const each of ended) this.#forget(each)
      this.#tell({ type: 'unsubscribed', id, topics: ended.map(({ topic }) => topic.name) })
    } else {
      const started: Followed[] = []
      for (const name of said.topics)
        await this.#begin(name, said.after)
          .then(each => started.push(each))
          .catch(async error => {
            await noteRefusal(this.#reader, 'subscribe', namedBy(name), error)
            this.#refuse(error, { id, topic: name })
          })
      // A topic that was named twice, or a connection that was closed meanwhile.
      const topics = started.filter(each => this.#followed.get(each.topic.name) === each)
      if (!topics.length) return
      this.#tell({ type: 'subscribed', id, topics: topics.map(({ topic, cursor }) => ({ topic: topic.name, cursor })) })
      for (const each of topics) this.#pump(each).catch(error => this.#broken(error))
    }
  }

  #named(name: string): Followed[] {
    return [...this.#followed.values()].filter(({ topic, asked }) => topic.name === name || asked === name)
  }

  async #begin(name: string, after: string | undefined): Promise<Followed> {
    const { limits, shared } = this.#reader
    const topic = await authorizeTopic(this.#reader, name)
    const cursor = after ?? (await topic.now())
    const replaced = this.#followed.get(topic.name)
    if (replaced) this.#forget(replaced)
    if (this.#followed.size >= limits.mostTopics)
      throw new TooMany(`A connection follows at most ${limits.mostTopics} topics.`)
    if (shared.topics >= limits.mostTopicsOfOne)
      throw new TooMany(`All your connections together follow at most ${limits.mostTopicsOfOne} topics.`)
    const ending = new AbortController()
    const items = topic.follow(cursor, ending.signal)[Symbol.asyncIterator]()
    const first = items.next()
    const each = { topic, asked: name, cursor, ending, items, first }
    first.catch(() => {})
    this.#followed.set(topic.name, each)
    shared.topics++
    try {
      // From here on, commits make it look again; what was decided before may be old.
      await topic.recheck()
      if (after !== undefined) await Promise.race([first, passed(FIRST_WORD_MS, undefined, { ref: false })])
    } catch (error) {
      this.#forget(each)
      throw error
    }
    if (this.#isOver) this.#forget(each)
    return each
  }

  #forget(each: Followed): void {
    if (this.#followed.get(each.topic.name) !== each) return
    this.#followed.delete(each.topic.name)
    this.#reader.shared.topics--
    each.ending.abort()
    // Not awaited: an iterable that is still waiting ends when it notices the signal.
    each.items.return?.().catch(() => {})
  }

  async #pump(each: Followed): Promise<void> {
    const { items } = each
    const { signal } = each.ending
    try {
      let next = each.first
      for (let item = await next; !item.done && !signal.aborted; item = await next) {
        const hasRoom = await this.#outbox.room(this.#reader.limits.slowMs)
        if (signal.aborted) return
        if (!hasRoom) return await this.#fellBehind(each)
        this.#pass(each, item.value)
        next = items.next()
      }
    } catch (error) {
      if (!signal.aborted) this.#refuse(error, { topic: each.asked })
    } finally {
      this.#forget(each)
    }
  }

  #pass(each: Followed, { cursor, kind, data }: Item<unknown>): void {
    const topic = each.topic.name
    // What is still there comes next, so the reader's place has not changed.
    if (kind === 'reset') this.#tell({ type: 'gap', topic, cursor: each.cursor, reason: 'reset' })
    else each.cursor = cursor || each.cursor
    if (kind === 'reset' || kind === 'ping') return
    if (each.topic.isAlias) this.#outbox.send({ type: kind, topic, cursor: each.cursor, ...(data as object) })
    else this.#tell({ type: 'event', topic, cursor: each.cursor, kind, data })
  }

  /** It is followed no longer, so nothing is read for it. It says so as soon as the reader reads. */
  async #fellBehind(each: Followed): Promise<void> {
    this.#forget(each)
    await this.#outbox.room()
    this.#tell({ type: 'gap', topic: each.topic.name, cursor: each.cursor, reason: 'slow' })
  }

  /** What was allowed may not be any more. */
  async #lookAgain(): Promise<void> {
    this.#look = undefined
    for (const { topic, asked } of [...this.#followed.values()])
      try {
        await topic.recheck()
      } catch (error) {
        if (this.#isOver) return
        this.#refuse(error, { topic: asked })
        return this.end(CLOSED.refused)
      }
  }
}
