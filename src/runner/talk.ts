import type { AgentEvent } from '../agents/contract.ts'
import type { Conversation } from './conversation.ts'
import type { Job } from './jobs.ts'
import type { FromRunner, Words } from './protocol.ts'

type Permission = Extract<AgentEvent, { type: 'permission' }>

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Carries messages between people and an agent, and reports what it asks and heard. */
export class Talk {
  readonly #conversation: Conversation
  readonly #tell: (message: FromRunner) => void
  /** The ids of messages that the agent has confirmed, and the records they stand for. */
  readonly #heard = new Set<string>()
  readonly #sentAs = new Map<string, string>()
  /** The inputs of tool calls without a result. */
  readonly #calls = new Map<string, unknown>()
  #waiting: readonly Words[] = []
  #turn: Promise<void> = Promise.resolve()
  #isDue = false

  constructor(conversation: Conversation, tell: (message: FromRunner) => void) {
    this.#conversation = conversation
    this.#tell = tell
  }

  set waiting(words: readonly Words[]) {
    this.#waiting = words
  }

  /** Takes note of an event of the transcript. */
  take(event: AgentEvent): void {
    if (event.type === 'tool_call') this.#calls.set(event.id, event.input)
    if (event.type === 'tool_result') this.#calls.delete(event.id)
    if (event.type === 'question') this.#tell({ type: 'asked', question: event })
    if (event.type === 'permission' && this.#isForPeople(event))
      this.#tell({ type: 'asked', question: { ...event, input: this.#wholeInput(event) } })
    if (event.type === 'said') {
      this.#heard.add(event.id)
      const id = this.#sentAs.get(event.id)
      if (id) this.#tell({ type: 'heard', id })
    }
  }

  /** A client may ask with the id of a call alone. Its input came when the call began. */
  #wholeInput({ call, input }: Permission): unknown {
    const told = call === undefined ? undefined : this.#calls.get(call)
    return isFields(told) && isFields(input) ? { ...told, ...input } : (input ?? told)
  }

  /** If the dialogue answers by itself because of the preset, nothing is left for people. */
  #isForPeople({ id, denied }: Permission): boolean {
    return !denied && this.#conversation.inReply(id, { allow: false }) !== undefined
  }

  /**
   * Sends what waits and can be heard now, then what the protocol has to send. People come first: a client that listens
   * only between its turns is let go when the protocol has nothing more to send. Callers take turns, so nothing is sent
   * twice. Undefined: another call waits for its turn already.
   */
  goOn(job: Job): Promise<void> | undefined {
    if (this.#isDue) return undefined
    this.#isDue = true
    return this.#inTurn(async () => {
      this.#isDue = false
      await this.#carry()
      if (this.#conversation.isDue) await this.#conversation.goOn(job)
    })
  }

  /** The agent is gone. What it heard is reported, and its input is not closed any more. */
  close(): Promise<void> {
    return this.#inTurn(() => this.#carry())
  }

  async nudge(id: string, text: string): Promise<void> {
    const words = this.#conversation.inWords(id, text)
    if (words) await this.#conversation.send(words)
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.catch(() => {}).then(work)
    return this.#turn
  }

  async #carry(): Promise<void> {
    for (const words of this.#waiting) {
      if (await this.#say(words)) this.#waiting = this.#waiting.filter(each => each !== words)
    }
  }

  /** Returns whether it was sent. If not, it is tried again after the next read. */
  async #say(words: Words): Promise<boolean> {
    const { id } = words
    if (words.type === 'answer') {
      const reply = this.#conversation.inReply(words.askedAs, words.answer)
      if (reply) await this.#conversation.send(reply)
      this.#tell({ type: 'sent', id })
      return true
    }
    const message =
      words.type === 'say'
        ? this.#conversation.inWords(id, words.text, words.images)
        : this.#conversation.inStopping(id)
    if (words.type === 'say' && message) {
      this.#sentAs.set(message.id, id)
      if (this.#heard.has(message.id)) {
        this.#tell({ type: 'heard', id })
        return true
      }
    }
    if (!message || this.#conversation.hasEnded) return false
    await this.#conversation.send(message)
    if (words.type === 'say') this.#tell({ type: 'sent', id })
    return true
  }
}
