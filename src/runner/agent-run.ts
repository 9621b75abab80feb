import { existsSync } from 'node:fs'
import { AdapterFault, type Agent, type Knowledge } from '../agents/index.ts'
import { awaitsModel, Vitals } from '../domain/rules/vitals.ts'
import { effect } from '../platform/effects.ts'
import { fileOf, launchOf, newestLaunch, writeFiles } from '../platform/launch-folder.ts'
import { Conversation } from './conversation.ts'
import type { Job } from './jobs.ts'
import { ProcessTree } from './process-tree.ts'
import { type Seen, startsFrom, workOf } from './processes.ts'
import type { FromRunner, LaunchOrder, ToRunner } from './protocol.ts'
import { Talk } from './talk.ts'
import { Watch } from './watch.ts'

type Follow = Extract<ToRunner, { type: 'follow' }>

/** The agent of one session, and what this machine has for it. */
export interface RunnerOf {
  agent: Agent
  /** The session's folder. Each launch has its own folder in it. */
  folder: string
  mark: string
  worktree: string | null
  /** The environment of the processes that carry messages. */
  env: Record<string, string>
  knowledge: Knowledge
  /** The environment of this machine, which says where clients keep their files. */
  environment: Readonly<Record<string, string | undefined>>
}

/**
 * The runner half of a session: one agent from its launch, or from where an earlier server left it, to its exit.
 * `protocol.ts` has the messages to and from it. It decides nothing that must be remembered.
 */
export class AgentRun {
  readonly #of: RunnerOf
  readonly #tell: (message: FromRunner) => void
  readonly #tree: ProcessTree
  readonly #vitals = new Vitals()
  readonly #released = Promise.withResolvers<'released'>()
  #conversation: Conversation | null = null
  #talk: Talk | null = null
  #watch: Watch | null = null
  #isCaughtUp = false

  constructor(of: RunnerOf, tell: (message: FromRunner) => void) {
    const { mark, worktree, folder } = of
    this.#of = of
    this.#tell = tell
    const since = existsSync(folder) ? undefined : startsFrom()
    this.#tree = new ProcessTree({ mark, worktree, since, directory: () => newestLaunch(folder, 'setup') })
  }

  hear(message: ToRunner): void {
    switch (message.type) {
      case 'adopt':
        this.#try(this.#adopt(message.process))
        break
      case 'launch':
        this.#try(this.#launch(message.launch))
        break
      case 'follow':
        this.#try(this.#follow(this.#tree.job!, message))
        break
      case 'budget':
        if (this.#watch) this.#watch.budgetUsd = message.usd
        break
      case 'talk':
        if (this.#talk) this.#talk.waiting = message.waiting
        this.#goOn()
        break
      case 'nudge':
        this.#inBackground('messages', this.#talk?.nudge(message.id, message.text))
        break
      case 'stop':
        if (this.#tree.job) this.#inBackground('stop', this.#tree.stop(message.graceMs))
        break
      case 'sweep':
        this.#try(this.#tree.sweep().then(processes => this.#tell({ type: 'swept', processes })))
        break
      case 'close':
        this.#try(this.#close())
        break
      case 'release':
        this.#released.resolve('released')
    }
  }

  /** The processes of this machine, as they were a moment ago. */
  notice(all: readonly Seen[]): void {
    this.#tree.notice(all)
    const root = this.#tree.job?.root
    if (!root || !this.#watch) return
    const { digest, words, workedMs } = this.#watch
    const idleMs = this.#vitals.observe({
      ...{ at: performance.now(), ...words, ...workOf(root, all) },
      awaitsModel: awaitsModel(this.#of.agent.can.life, digest),
    })
    this.#tell({ type: 'alive', idleMs, workedMs })
  }

  async #adopt(process: { pid: number; started: string } | null): Promise<void> {
    const job = await this.#tree.adopt(launchOf(this.#of.folder, 'agent', process))
    if (!job) return this.#tell({ type: 'absent' })
    if (existsSync(fileOf(job.directory, 'dialogue'))) this.#converse(job.directory)
    this.#running(job, true)
  }

  async #launch({ files, driver, ...launch }: LaunchOrder): Promise<void> {
    await effect('launch.write', () => writeFiles(launch.directory, files))
    if (launch.stdin === 'fifo') {
      this.#converse(launch.directory)
      await this.#conversation?.writeDue()
    }
    this.#running(await this.#tree.start({ ...launch, effect: 'spawn.agent' }, driver), false)
  }

  #converse(directory: string): void {
    const { dialogue } = this.#of.agent
    if (!dialogue) return
    this.#conversation = new Conversation(dialogue, directory, this.#of.env)
    this.#talk = new Talk(this.#conversation, this.#tell)
  }

  #running({ directory, root, letGo }: Job, adopted: boolean): void {
    this.#tell({ type: 'running', directory, process: root, adopted, bound: letGo !== undefined })
  }

  async #follow(job: Job, { limits, workedMs, since }: Follow): Promise<void> {
    const { agent, knowledge, environment } = this.#of
    const watch = new Watch(
      job.directory,
      agent,
      {
        ...{ limits, knowledge, workedMs },
        account: { since, find: conversation => agent.ledger?.find(environment, conversation) },
      },
      {
        line: (text, stream) => this.#conversation?.read(text, stream),
        event: event => this.#talk?.take(event),
        read: () => this.#haveRead(watch),
        limit: limit => this.#tell({ type: 'limit', limit, digest: watch.digest }),
        misread: reason => this.#tell({ type: 'misread', reason }),
        fault: error => this.#tell({ type: 'fault', during: 'following', error }),
      },
    )
    this.#watch = watch
    try {
      await watch.catchUp()
      this.#isCaughtUp = true
      this.#haveRead(watch)
      const exit = await Promise.race([job.exited, this.#released.promise])
      if (exit === 'released') return
      const swept = await this.#tree.sweep()
      const digest = await watch.finish()
      this.#tell({ type: 'over', exit, digest, directory: job.directory, swept, fault: watch.fault })
    } finally {
      watch.close()
    }
  }

  #haveRead({ digest }: Watch): void {
    this.#goOn()
    this.#tell({ type: 'read', digest })
  }

  /** The state of a conversation is known only after all of it was read, so nothing is sent before. */
  #goOn(): void {
    const { job } = this.#tree
    if (this.#talk && job && this.#isCaughtUp) this.#inBackground('messages', this.#talk.goOn(job))
  }

  async #close(): Promise<void> {
    let fault: string | null = null
    try {
      await this.#talk?.close()
    } catch (error) {
      if (!(error instanceof AdapterFault)) throw error
      fault = error.message
    }
    this.#tell({ type: 'closed', fault })
  }

  #try(work: Promise<unknown>): void {
    work.catch(error => this.#tell({ type: 'failed', error }))
  }

  #inBackground(during: string, work: Promise<unknown> | undefined): void {
    work?.catch(error => {
      if (error instanceof AdapterFault) this.#tell({ type: 'misread', reason: error.message })
      else this.#tell({ type: 'fault', during, error })
    })
  }
}
