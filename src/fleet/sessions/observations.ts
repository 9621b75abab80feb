import { type Agent, type Digest, emptyDigest } from '../../agents/index.ts'
import { actsOnQuiet } from '../../domain/rules/health.ts'
import { noteWindows } from '../dispatch/windows.ts'
import type { Fleet } from '../fleet.ts'
import { MemberWatch } from '../health/watching.ts'
import { current } from '../records.ts'
import { Metering } from './metering.ts'
import type { SessionRecord } from './record.ts'
import { afterTry } from './retries.ts'
import { Stall } from './stall.ts'
import type { Stop } from './stops.ts'

/** A client that retries without a pause is not noted each time. The next look finds what this one left out. */
const RETRY_TOLD_EVERY_MS = 500

const NUDGE = 'You have been silent for long. Go on, or end your turn and say what keeps you from it.'

interface Acts {
  stop(stop: Stop): Promise<void>
  nudge(text: string): void
  /** Money was spent that others share. */
  onSpent(): void
}

/**
 * Stores what the runner says of an agent at work: usage, quotas, retries, how long it worked, and that it is stuck.
 */
export class Observations {
  /** Whether others share the money. Then spending is stored at once. */
  sharesMoney = false
  readonly #fleet: Fleet
  readonly #agent: Agent
  readonly #record: SessionRecord
  readonly #acts: Acts
  readonly #metering: Metering
  readonly #stall = new Stall()
  readonly #watch: MemberWatch
  #windowsNoted: Digest['windows'] = emptyDigest().windows
  #retryTold = -Infinity

  constructor(fleet: Fleet, agent: Agent, record: SessionRecord, acts: Acts) {
    this.#fleet = fleet
    this.#agent = agent
    this.#record = record
    this.#acts = acts
    this.#metering = new Metering(record.session)
    this.#watch = new MemberWatch(fleet, agent, record)
  }

  /** The longest time without a sign of life from which it came back by itself. */
  get longestPause(): number {
    return this.#watch.longestPause
  }

  get workedSeconds(): number {
    return this.#metering.workedSeconds
  }

  /** The work after a read, each part with its name. One that fails does not stop the others. */
  read(digest: Digest): [string, Promise<void>][] {
    return [
      ['usage', this.saveUsage(digest)],
      ['provider windows', this.#noteWindows(digest)],
      ['retries', this.#noteRetry(digest)],
    ]
  }

  async alive({ idleMs, workedMs }: { idleMs: number; workedMs: number }, digest: Digest): Promise<void> {
    await this.#noteRetry(digest)
    if (this.#metering.worked(workedMs, this.#record.session))
      await this.#record.update('commit.session-noted', { worked_seconds: this.#metering.workedSeconds })
    const isWatched = await this.#watch.look(idleMs, digest)
    if (actsOnQuiet(this.#record.session, isWatched) === 'session') await this.#judge(idleMs)
  }

  async saveUsage(digest: Digest): Promise<void> {
    const { session } = this.#record
    const isShared = this.sharesMoney && digest.usage.cost_usd !== session.usage.cost_usd
    const due = this.#metering.due(session, digest, isShared)
    if (!due) return
    await this.#record.update('commit.session-noted', due.noted, due.isTold ? { event: 'usage' } : {})
    if (isShared) this.#acts.onSpent()
  }

  async #noteWindows({ windows }: Digest): Promise<void> {
    if (windows === this.#windowsNoted) return
    this.#windowsNoted = windows
    await noteWindows(this.#fleet, this.#agent.provider, windows)
  }

  async #noteRetry(digest: Digest): Promise<void> {
    const { session } = this.#record
    if (session.stopping || performance.now() - this.#retryTold < RETRY_TOLD_EVERY_MS) return
    const when = { now: this.#fleet.now(), parkAfter: this.#fleet.settings.parkAfter }
    const next = afterTry(this.#agent, session.retrying, digest.retry, when)
    if (!next) return
    this.#retryTold = performance.now()
    if ('stop' in next) return this.#acts.stop(next.stop)
    const { retrying } = next
    const told = { event: retrying ? 'retrying' : 'went_on', cause: retrying?.why } as const
    await this.#record.update('commit.session-noted', { retrying }, told)
  }

  /** The settings say what happens to a stuck session. */
  async #judge(idleMs: number): Promise<void> {
    const { stallAfter, stallPolicy } = this.#fleet.settings
    const { session } = this.#record
    // The client says itself when it goes on.
    const isWaiting = (session.retrying?.next_at ?? '') > this.#fleet.now()
    if (!this.#stall.isNew(idleMs, { afterMs: stallAfter * 1000, isWaiting }) || session.stopping) return
    const { asking } = (await current(this.#fleet, 'missions', session.mission_id)).value
    if (asking) return this.#stall.forgive()
    this.#stall.told()
    const reason = `It has shown no sign of life for ${stallAfter} seconds.`
    await this.#record.update('commit.session-noted', {}, { event: 'stalled', cause: reason })
    if (stallPolicy === 'restart') await this.#acts.stop({ outcome: 'stalled', reason })
    if (stallPolicy === 'stop') await this.#acts.stop({ outcome: 'failed', reason })
    if (stallPolicy === 'nudge') this.#acts.nudge(NUDGE)
  }
}
