import { join } from 'node:path'
import type { Answer, Dialogue, Message, Stream } from '../agents/contract.ts'
import { readPlain } from '../platform/launch-folder.ts'
import { endInput, type Job } from './jobs.ts'
import { Outbox } from './messages.ts'

export const DIALOGUE_FILE = 'dialogue.json'
/** It holds the prompt, which may be long. */
const DIALOGUE_BYTES = 16 * 1024 * 1024

/** What is said to an agent at work. It begins from its file and is brought up to date by reading the transcript. */
export class Conversation {
  readonly #dialogue: Dialogue
  readonly #outbox: Outbox
  #state: object
  #ended = false
  /** How much of what was said has been read back. */
  #linesSent = 0

  constructor(dialogue: Dialogue, directory: string, env: Record<string, string>) {
    this.#dialogue = dialogue
    this.#outbox = new Outbox(directory, env)
    this.#state = JSON.parse(readPlain(join(directory, DIALOGUE_FILE), DIALOGUE_BYTES) ?? '{}') as object
  }

  /** Written down before there is anyone to read it, so that a crash after the launch does not leave an agent without its prompt. */
  async writeDue(): Promise<void> {
    for (const message of this.#dialogue.due(this.#state)) await this.#outbox.write(message)
  }

  read(line: string, stream: Stream): void {
    if (stream === 'sent') this.#linesSent++
    this.#state = this.#dialogue.step(this.#state, line, stream)
  }

  /** Whether the protocol has something to say, or the client waits for nothing any more. */
  get isDue(): boolean {
    return !this.#ended && (this.#dialogue.isOver(this.#state) || this.#dialogue.due(this.#state).length > 0)
  }

  /** Says what is due, and lets the client read the end of its input once nothing more will come. */
  async goOn(job: Job): Promise<void> {
    await this.writeDue()
    await this.#outbox.carry()
    // What was said and not read back may have begun another turn.
    if (this.#ended || !this.#dialogue.isOver(this.#state) || this.#outbox.size > this.#linesSent) return
    this.#ended = true
    await endInput(job)
  }

  /** The client was told that nothing more comes. */
  get hasEnded(): boolean {
    return this.#ended
  }

  /** A person's words; undefined: the client cannot take any as it stands. */
  inWords(id: string, text: string): Message | undefined {
    return this.#dialogue.say(this.#state, id, text)
  }

  /** A person's answer; undefined: it is no longer asked. */
  inReply(askedAs: string, answer: Answer): Message | undefined {
    return this.#dialogue.answer?.(this.#state, askedAs, answer)
  }

  /** Whether the words of a refusal are in it; see `Dialogue`. */
  get refusesInWords(): boolean {
    return this.#dialogue.refusesInWords === true
  }

  /** Makes the client stop what it does; undefined: it is doing nothing now. */
  inStopping(id: string): Message | undefined {
    return this.#dialogue.interrupt?.(this.#state, id)
  }

  async send(message: Message): Promise<void> {
    await this.#outbox.write(message)
    await this.#outbox.carry()
  }
}
