import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Message } from '../agents/contract.ts'
import { effect } from '../effects.ts'
import { COURIER } from './jobs.ts'

const POLL_MS = 5

/**
 * Messages to an agent: one file each in the session's directory, in the order of their names, each carried into the
 * transcript and the fifo by a courier that outlives the server.
 */
export class Outbox {
  readonly #directory: string
  readonly #folder: string
  readonly #env: Record<string, string>

  constructor(directory: string, env: Record<string, string>) {
    this.#directory = directory
    this.#folder = join(directory, 'messages')
    this.#env = env
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
  }

  /** Sending the same message again is free, so a crash in between is mended by saying it once more. */
  async send(message: Message): Promise<void> {
    const written = this.#files()
    const known = written.find(name => name.endsWith(`-${message.id}`))
    const file = join(this.#folder, known ?? `${String(written.length + 1).padStart(6, '0')}-${message.id}`)
    if (!known) {
      writeFileSync(`${file}.new`, `${message.line}\n`, { mode: 0o600 })
      await effect('message.rename', () => renameSync(`${file}.new`, file))
    }
    await this.#carry(file)
  }

  /** After a crash: what was written down and not carried yet is carried now, in order. */
  async resume(): Promise<void> {
    for (const name of this.#files()) await this.#carry(join(this.#folder, name))
  }

  /** One after another, so that two long messages never mix; an agent that does not read ends this by ending. */
  async #carry(file: string): Promise<void> {
    if (existsSync(`${file}.delivered`)) return
    await effect('spawn.courier', () => {
      const courier = spawn('/bin/sh', [COURIER, file, this.#directory], { env: this.#env, detached: true, stdio: 'ignore' })
      courier.unref()
      return new Promise<void>((resolve, reject) => courier.once('spawn', resolve).once('error', reject))
    })
    while (!existsSync(`${file}.delivered`) && !existsSync(join(this.#directory, 'exit'))) await pause(POLL_MS)
  }

  #files(): string[] {
    return readdirSync(this.#folder).filter(name => /^\d{6}-[^.]+$/.test(name)).sort()
  }
}
