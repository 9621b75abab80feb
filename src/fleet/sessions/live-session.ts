import { setTimeout as pause } from 'node:timers/promises'
import { type Agent, type Digest, emptyDigest } from '../../agents/index.ts'
import { isOfTheStore } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { MAX_HAND_OVERS } from '../../domain/rules/ending.ts'
import { newestLaunch } from '../../platform/launch-folder.ts'
import type { Seen } from '../../runner/processes.ts'
import type { Limits, PassedLimit, ToRunner } from '../../runner/protocol.ts'
import { leftOf } from '../dispatch/budgets.ts'
import { hasDaysBudget } from '../dispatch/holds.ts'
import type { Fleet } from '../fleet.ts'
import { MessageDelivery } from '../questions/message-delivery.ts'
import { current } from '../records.ts'
import { sentence } from '../sentences.ts'
import { PromptMail } from '../teams/handing.ts'
import { knowledgeFor, unheldBudget } from './budget-rules.ts'
import { endSession, type Over } from './ending.ts'
import { commandEnvironment, markOf } from './environment.ts'
import { limitsOf, prepareLaunch, promptOf, type SessionLimits } from './launch.ts'
import { USAGE_EVERY_MS } from './metering.ts'
import { Observations } from './observations.ts'
import { prepareFolder } from './prepare.ts'
import { SessionRecord, Superseded } from './record.ts'
import { type Answer, type News, RunnerLink } from './runner-link.ts'
import { OutOfTime, setUp } from './set-up.ts'
import { limited, type Stop, spentBudget, stopAt } from './stops.ts'

const SAFE_MOMENT_MS = 50
const NOTHING_SPENT = { spentBudget: null, workedSeconds: 0 }

const CUT_OFF: Stop = {
  outcome: 'lost',
  reason: 'The server it was driven from through the SDK was ended.',
}

type Running = Answer<'running'>

/** Thrown through the steps of a start when the session is to end before its agent ran. */
class Stopped extends Error {}

export interface SessionAround {
  url: string
  onFault(what: string, error: unknown): void
  /** Money was spent that others share. */
  onSpent(): void
}

/**
 * The records half of a session: it turns what the runner says into commits, and commits into messages to the runner
 * (`runner/protocol.ts`). It runs from the session's start, or from where an earlier server left it, to its end.
 */
export class LiveSession {
  readonly id: string
  readonly projectId: string
  readonly missionId: string
  readonly agentName: string
  readonly #fleet: Fleet
  readonly #agent: Agent
  readonly #around: SessionAround
  readonly #record: SessionRecord
  readonly #stopSignal = new AbortController()
  readonly #released = Promise.withResolvers<'released'>()
  readonly #delivery: MessageDelivery
  readonly #observations: Observations
  readonly #mail: PromptMail
  #runner: RunnerLink | null = null
  #running: Running | null = null
  #limits: SessionLimits | null = null
  #mayHandOver = false
  #digest: Digest = emptyDigest()

  constructor(fleet: Fleet, session: Session, around: SessionAround) {
    this.#fleet = fleet
    this.#around = around
    this.#record = new SessionRecord(fleet, session)
    this.#agent = fleet.agents.driven(session)
    this.#delivery = new MessageDelivery(fleet, session, this.#agent, waiting => this.#tell({ type: 'talk', waiting }))
    this.#observations = new Observations(fleet, this.#agent, this.#record, {
      stop: stop => this.stop(stop),
      nudge: text => this.#tell({ type: 'nudge', id: `nudge-${this.id}-${Date.now()}`, text }),
      onSpent: around.onSpent,
    })
    this.#mail = new PromptMail(fleet, session)
    this.#released.promise.catch(() => {})
    this.id = session.id
    this.projectId = session.project_id
    this.missionId = session.mission_id
    this.agentName = session.agent
  }

  /** Whether it can be stopped and resumed later. */
  get canPark(): boolean {
    return this.#agent.can.resume
  }

  get slot(): { project_id: string; agent: string } {
    return { project_id: this.projectId, agent: this.agentName }
  }

  /**
   * Resolves once the end is committed. To take up a session, it is run again: every step finds what is already done.
   */
  async run(): Promise<void> {
    try {
      await this.#toItsEnd()
    } catch (error) {
      if (!(error instanceof Superseded)) throw error
      // It belongs to another host now: what is left of it here ends, and nothing is written about it.
      this.#stopSignal.abort()
      await this.#runner?.ask({ type: 'sweep' }, 'swept')
    } finally {
      this.#tell({ type: 'release' })
    }
  }

  /** Its record was changed by somebody else. */
  heed(session: Session): void {
    if (session.generation !== this.#record.held.generation)
      this.#released.reject(new Superseded(this.#record.held, session))
    // The health of its member demands it.
    else if (session.stopping && !this.isStopping) this.#inBackground('stop', this.stop(session.stopping))
  }

  async #toItsEnd(): Promise<void> {
    const { mission, project } = await this.#work()
    this.#runner = this.#makeRunner(project)
    let over: Over | 'released'
    try {
      this.#running = (await this.#adopt()) ?? (await this.#start(mission, project))
      over = await this.#follow(mission, project)
    } catch (error) {
      // If an agent runs, the error is our own, such as a full disk: the session is taken up again, not ended.
      if (this.#running || error instanceof Superseded || isOfTheStore(error)) throw error
      over = await this.#neverRan(error)
    }
    if (over !== 'released') await endSession(this.#fleet, this.#agent, this.#record.held, over)
  }

  /** Ends it from outside. The cause is committed before the first signal. */
  async stop(stop: Stop): Promise<void> {
    if (!this.#record.session.stopping) {
      await this.#record.update('commit.session-stopping', { stopping: stop })
      this.#stopSignal.abort()
    }
    this.#tell({ type: 'stop', graceMs: this.#fleet.settings.graceSeconds * 1000 })
  }

  get isStopping(): boolean {
    return this.#record.session.stopping !== null
  }

  /** Stops it for a person who goes on themselves: between two tools, or after a while in the middle of one. */
  async handOver(waitSeconds: number): Promise<void> {
    const end = performance.now() + waitSeconds * 1000
    const isBusy = () => !this.#digest.conversation || this.#digest.openTools > 0
    while (isBusy() && performance.now() < end) await pause(SAFE_MOMENT_MS)
    const { taken_over } = (await current(this.#fleet, 'missions', this.missionId)).value
    if (!taken_over || taken_over.next) return
    const how = isBusy() && waitSeconds > 0 ? `; after ${waitSeconds} seconds it was still in the middle of a tool` : ''
    await this.stop({ outcome: 'parked', reason: `A person takes it over${how}.` })
  }

  /** The budget of its mission may have changed since it was started. */
  async relimit(): Promise<void> {
    if (!this.#limits) return
    const { mission, project } = await this.#work()
    this.#limits = await limitsOf(this.#fleet, mission, project)
    this.#tell({ type: 'budget', usd: this.#limits.budget && leftOf(this.#limits.budget) })
  }

  /** A message or an answer may wait for it. */
  attend(): void {
    if (this.#running) this.#inBackground('talk', this.#delivery.attend())
  }

  /** The server stops. The agent goes on, if it can do without the server. */
  release(): void {
    if (this.#running?.bound) this.#inBackground('stop', this.stop({ ...CUT_OFF, uncounted: true }))
    else this.#released.resolve('released')
  }

  /** The processes of this machine, as they were a moment ago. */
  notice(all: readonly Seen[]): void {
    this.#runner?.notice(all)
  }

  #makeRunner(project: Project): RunnerLink {
    const mark = markOf(this.#fleet, this.id)
    return new RunnerLink(
      {
        agent: this.#agent,
        folder: this.#fleet.home.session(this.id),
        mark,
        worktree: this.#record.session.worktree,
        env: { ...commandEnvironment(this.#fleet, project), FLEET_SESSION: mark },
        knowledge: knowledgeFor(this.#fleet, this.#agent, this.#record.session.model),
        environment: this.#fleet.environment,
      },
      message => this.#hear(message),
    )
  }

  #tell(message: ToRunner): void {
    this.#runner?.tell(message)
  }

  #hear(message: News): void {
    switch (message.type) {
      case 'read':
        this.#digest = message.digest
        this.#haveRead(message.digest)
        break
      case 'asked':
        this.#inBackground('talk', this.#delivery.raise(message.question))
        break
      case 'heard':
        this.#inBackground('talk', this.#delivery.heard(message.id))
        break
      case 'sent':
        this.#inBackground('talk', this.#delivery.sent(message.id))
        break
      case 'limit':
        this.#inBackground('stop', this.stop(this.#stopAt(message.limit, message.digest)))
        break
      case 'misread':
        if (!this.isStopping) this.#inBackground('stop', this.stop({ outcome: 'failed', reason: message.reason }))
        break
      case 'alive':
        this.#inBackground('vitals', this.#observations.alive(message, this.#digest))
        break
      case 'fault':
        this.#around.onFault(`${message.during} of session ${this.id}`, message.error)
    }
  }

  async #work(): Promise<{ mission: Mission; project: Project }> {
    const [mission, project] = await Promise.all([
      current(this.#fleet, 'missions', this.missionId),
      current(this.#fleet, 'projects', this.projectId),
    ])
    return { mission: mission.value, project: project.value }
  }

  async #adopt(): Promise<Running | undefined> {
    const { pid, process_started: started } = this.#record.session
    const found = await this.#runner!.ask(
      { type: 'adopt', process: pid && started ? { pid, started } : null },
      ...(['running', 'absent'] as const),
    )
    if (found.type === 'absent') return undefined
    this.#running = found
    if (this.#agent.can.adopted) await this.#noteRunning(found)
    // The process that talked to it is gone, and nobody else can talk to it: #follow ends what is left.
    else if (!this.#record.session.stopping) await this.#record.update('commit.session-stopping', { stopping: CUT_OFF })
    return found
  }

  async #start(mission: Mission, project: Project): Promise<Running> {
    const place = await prepareFolder(this.#fleet, this.#record.session, mission, project)
    this.#heedStop()
    const setup = await setUp(this.#fleet, project, {
      session: this.#record.session,
      mission,
      directory: this.#fleet.home.session(this.id),
      mark: markOf(this.#fleet, this.id),
      signal: this.#stopSignal.signal,
    }).finally(() => this.#heedStop())
    const order = [this.#agent, this.#record.session, mission, project, place, this.#around.url] as const
    const launch = await prepareLaunch(this.#fleet, ...order)
    const running = await this.#runner!.ask({ type: 'launch', launch }, 'running')
    this.#running = running
    await this.#noteRunning(running, setup === 'skipped')
    return running
  }

  #heedStop(): void {
    if (this.#record.session.stopping) throw new Stopped(this.#record.session.stopping.reason)
  }

  async #noteRunning({ directory, process, adopted }: Running, setupSkipped?: boolean): Promise<void> {
    const prompt = this.#record.session.prompt ?? (await this.#fleet.blobs.keep(promptOf(directory)))
    await this.#record.update(
      'commit.session-running',
      {
        status: 'running',
        started_at: this.#record.session.started_at ?? this.#fleet.now(),
        pid: process?.pid ?? null,
        process_started: process?.started ?? null,
        prompt,
        ...(setupSkipped && { setup_skipped: true }),
        host: this.#fleet.home.host,
        // An adopted agent keeps its token. A new start makes older tokens invalid.
        ...(!adopted && { tokens_from: this.#record.held.generation }),
      },
      { event: adopted ? 'adopted' : 'session_running' },
    )
  }

  async #follow(mission: Mission, project: Project): Promise<Over | 'released'> {
    this.#limits = await limitsOf(this.#fleet, mission, project)
    this.#mayHandOver = mission.hand_overs < MAX_HAND_OVERS
    this.#observations.sharesMoney = hasDaysBudget(this.#fleet, project)
    const metering = setInterval(() => this.#inBackground('usage', this.#account()), USAGE_EVERY_MS)
    try {
      const over = this.#runner!.ask(
        {
          type: 'follow',
          limits: this.#plainLimits(this.#limits),
          workedMs: this.#record.session.worked_seconds * 1000,
          since: this.#record.session.created_at,
        },
        'over',
      )
      this.attend()
      // A stop may have been requested while no server ran, or during the launch.
      if (this.#record.session.stopping) this.#inBackground('stop', this.stop(this.#record.session.stopping))
      const ended = await Promise.race([over, this.#released.promise])
      return ended === 'released' ? ended : await this.#lastWords(ended)
    } finally {
      clearInterval(metering)
    }
  }

  /** A message that it confirmed at the very end counts as heard. */
  async #lastWords({ exit, digest, directory, swept, fault }: Answer<'over'>): Promise<Over> {
    await this.#delivery.attend()
    const closed = await this.#runner!.ask({ type: 'close' }, 'closed')
    await this.#delivery.settled()
    return {
      ...{ exit, digest, directory, swept, fault: fault ?? closed.fault },
      spentBudget: spentBudget(this.#limits!.budget, digest),
      workedSeconds: this.#observations.workedSeconds,
      longestPause: this.#observations.longestPause,
    }
  }

  #plainLimits({ timeoutSeconds, maxTurns, contextLimit, budget }: SessionLimits): Limits {
    const transcriptBytes = this.#fleet.settings.transcriptLimit
    return { timeoutSeconds, transcriptBytes, maxTurns, contextLimit, budgetUsd: budget && leftOf(budget) }
  }

  #stopAt(limit: PassedLimit, digest: Digest): Stop {
    const limits = this.#limits!
    const held = { limits: this.#plainLimits(limits), budget: limits.budget, mayHandOver: this.#mayHandOver }
    return stopAt(limit, held, digest)
  }

  #haveRead(digest: Digest): void {
    const { model } = this.#record.session
    const hasBudget = this.#limits && this.#limits.ownBudgetUsd !== null
    const unheld = hasBudget ? unheldBudget(this.#fleet, this.#agent, model, digest) : null
    if (unheld && !this.isStopping) this.#inBackground('stop', this.stop(limited(unheld)))
    for (const [what, work] of this.#observations.read(digest)) this.#inBackground(what, work)
    this.#inBackground('mail', this.#mail.read(digest))
  }

  /** Others may have spent from the same daily budget, so the limits are read again. */
  async #account(): Promise<void> {
    await this.#observations.saveUsage(this.#digest)
    const { project } = await this.#work()
    if (hasDaysBudget(this.#fleet, project)) await this.relimit()
  }

  /** The session ended before its agent ran. Its reason takes the place of an agent's own words. */
  async #neverRan(error: unknown): Promise<Over> {
    if (!(error instanceof Stopped) && !this.#record.session.stopping) {
      const outcome = error instanceof OutOfTime ? 'limited' : 'failed'
      const stopping = { outcome, reason: sentence(error).slice(0, 4000) } as const
      await this.#record.update('commit.session-stopping', { stopping }, { event: 'dispatch_failed' })
    }
    const { processes: swept } = await this.#runner!.ask({ type: 'sweep' }, 'swept')
    const folder = this.#fleet.home.session(this.id)
    const directory = newestLaunch(folder, 'agent') ?? folder
    return { exit: { code: null }, digest: emptyDigest(), directory, swept, fault: null, ...NOTHING_SPENT }
  }

  #inBackground(what: string, work: Promise<unknown>): void {
    work.catch(error => {
      if (error instanceof Superseded) this.#released.reject(error)
      else this.#around.onFault(`${what} of session ${this.id}`, error)
    })
  }
}
