import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Answer, Dialogue, Image, Message, Stream } from '../agents/contract.ts'
import { fileOf } from '../platform/launch-folder.ts'
import { readPlain } from '../platform/plain-files.ts'
import { endInput, type Job } from './jobs.ts'
import { Outbox } from './messages.ts'
import type { Picture } from './protocol.ts'

/** It holds the prompt, which may be long. */
const DIALOGUE_BYTES = 16 * 1024 * 1024

/** The conversation with a running agent. It begins from its file, and reading the transcript brings it up to date. */
export class Conversation {
  readonly #dialogue: Dialogue
  readonly #outbox: Outbox
  readonly #directory: string
  #state: object
  #ended = false
  /** How many sent lines were read back. */
  #linesSent = 0

  constructor(dialogue: Dialogue, directory: string, env: Record<string, string>) {
    this.#dialogue = dialogue
    this.#directory = directory
    this.#outbox = new Outbox(directory, env)
    this.#state = JSON.parse(readPlain(fileOf(directory, 'dialogue'), DIALOGUE_BYTES) ?? '{}') as object
  }

  /**
   * Stores the first messages before the launch, so that a crash after it does not leave an agent without its prompt.
   */
  async writeDue(): Promise<void> {
    for (const message of this.#dialogue.due(this.#state)) await this.#outbox.write(message)
  }

  read(line: string, stream: Stream): void {
    if (stream === 'sent') this.#linesSent++
    this.#state = this.#dialogue.step(this.#state, line, stream)
  }

  /** Whether the protocol has something to send, or the client waits for nothing any more. */
  get isDue(): boolean {
    return !this.#ended && (this.#dialogue.isOver(this.#state) || this.#dialogue.due(this.#state).length > 0)
  }

  /** Sends what is due, and closes the client's input once nothing more will come. */
  async goOn(job: Job): Promise<void> {
    await this.writeDue()
    await this.#outbox.carry()
    // A message that was sent and not read back may have begun another turn.
    if (this.#ended || !this.#dialogue.isOver(this.#state) || this.#outbox.size > this.#linesSent) return
    this.#ended = true
    await endInput(job)
  }

  /** The client's input was closed. */
  get hasEnded(): boolean {
    return this.#ended
  }

  /** A person's message. Undefined: the client cannot take one now. */
  inWords(id: string, text: string, images: readonly Picture[] = []): Message | undefined {
    return this.#dialogue.say(this.#state, id, text, this.#asFiles(id, images))
  }

  /** Beside those of the prompt. Written once: a message is offered until the client can take it. */
  #asFiles(id: string, images: readonly Picture[]): Image[] {
    const folder = fileOf(this.#directory, 'images')
    if (images.length) mkdirSync(folder, { recursive: true, mode: 0o700 })
    return images.map(({ type, bytes }, index) => {
      const file = join(folder, `${id}-${index + 1}.${type.slice('image/'.length)}`)
      if (!existsSync(file)) {
        writeFileSync(`${file}.new`, bytes, { mode: 0o600 })
        renameSync(`${file}.new`, file)
      }
      return { type, file }
    })
  }

  /** A person's answer. Undefined: the client no longer asks. */
  inReply(askedAs: string, answer: Answer): Message | undefined {
    return this.#dialogue.answer?.(this.#state, askedAs, answer)
  }

  /** Whether a refusal carries words; see `Dialogue`. */
  get refusesInWords(): boolean {
    return this.#dialogue.refusesInWords === true
  }

  /** The message that interrupts the client. Undefined: the client does nothing now. */
  inStopping(id: string): Message | undefined {
    return this.#dialogue.interrupt?.(this.#state, id)
  }

  async send(message: Message): Promise<void> {
    await this.#outbox.write(message)
    await this.#outbox.carry()
  }
}
