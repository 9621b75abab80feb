import type { TranscriptEvent } from '../agents/index.ts'
import type { Session } from '../domain/session.ts'
import type { Conversation } from '../runner/conversation.ts'
import type { Fleet } from './fleet.ts'
import { markDelivered, questionsOf, raiseQuestion } from './questions.ts'
import { markArrived, waitingMessages } from './saying.ts'

/** Between a live session and the people around it: what it asks them, what they answer and what they say to it. */
export class Attending {
  readonly #fleet: Fleet
  readonly #session: Session
  readonly #conversation: Conversation
  /** What the agent has said it heard, by the ids it was sent under. */
  readonly #heard = new Set<string>()
  #turn: Promise<void> = Promise.resolve()
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
  async take(event: TranscriptEvent): Promise<void> {
    if (event.type === 'question' || (event.type === 'permission' && this.#isForPeople(event)))
      await raiseQuestion(this.#fleet, this.#session, event)
    if (event.type !== 'said') return
    this.#heard.add(event.id)
    await this.attend()
  }

  /** A dialogue that answers by itself, as its preset says, leaves nothing to answer. */
  #isForPeople({ id, denied }: Extract<TranscriptEvent, { type: 'permission' }>): boolean {
    return !denied && this.#conversation.inReply(id, { allow: false }) !== undefined
  }

  /** Carries what people have said and answered meanwhile. Callers take turns, so nothing is carried twice. */
  attend(): Promise<void> {
    this.#turn = this.#turn
      .catch(() => {})
      .then(async () => {
        await this.#carryAnswers()
        await this.#carryMessages()
      })
    return this.#turn
  }

  async #carryAnswers(): Promise<void> {
    for (const question of await questionsOf(this.#fleet, this.#session.id)) {
      if (question.status !== 'answered' || question.delivered || !question.answer) continue
      const { decision, text } = question.answer
      const reply = this.#conversation.inReply(question.asked_as, {
        allow: decision === 'allow',
        text: text ?? undefined,
      })
      if (reply) await this.#conversation.send(reply)
      await markDelivered(this.#fleet, question.id)
    }
  }

  async #carryMessages(): Promise<void> {
    this.#isHeldBack = false
    for (const message of await waitingMessages(this.#fleet, this.#session.id)) {
      const words = this.#conversation.inWords(message.id, await this.#fleet.blobs.read(message.text))
      if (words && this.#heard.has(words.id)) await markArrived(this.#fleet, message)
      else if (!words || this.#conversation.hasEnded) this.#isHeldBack = true
      else await this.#conversation.send(words)
    }
  }
}
