import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { AdapterFault, type Agent, type Digest, emptyDigest } from '../../agents/index.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { MAX_HAND_OVERS } from '../../domain/rules/ending.ts'
import { about } from '../../domain/rules/life.ts'
import { awaitsModel, Vitals } from '../../domain/rules/vitals.ts'
import { launchOf, newestLaunch } from '../../platform/launch-folder.ts'
import { Conversation, DIALOGUE_FILE } from '../../runner/conversation.ts'
import { startDriven } from '../../runner/driven.ts'
import { adoptJob, type Job, startJob } from '../../runner/jobs.ts'
import { type Belonging, descendants, type Identity, type Seen, workOf } from '../../runner/processes.ts'
import { stopTree, sweep } from '../../runner/stopping.ts'
import { hasDaysBudget } from '../dispatch/holds.ts'
import { noteWindows } from '../dispatch/windows.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { current, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { type Stop, Watch } from '../watching.ts'
import { knowledgeFor, unheldBudget } from './budget-rules.ts'
import { endSession, type Over } from './ending.ts'
import { commandEnvironment, limitsOf, markOf, prepareLaunch, promptOf } from './launch.ts'
import { Attending } from './message-delivery.ts'
import { OutOfTime, preparePlace, setUp } from './prepare.ts'
import { afterTry } from './retries.ts'

const USAGE_EVERY_MS = 5000
/** Told to whoever watches; more often would bury what else happened. */
const USAGE_TOLD_EVERY_MS = 15_000
const SAFE_MOMENT_MS = 50
/** A client that tries again without a pause is not told of each time; the next look finds what this one left out. */
const RETRY_TOLD_EVERY_MS = 500

const NOTHING_YET = { digest: emptyDigest(), words: { said: 0, printed: 0 } }
const NUDGE = 'You have been silent for long. Go on, or end your turn and say what keeps you from it.'

const CUT_OFF: Stop = {
  outcome: 'lost',
  reason: 'The server it was driven from through the SDK was ended.',
}

/** Thrown through the steps of a start when the session is to end before its agent ran. */
class Stopped extends Error {}

async function faultIn(work: Promise<unknown> | undefined): Promise<string | null> {
  try {
    await work
    return null
  } catch (error) {
    if (error instanceof AdapterFault) return error.message
    throw error
  }
}

/** One session from its start, or from where an earlier server left it, to its end. */
export class LiveSession {
  readonly id: string
  readonly projectId: string
  readonly missionId: string
  readonly agentName: string
  readonly #fleet: Fleet
  readonly #agent: Agent
  readonly #url: string
  readonly #onFault: (what: string, error: unknown) => void
  readonly #onSpent: () => void
  readonly #known = new Map<number, string>()
  readonly #stopSignal = new AbortController()
  #session: Session
  #job: Job | null = null
  #conversation: Conversation | null = null
  #attending: Attending | null = null
  #usageSaved = -Infinity
  #usageTold = -Infinity
  #windowsNoted: Digest['windows'] = emptyDigest().windows
  #retryTold = -Infinity
  #stopping: Promise<unknown> | null = null
  #watch: Watch | null = null
  readonly #vitals = new Vitals()
  #stuck = false
  readonly #released = Promise.withResolvers<'released'>()

  constructor(
    fleet: Fleet,
    session: Session,
    { url, onFault, onSpent }: { url: string; onFault: (what: string, error: unknown) => void; onSpent: () => void },
  ) {
    this.#onFault = onFault
    this.#onSpent = onSpent
    this.#fleet = fleet
    this.#session = session
    this.#url = url
    this.#agent = fleet.agents.driven(session)
    this.id = session.id
    this.projectId = session.project_id
    this.missionId = session.mission_id
    this.agentName = session.agent
  }

  /** Whether it can be stopped and gone on with later. */
  get canPark(): boolean {
    return this.#agent.can.resume
  }

  get slot(): { project_id: string; agent: string } {
    return { project_id: this.projectId, agent: this.agentName }
  }

  /** Resolves once the end is committed. Taking up a session is running it again: every step finds what is already done. */
  async run(): Promise<void> {
    const { value: mission } = await current(this.#fleet, 'missions', this.missionId)
    const { value: project } = await current(this.#fleet, 'projects', this.projectId)
    let over: Over | 'released'
    try {
      this.#job = (await this.#adopt()) ?? (await this.#start(mission, project))
      over = await this.#follow(this.#job, mission, project)
    } catch (error) {
      // With an agent at work it is our own fault, such as a full disk: the session is taken up again, not ended.
      if (this.#job) throw error
      over = await this.#neverRan(error)
    }
    if (over !== 'released') await endSession(this.#fleet, this.#agent, this.id, over)
  }

  /** Ends it from outside. The cause is committed before the first signal. */
  async stop(stop: Stop): Promise<void> {
    if (!this.#session.stopping) {
      await this.#update('commit.session-stopping', { stopping: stop })
      this.#stopSignal.abort()
    }
    if (this.#job) this.#stopping ??= stopTree(() => this.#belonging(), this.#fleet.settings.graceSeconds * 1000)
    await this.#stopping
  }

  get isStopping(): boolean {
    return this.#session.stopping !== null
  }

  /** Stops it for a person who goes on themselves: between two tools, or after a while in the middle of one. */
  async handOver(waitSeconds: number): Promise<void> {
    const end = performance.now() + waitSeconds * 1000
    const isBusy = () => !this.#watch?.digest.conversation || this.#watch.digest.openTools > 0
    while (isBusy() && performance.now() < end) await pause(SAFE_MOMENT_MS)
    const { taken_over } = (await current(this.#fleet, 'missions', this.missionId)).value
    if (!taken_over || taken_over.next) return
    const how = isBusy() && waitSeconds > 0 ? `; after ${waitSeconds} seconds it was still in the middle of a tool` : ''
    await this.stop({ outcome: 'parked', reason: `A person takes it over${how}.` })
  }

  /** Its mission may spend more or less than when it was started. */
  async relimit(): Promise<void> {
    const { value: mission } = await current(this.#fleet, 'missions', this.missionId)
    const { value: project } = await current(this.#fleet, 'projects', this.projectId)
    if (this.#watch) this.#watch.budget = (await limitsOf(this.#fleet, mission, project)).budget
  }

  /** Someone may have said or answered something. */
  attend(): void {
    if (this.#attending) this.#inBackground('talk', this.#attending.attend())
  }

  /** The server goes; the agent stays, if it can do without it. */
  release(): void {
    if (this.#job?.letGo) this.#inBackground('stop', this.stop({ ...CUT_OFF, uncounted: true }))
    else this.#released.resolve('released')
  }

  /** Remembers its descendants, so that they are found even when they are cut off from their parents. */
  notice(all: readonly Seen[]): void {
    if (!this.#job?.root) return
    for (const [pid, started] of descendants(this.#job.root, all)) this.#known.set(pid, started)
    this.#inBackground('vitals', this.#judge(this.#job.root, all))
    if (this.#watch) this.#inBackground('retries', this.#noteRetry(this.#watch))
  }

  /** Whether it is stuck, by several signs; what is done then is for the settings to say. */
  async #judge(root: Identity, all: readonly Seen[]): Promise<void> {
    const { stallAfter } = this.#fleet.settings
    const at = performance.now()
    const { digest, words } = this.#watch ?? NOTHING_YET
    const idle = this.#vitals.observe({
      ...{ at, ...words, ...workOf(root, all) },
      awaitsModel: awaitsModel(this.#agent.can.life, digest),
    })
    // It says itself when it goes on.
    if ((this.#session.retrying?.next_at ?? '') > this.#fleet.now()) this.#vitals.forgive(at)
    else if (idle < stallAfter * 1000) this.#stuck = false
    else if (!this.#stuck && !this.#session.stopping) {
      const { asking } = (await current(this.#fleet, 'missions', this.missionId)).value
      if (asking) return this.#vitals.forgive(at)
      this.#stuck = true
      await this.#unstick(`It has shown no sign of life for ${stallAfter} seconds.`)
    }
  }

  async #unstick(reason: string): Promise<void> {
    const policy = this.#fleet.settings.stallPolicy
    await this.#update('commit.session-noted', {}, 'stalled', reason)
    if (policy === 'restart') await this.stop({ outcome: 'stalled', reason })
    if (policy === 'stop') await this.stop({ outcome: 'failed', reason })
    const words = policy === 'nudge' ? this.#conversation?.inWords(`nudge-${this.id}-${Date.now()}`, NUDGE) : undefined
    if (words) await this.#conversation?.send(words)
  }

  async #adopt(): Promise<Job | undefined> {
    const { pid, process_started: started } = this.#session
    const launched = launchOf(this.#fleet.home.session(this.id), 'agent', pid && started ? { pid, started } : null)
    const found = launched ? await adoptJob(launched) : 'never started'
    if (found === 'never started') return undefined
    if (this.#agent.can.adopted) await this.#running(found, 'adopted')
    // Whoever spoke with it is gone, and it cannot be spoken with anew: what is left of it is ended in #follow.
    else if (!this.#session.stopping) await this.#update('commit.session-stopping', { stopping: CUT_OFF })
    return found
  }

  async #start(mission: Mission, project: Project): Promise<Job> {
    const place = await preparePlace(this.#fleet, this.#session, mission, project)
    this.#heedStop()
    await setUp(this.#fleet, project, {
      session: this.#session,
      mission,
      directory: this.#fleet.home.session(this.id),
      mark: markOf(this.#fleet, this.id),
      signal: this.#stopSignal.signal,
    }).finally(() => this.#heedStop())
    const { directory, env, launch } = await prepareLaunch(
      this.#fleet,
      this.#agent,
      this.#session,
      mission,
      project,
      place,
      this.#url,
    )
    if (this.#agent.dialogue && launch.stdin === 'fifo') {
      this.#conversation = new Conversation(this.#agent.dialogue, directory, env)
      await this.#conversation.writeDue()
    }
    const { argv, stdin, driver } = launch
    const maxBytes = this.#fleet.settings.transcriptLimit
    const spec = { directory, env, argv, cwd: place.workingDirectory, stdin, maxBytes, effect: 'spawn.agent' as const }
    const job = await (driver ? startDriven(spec, driver) : startJob(spec))
    this.#job = job
    await this.#running(job, 'session_running')
    return job
  }

  #heedStop(): void {
    if (this.#session.stopping) throw new Stopped(this.#session.stopping.reason)
  }

  async #running(job: Job, event: 'session_running' | 'adopted'): Promise<void> {
    const prompt = this.#session.prompt ?? (await this.#fleet.blobs.keep(promptOf(job.directory)))
    await this.#update(
      'commit.session-running',
      {
        status: 'running',
        started_at: this.#session.started_at ?? this.#fleet.now(),
        pid: job.root?.pid ?? null,
        process_started: job.root?.started ?? null,
        prompt,
      },
      event,
    )
  }

  async #follow(job: Job, mission: Mission, project: Project): Promise<Over | 'released'> {
    const limits = await limitsOf(this.#fleet, mission, project)
    const worked = this.#session.started_at ? Date.parse(this.#fleet.now()) - Date.parse(this.#session.started_at) : 0
    this.#conversation ??= this.#takeUpConversation(job, project)
    if (this.#conversation) this.#attending = new Attending(this.#fleet, this.#session, this.#conversation)
    const watch = new Watch(
      job.directory,
      this.#agent,
      {
        hasDaysBudget: hasDaysBudget(this.#fleet, project),
        limits: {
          ...limits,
          transcriptBytes: this.#fleet.settings.transcriptLimit,
          mayHandOver: mission.hand_overs < MAX_HAND_OVERS,
          unheldBudget: digest =>
            limits.ownBudgetUsd === null ? null : unheldBudget(this.#fleet, this.#agent, this.#session.model, digest),
        },
        knowledge: knowledgeFor(this.#fleet, this.#agent, this.#session.model),
        workedMs: worked,
        account: {
          since: this.#session.created_at,
          find: conversation => this.#agent.ledger?.find(this.#fleet.environment, conversation),
        },
      },
      {
        line: (text, stream) => this.#conversation?.read(text, stream),
        event: event => this.#attending && this.#inBackground('talk', this.#attending.take(event)),
        read: () => this.#goOn(job, watch),
        limit: stop => this.#inBackground('stop', this.stop(stop)),
        fault: error => this.#onFault(`following session ${this.id}`, error),
      },
    )
    this.#watch = watch
    const usage = setInterval(() => this.#inBackground('usage', this.#account(watch)), USAGE_EVERY_MS)
    try {
      await watch.catchUp()
      this.#goOn(job, watch)
      this.attend()
      // Asked for while nobody was there to do it, or in the moment of the launch.
      if (this.#session.stopping) this.#inBackground('stop', this.stop(this.#session.stopping))
      const exit = await Promise.race([job.exited, this.#released.promise])
      if (exit === 'released') return exit
      await this.#stopping
      const swept = await sweep(() => this.#belonging())
      const digest = await watch.finish()
      // What it has said it heard at the very end counts as heard.
      const fault = watch.fault ?? (await faultIn(this.#attending?.attend()))
      return { exit, digest, directory: job.directory, swept, fault, spentBudget: watch.spentBudget ?? null }
    } finally {
      clearInterval(usage)
      watch.close()
    }
  }

  #takeUpConversation(job: Job, project: Project): Conversation | null {
    if (!this.#agent.dialogue || !existsSync(join(job.directory, DIALOGUE_FILE))) return null
    return new Conversation(this.#agent.dialogue, job.directory, {
      ...commandEnvironment(this.#fleet, project),
      FLEET_SESSION: markOf(this.#fleet, this.id),
    })
  }

  #inBackground(what: string, work: Promise<unknown>): void {
    work.catch(error => {
      if (error instanceof AdapterFault && !this.isStopping) this.#inBackground('stop', this.#misread(error))
      else this.#onFault(`${what} of session ${this.id}`, error)
    })
  }

  async #misread({ message }: AdapterFault): Promise<void> {
    await this.stop({ outcome: 'failed', reason: message })
  }

  #goOn(job: Job, watch: Watch): void {
    this.#inBackground('messages', this.#speak(job))
    this.#inBackground('usage', this.#saveUsage(watch))
    this.#inBackground('provider windows', this.#noteWindows(watch))
    this.#inBackground('retries', this.#noteRetry(watch))
  }

  async #noteWindows({ digest: { windows } }: Watch): Promise<void> {
    if (windows === this.#windowsNoted) return
    this.#windowsNoted = windows
    await noteWindows(this.#fleet, this.#agent.provider, windows)
  }

  async #noteRetry({ digest }: Watch): Promise<void> {
    if (this.isStopping || performance.now() - this.#retryTold < RETRY_TOLD_EVERY_MS) return
    const { parkAfter } = this.#fleet.settings
    const next = afterTry(this.#agent, this.#session.retrying, digest.retry, { now: this.#fleet.now(), parkAfter })
    if (!next) return
    this.#retryTold = performance.now()
    if ('stop' in next) return this.stop(next.stop)
    const { retrying } = next
    await this.#update('commit.session-noted', { retrying }, retrying ? 'retrying' : 'went_on', retrying?.why)
  }

  /** People first: a client that listens only between its turns is let go when the protocol has nothing more to say. */
  async #speak(job: Job): Promise<void> {
    if (this.#attending?.isWaiting) await this.#attending.attend()
    if (this.#conversation?.isDue) await this.#conversation.goOn(job)
  }

  /** What others spend meanwhile is taken from the same day's budget. */
  async #account(watch: Watch): Promise<void> {
    await this.#saveUsage(watch)
    const { value: project } = await current(this.#fleet, 'projects', this.projectId)
    if (hasDaysBudget(this.#fleet, project)) await this.relimit()
  }

  /** The first time at once, then every few seconds: a store is not a meter. Money of which others draw too is told at once. */
  async #saveUsage(watch: Watch): Promise<void> {
    const { usage, context, conversation, model } = watch.digest
    const isShared = watch.hasDaysBudget && usage.cost_usd !== this.#session.usage.cost_usd
    if (
      (!isShared && performance.now() - this.#usageSaved < USAGE_EVERY_MS) ||
      JSON.stringify([usage, context]) === JSON.stringify([this.#session.usage, this.#session.context])
    )
      return
    this.#usageSaved = performance.now()
    const isTold = this.#usageSaved - this.#usageTold >= USAGE_TOLD_EVERY_MS
    if (isTold) this.#usageTold = this.#usageSaved
    const noted = { usage, context, conversation, used_model: model }
    await this.#update('commit.session-noted', noted, isTold ? 'usage' : undefined)
    if (isShared) this.#onSpent()
  }

  #belonging(): Belonging {
    return {
      mark: markOf(this.#fleet, this.id),
      root: this.#job?.root ?? null,
      worktree: this.#session.worktree,
      directory: this.#job?.directory ?? newestLaunch(this.#fleet.home.session(this.id), 'setup') ?? null,
      known: this.#known,
    }
  }

  /** It ended before its agent ran: the reason is the session's, and goes where an agent's own words would. */
  async #neverRan(error: unknown): Promise<Over> {
    if (!(error instanceof Stopped) && !this.#session.stopping) {
      await this.#update(
        'commit.session-stopping',
        {
          stopping: {
            outcome: error instanceof OutOfTime ? 'limited' : 'failed',
            reason: sentence(error).slice(0, 4000),
          },
        },
        'dispatch_failed',
      )
    }
    const swept = await sweep(() => this.#belonging())
    const directory = newestLaunch(this.#fleet.home.session(this.id), 'agent') ?? this.#fleet.home.session(this.id)
    return { exit: { code: null }, digest: emptyDigest(), directory, swept, fault: null, spentBudget: null }
  }

  async #update(
    name: 'commit.session-stopping' | 'commit.session-running' | 'commit.session-noted',
    change: Partial<Session>,
    event?: 'session_running' | 'adopted' | 'dispatch_failed' | 'stalled' | 'usage' | 'retrying' | 'went_on',
    cause = change.stopping?.reason,
  ): Promise<void> {
    await retryOnConflict(async () => {
      const { value, version } = await current(this.#fleet, 'sessions', this.id)
      if (value.status === 'ended') return
      const next = { ...value, ...change }
      const by = { actor: 'fleet', now: this.#fleet.now() }
      const told = event
        ? [
            about({ id: next.mission_id, project_id: next.project_id }, event, by, {
              session_id: this.id,
              cause,
              data: event === 'usage' ? { ...next.usage } : { ...next.retrying, pid: next.pid },
            }),
          ]
        : []
      await this.#fleet.commit(name, { changes: [put('sessions', next, version)], events: told })
      this.#session = next
    })
  }
}
