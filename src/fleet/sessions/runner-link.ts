import { AgentRun, type RunnerOf } from '../../runner/agent-run.ts'
import type { Seen } from '../../runner/processes.ts'
import type { FromRunner, ToRunner } from '../../runner/protocol.ts'

export type Answer<T extends FromRunner['type']> = Extract<FromRunner, { type: T }>
/** Messages that answer no request. */
export type News = Exclude<FromRunner, Answer<'absent' | 'running' | 'failed' | 'over' | 'swept' | 'closed'>>

/** Connects the records half of a session with its runner: messages in both directions, here inside one process. */
export class RunnerLink {
  readonly #runner: AgentRun
  readonly #onNews: (news: News) => void
  /** The request that waits for its answer. */
  #asked: { types: readonly string[]; resolve(answer: FromRunner): void; reject(error: unknown): void } | null = null

  constructor(of: RunnerOf, onNews: (news: News) => void) {
    this.#runner = new AgentRun(of, message => this.#hear(message))
    this.#onNews = onNews
  }

  tell(message: ToRunner): void {
    this.#runner.hear(message)
  }

  /** Sends a message, and waits for the answer. */
  ask<T extends FromRunner['type']>(message: ToRunner, ...types: T[]): Promise<Answer<T>> {
    const { promise, resolve, reject } = Promise.withResolvers<FromRunner>()
    this.#asked = { types, resolve, reject }
    this.tell(message)
    return promise as Promise<Answer<T>>
  }

  /** The processes of this machine, as they were a moment ago. */
  notice(all: readonly Seen[]): void {
    this.#runner.notice(all)
  }

  #hear(message: FromRunner): void {
    switch (message.type) {
      case 'failed':
        this.#asked?.reject(message.error)
        break
      case 'absent':
      case 'running':
      case 'over':
      case 'swept':
      case 'closed':
        if (this.#asked?.types.includes(message.type)) this.#asked.resolve(message)
        break
      default:
        this.#onNews(message)
    }
  }
}
