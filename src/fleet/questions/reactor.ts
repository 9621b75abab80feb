import type { Event } from '../../domain/records/event.ts'
import type { Fleet } from '../fleet.ts'
import { type Desk, idIn, isOf, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { settleOverdue } from './overdue.ts'
import { QuestionFiles } from './question-files.ts'

/** Events that open or settle a question. The answer to a parked question starts a session. */
const ASKING: readonly Event['kind'][] = ['asked', 'answered', 'resumed', 'question_withdrawn']

/** Writes the questions file of each mission, and answers what nobody answers in time. */
export class Questions implements Reactor {
  readonly name = 'questions'
  readonly #fleet: Fleet
  readonly #desk: Desk
  readonly #files: QuestionFiles
  readonly #putAside: (sessionId: string) => void

  constructor(fleet: Fleet, desk: Desk, putAside: (sessionId: string) => void) {
    this.#fleet = fleet
    this.#desk = desk
    this.#files = new QuestionFiles(fleet)
    this.#putAside = putAside
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'questions', 'open')) yield refTo('missions', value.mission_id)
  }

  affectedBy({ kind, mission_id }: Event): Ref[] {
    return mission_id && ASKING.includes(kind) ? [refTo('missions', mission_id)] : []
  }

  async look(ref: Ref): Promise<void> {
    if (!isOf(ref, 'questions')) return this.#files.write(idIn(ref))
    const question = (await this.#fleet.store.get('questions', idIn(ref)))?.value
    if (question?.status === 'open') await settleOverdue(this.#fleet, question, this.#putAside)
  }

  /** A question that cannot be answered does not hold up the others. */
  async tick(): Promise<void> {
    for (const { value } of await Array.fromAsync(all(this.#fleet, 'questions', 'open')))
      await this.#desk.attempt(refTo('questions', value.id), () => settleOverdue(this.#fleet, value, this.#putAside))
  }
}
