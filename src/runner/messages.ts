import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Message } from '../agents/contract.ts'
import { effect } from '../platform/effects.ts'
import { fileOf } from '../platform/launch-folder.ts'
import { COURIER } from './jobs.ts'

const POLL_MS = 5
/** The digits of the number that begins the name of a message. */
const NUMBER_LENGTH = 6

/**
 * Messages to an agent: one file each in the session's directory, in the order of their names. A courier that outlives
 * the server carries each into the transcript and the fifo.
 */
export class Outbox {
  readonly #directory: string
  readonly #folder: string
  readonly #env: Record<string, string>
  #turn: Promise<void> = Promise.resolve()

  constructor(directory: string, env: Record<string, string>) {
    this.#directory = directory
    this.#folder = fileOf(directory, 'messages')
    this.#env = env
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
  }

  /** Stores a message. Doing it again is free, so after a crash it is simply stored once more. */
  async write(message: Message): Promise<void> {
    const written = this.#files()
    if (written.some(name => name.slice(NUMBER_LENGTH + 1) === message.id)) return
    const file = join(this.#folder, `${String(written.length + 1).padStart(NUMBER_LENGTH, '0')}-${message.id}`)
    if (message.files?.length) writeFileSync(`${file}.whole`, `${wholeLine(message)}\n`, { mode: 0o600 })
    writeFileSync(`${file}.new`, `${message.line}\n`, { mode: 0o600 })
    await effect('message.rename', () => renameSync(`${file}.new`, file))
  }

  /** Carries stored messages that were not sent yet, in order. Simultaneous callers take turns. */
  carry(): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      for (const name of this.#files()) await this.#carryOne(join(this.#folder, name))
    })
    return this.#turn
  }

  /**
   * Messages go one after another, so that two long ones never mix. An agent that does not read ends this by exiting.
   */
  async #carryOne(file: string): Promise<void> {
    if (existsSync(`${file}.delivered`)) return
    await effect('spawn.courier', () => {
      const courier = spawn('/bin/sh', [COURIER, file, this.#directory], {
        env: this.#env,
        detached: true,
        stdio: 'ignore',
      })
      courier.unref()
      return new Promise<void>((resolve, reject) => courier.once('spawn', resolve).once('error', reject))
    })
    while (!existsSync(`${file}.delivered`) && !existsSync(fileOf(this.#directory, 'exit'))) await pause(POLL_MS)
  }

  /** How many messages were stored so far. */
  get size(): number {
    return this.#files().length
  }

  #files(): string[] {
    return readdirSync(this.#folder)
      .filter(name => /^\d{6}-[^.]+$/.test(name))
      .sort()
  }
}

/** The line as the client gets it: paths of files have become their content. */
export function wholeLine({ line, files = [] }: Message): string {
  const contentOf = (value: unknown): unknown =>
    typeof value === 'string' && files.includes(value) ? readFileSync(value).toString('base64') : value
  return files.length ? JSON.stringify(JSON.parse(line, (_, value) => contentOf(value))) : line
}
