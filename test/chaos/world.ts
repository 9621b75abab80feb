import type { ChildProcess } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { aRepository, type RepositoryOptions, type TestRepository } from '../../src/git/testkit.ts'
import type { MissionView } from '../../src/operations/views.ts'
import type { EffectName } from '../../src/platform/effects.ts'
import { aFleet, eventually, type TestFleet } from '../kit/fleet.ts'

export interface Point {
  name: EffectName
  moment: 'before' | 'after'
  /** Which occurrence it is. */
  nth: number
}

/** What happens to the server. */
export interface Harm {
  /** Where each server in turn is killed: at a point, or at `any <n>`, the nth effect of any kind. */
  kills?: readonly string[]
  /** A moment that the scenario defines. */
  moment?: string
  /** Kills it after this time, whatever it is doing. */
  afterMs?: number
}

const WITNESS = join(import.meta.dirname, 'witness.ts')
const MAX_TRIES = 200

/** A repository, a fleet whose server is killed and started again, and the log that its agents write. */
export class World {
  /** Projects whose own agent does the work, so that their prompts are no scripts. */
  readonly #withAgent = new Set<string>()
  readonly fleet: TestFleet
  readonly repo: TestRepository
  /** The log that agents, setup commands and checks write, outside the repository. */
  readonly log: string
  readonly faults: string[] = []
  kills = 0
  readonly #reached: string
  readonly #harm: Harm
  #up: Promise<unknown> = Promise.resolve()
  #over = false

  private constructor(fleet: TestFleet, repo: TestRepository, harm: Harm) {
    this.fleet = fleet
    this.repo = repo
    this.#harm = harm
    this.log = join(fleet.root, 'log')
    this.#reached = join(fleet.root, 'reached')
    for (const file of [this.log, this.#reached]) writeFileSync(file, '')
    mkdirSync(join(fleet.root, 'gates'))
  }

  static async make(
    options: { env?: Record<string, string>; repository?: RepositoryOptions },
    harm: Harm,
  ): Promise<World> {
    const fleet = await aFleet({ env: { FLEET_STOP_GRACE: '0', ...options.env } })
    return new World(fleet, await aRepository(options.repository), harm)
  }

  /** Starts the first server. Whenever one is killed the next one starts, until none is killed. */
  start(): Promise<unknown> {
    const { afterMs } = this.#harm
    if (afterMs !== undefined) setTimeout(() => this.#over || void this.fleet.kill(), afterMs)
    return this.#next()
  }

  #next(): Promise<unknown> {
    this.#up = this.#begin(this.#harm.kills?.[this.kills])
    this.#up.catch(error => this.faults.push(String(error)))
    return this.#up
  }

  async #begin(kill: string | undefined): Promise<void> {
    const watched = kill !== undefined || this.kills === 0
    const env = {
      CHAOS_LOG: this.log,
      CHAOS_GATE: this.gate('listen').file,
      CHAOS_REACHED: this.#reached,
      ...(kill && { CHAOS_KILL: kill }),
    }
    try {
      const { child } = await this.fleet.start({ node: watched ? ['--import', WITNESS] : [], env })
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => this.#listen(String(chunk)))
      if (child.signalCode) this.#killed(child)
      else child.once('exit', () => this.#killed(child))
    } catch (error) {
      if (!/ended with null/.test(String(error))) throw error
      this.kills++
      await this.#begin(this.#harm.kills?.[this.kills])
    }
  }

  #killed(child: ChildProcess): void {
    if (child.signalCode !== 'SIGKILL') return
    // It may die at its last step, when the result is already complete. That counts, but needs no other server.
    this.kills++
    if (!this.#over) void this.#next()
  }

  #listen(text: string): void {
    if (/met an error/.test(text)) this.faults.push(`${text.trim()}\n${this.#logged()}`)
  }

  #logged(): string {
    const file = join(this.fleet.root, 'home', 'logs', 'server.log')
    return existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter(line => line.includes('fault'))
          .join('\n')
      : ''
  }

  /** A moment that only the test knows. The server is killed here if that is the harm, and started again. */
  async moment(name: string): Promise<void> {
    if (this.#harm.moment !== name) return
    await this.#up
    const before = this.kills
    await this.fleet.kill()
    await eventually('the next server', () => this.kills > before)
    await this.#up
  }

  /** Stops killing and starting servers. */
  async end(): Promise<void> {
    await this.#up.catch(() => {})
    this.#over = true
    await this.fleet.stop()
  }

  async remove(): Promise<void> {
    this.#over = true
    await this.#up.catch(() => {})
    await this.fleet.remove()
    await this.repo.remove()
  }

  /** Every point that was passed, in order. */
  reached(): Point[] {
    return readFileSync(this.#reached, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map(line => {
        const [name, moment, nth] = line.split(' ') as [EffectName, Point['moment'], string]
        return { name, moment, nth: Number(nth) }
      })
  }

  /** Calls the server. A request that was cut off by a kill is sent again with the same key. */
  async ask<T = MissionView>(method: string, path: string, body?: object): Promise<T> {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      await this.#up
      const answer = await this.fleet
        .http(path, { method, headers, body: /^P/.test(method) ? JSON.stringify(body ?? {}) : undefined })
        .then(
          async response => ({ status: response.status, text: await response.text() }),
          () => undefined,
        )
      if (answer && answer.status < 300) return JSON.parse(answer.text) as T
      // It was deleted by the request that got no answer.
      if (answer?.status === 404 && method === 'DELETE' && tries > 1) return {} as T
      if (answer) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
      await pause(20)
    }
    throw new Error(`${method} ${path} was never answered`)
  }

  mission(project: { id: string }, title: string, script: string, settings: object = {}): Promise<MissionView> {
    return this.ask('POST', '/api/missions', {
      project_id: project.id,
      title,
      detailed_prompt: script,
      auto_dispatch: true,
      ...(!this.#withAgent.has(project.id) && { agent: 'shell' }),
      ...settings,
    })
  }

  /** Lands the candidate that a person would see. */
  async land(id: string): Promise<void> {
    const { candidate } = await this.ask<{ candidate: { commit: string } }>('GET', `/api/missions/${id}/review`)
    await this.ask('POST', `/api/missions/${id}/land`, { expected: candidate.commit })
  }

  async project(settings: { agent?: string; [field: string]: unknown } = {}): Promise<{ id: string }> {
    const fields = { name: 'chaos', path: this.repo.path, landing: 'auto', ...settings }
    const project = await this.ask<{ id: string }>('POST', '/api/projects', fields)
    if (settings.agent) this.#withAgent.add(project.id)
    return project
  }

  gate(name: string): { file: string; wait: string; open(): void } {
    const file = join(this.fleet.root, 'gates', name)
    return { file, wait: `until [ -e '${file}' ]; do sleep 0.02; done`, open: () => appendFileSync(file, '') }
  }

  /** A shell mission that logs its start and end and counts lines in between. */
  script(work: string): string {
    return [
      `echo "start $FLEET_SESSION $$ $FLEET_TASK_ID" >> '${this.log}'`,
      'for i in 1 2 3 4 5 6 7 8 9 10; do echo "line $i"; done',
      work,
      'sleep 0.1',
      'for i in 11 12 13 14 15 16 17 18 19 20; do echo "line $i"; done',
      `echo "end $FLEET_SESSION $$ $FLEET_TASK_ID" >> '${this.log}'`,
    ].join('\n')
  }

  /** A setup command or check that logs when, where and on which commit it runs. */
  command(kind: 'setup' | 'check', work: string): string {
    const note = (word: string) => `echo "${word} ${kind}:$PWD@$(git rev-parse HEAD) $$" >> '${this.log}'`
    return `${note('start')}; sleep 0.1; ${work}; code=$?; ${note('end')}; exit $code`
  }
}
