import type { AgentEvent } from '../../agents/index.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Question } from '../../domain/records/talk.ts'
import type { Conversation } from '../../runner/conversation.ts'
import type { Fleet } from '../fleet.ts'
import { inWords, markDelivered, questionsOf, raiseQuestion, wordsAfter } from '../questions/questions.ts'
import { markArrived, waitingMessages } from './messages.ts'

type Permission = Extract<AgentEvent, { type: 'permission' }>

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Between a live session and the people around it: what it asks them, what they answer and what they say to it. */
export class Attending {
  readonly #fleet: Fleet
  readonly #session: Session
  readonly #conversation: Conversation
  /** What the agent has said it heard, by the ids it was sent under. */
  readonly #heard = new Set<string>()
  /** The inputs of calls that have begun and have no result yet. */
  readonly #calls = new Map<string, unknown>()
  #turn: Promise<void> = Promise.resolve()
  /** The turn that has not begun. */
  #next: Promise<void> | null = null
  /** Something was to be said that the client could not take yet. */
  #isHeldBack = false

  constructor(fleet: Fleet, session: Session, conversation: Conversation) {
    this.#fleet = fleet
    this.#session = session
    this.#conversation = conversation
  }

  /** Whether reading on may have brought the moment for what was held back. */
  get isWaiting(): boolean {
    return this.#isHeldBack
  }

  /** Takes note of an event of the transcript; the promise is for what it leads to. */
  async take(event: AgentEvent): Promise<void> {
    if (event.type === 'tool_call') this.#calls.set(event.id, event.input)
    if (event.type === 'tool_result') this.#calls.delete(event.id)
    if (event.type === 'question') await raiseQuestion(this.#fleet, this.#session, event)
    if (event.type === 'permission' && this.#isForPeople(event))
      await raiseQuestion(this.#fleet, this.#session, { ...event, input: this.#wholeInput(event) })
    if (event.type === 'said') this.#heard.add(event.id)
    // A rule may have answered it already.
    if (event.type === 'said' || event.type === 'permission') await this.attend()
  }

  /** A client may ask with the name of a call alone: what it would do was told when the call began. */
  #wholeInput({ call, input }: Permission): unknown {
    const told = call === undefined ? undefined : this.#calls.get(call)
    return isFields(told) && isFields(input) ? { ...told, ...input } : (input ?? told)
  }

  /** A dialogue that answers by itself, as its preset says, leaves nothing to answer. */
  #isForPeople({ id, denied }: Permission): boolean {
    return !denied && this.#conversation.inReply(id, { allow: false }) !== undefined
  }

  /** Carries what people have said and answered meanwhile. Callers take turns, so nothing is carried twice. */
  attend(): Promise<void> {
    this.#next ??= this.#turn
      .catch(() => {})
      .then(() => {
        this.#next = null
        return this.#carry()
      })
    this.#turn = this.#next
    return this.#turn
  }

  async #carry(): Promise<void> {
    // What is read until this is through may be what the client was not ready without.
    this.#isHeldBack = true
    const answers = await this.#carryAnswers()
    const messages = await this.#carryMessages()
    this.#isHeldBack = !answers || !messages
  }

  /** Whether nothing had to be held back. */
  async #carryAnswers(): Promise<boolean> {
    let all = true
    for (const question of await questionsOf(this.#fleet, this.#session.id)) {
      if (question.kind === 'interruption') all = (await this.#interrupt(question)) && all
      // What was asked through a tool is answered there, or starts the next session.
      else if (question.status === 'answered' && !question.delivered && question.through === 'client')
        await this.#answer(question)
    }
    return all
  }

  async #answer(question: Question): Promise<void> {
    const { id, kind, asked_as, answer } = question
    const allow = answer?.decision === 'allow'
    const reply = this.#conversation.inReply(asked_as, { allow, text: answer?.text ?? undefined })
    if (reply) await this.#conversation.send(reply)
    const isTold = kind !== 'permission' || !answer?.text || (!allow && this.#conversation.refusesInWords)
    await markDelivered(this.#fleet, id, isTold ? null : inWords(question))
  }

  /** Until it is answered the client is to be stopped, and then told the answer. */
  async #interrupt(question: Question): Promise<boolean> {
    if (question.delivered || question.status === 'withdrawn') return true
    const isOpen = question.status === 'open'
    const message = isOpen
      ? this.#conversation.inStopping(question.id)
      : this.#conversation.inWords(question.id, wordsAfter(question))
    if (!message || this.#conversation.hasEnded) return false
    await this.#conversation.send(message)
    if (!isOpen) await markDelivered(this.#fleet, question.id)
    return true
  }

  async #carryMessages(): Promise<boolean> {
    let all = true
    for (const message of await waitingMessages(this.#fleet, this.#session.id)) {
      const words = this.#conversation.inWords(message.id, await this.#fleet.blobs.read(message.text))
      if (words && this.#heard.has(words.id)) await markArrived(this.#fleet, message)
      else if (!words || this.#conversation.hasEnded) all = false
      else await this.#conversation.send(words)
    }
    return all
  }
}
