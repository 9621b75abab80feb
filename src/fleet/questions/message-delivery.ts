import type { Agent } from '../../agents/index.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Question } from '../../domain/records/talk.ts'
import type { AgentQuestion, Words } from '../../runner/protocol.ts'
import type { Fleet } from '../fleet.ts'
import { imageNamed } from '../missions/images.ts'
import { current } from '../records.ts'
import { markArrived, waitingMessages } from './messages.ts'
import { inWords, markDelivered, questionsOf, raiseQuestion, wordsAfter } from './questions.ts'

/** Carries messages and answers from the records to a live session, and its questions to the records. */
export class MessageDelivery {
  readonly #fleet: Fleet
  readonly #session: Session
  readonly #agent: Agent
  readonly #send: (waiting: readonly Words[]) => void
  #turn: Promise<void> = Promise.resolve()
  /** The turn that has not begun. */
  #next: Promise<void> | null = null

  constructor(fleet: Fleet, session: Session, agent: Agent, send: (waiting: readonly Words[]) => void) {
    this.#fleet = fleet
    this.#session = session
    this.#agent = agent
    this.#send = send
  }

  /** Sends everything that waits for the agent. Several calls before its turn send it once. */
  attend(): Promise<void> {
    this.#next ??= this.#inTurn(async () => {
      this.#next = null
      this.#send([...(await this.#answers()), ...(await this.#messages())])
    })
    return this.#next
  }

  /** Resolves once everything that was begun is written down. */
  settled(): Promise<void> {
    return this.#turn
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.catch(() => {}).then(work)
    return this.#turn
  }

  async raise(question: AgentQuestion): Promise<void> {
    await raiseQuestion(this.#fleet, this.#session, question)
    // A rule may have answered it already.
    if (question.type === 'permission') await this.attend()
  }

  /** A message has arrived once the agent says that it heard it. */
  heard(id: string): Promise<void> {
    return this.#inTurn(async () => {
      const message = await this.#fleet.store.get('messages', id)
      if (message) await markArrived(this.#fleet, message.value)
      else await this.#answered(id)
    })
  }

  /** An answer has arrived once its client has it. */
  sent(id: string): Promise<void> {
    return this.#inTurn(() => this.#answered(id))
  }

  async #answered(id: string): Promise<void> {
    const question = (await this.#fleet.store.get('questions', id))?.value
    if (!question) return
    const { kind, answer } = question
    const allow = answer?.decision === 'allow'
    const isTold = kind !== 'permission' || !answer?.text || (!allow && this.#agent.dialogue?.refusesInWords === true)
    await markDelivered(this.#fleet, id, isTold ? null : inWords(question))
  }

  async #answers(): Promise<Words[]> {
    const { value: mission } = await current(this.#fleet, 'missions', this.#session.mission_id)
    const questions = await questionsOf(this.#fleet, this.#session, mission)
    return questions.flatMap(({ value }) => wordsFor(value))
  }

  async #messages(): Promise<Words[]> {
    const messages = await waitingMessages(this.#fleet, this.#session.id)
    return Promise.all(
      messages.map(async ({ id, text }) => ({
        ...{ type: 'say' as const, id, text: await this.#fleet.blobs.read(text) },
        images: await Promise.all((text.images ?? []).map(image => imageNamed(this.#fleet, image))),
      })),
    )
  }
}

function wordsFor(question: Question): Words[] {
  const { id, kind, status, delivered, through, asked_as, answer } = question
  if (delivered || status === 'withdrawn') return []
  // Until it is answered, the client is to be stopped. Then it gets the answer.
  if (kind === 'interruption')
    return [status === 'open' ? { type: 'interrupt', id } : { type: 'say', id, text: wordsAfter(question) }]
  // What was asked through a tool is answered there, or starts the next session.
  if (status !== 'answered' || through !== 'client') return []
  const allow = answer?.decision === 'allow'
  return [{ type: 'answer', id, askedAs: asked_as, answer: { allow, text: answer?.text ?? undefined } }]
}
