import { setTimeout as delay } from 'node:timers/promises'
import { lookAgainIn, RENEW_EVERY_MS } from '../domain/rules/lease.ts'
import { asDaemon, type Fleet } from '../fleet/fleet.ts'
import { guardEffects } from '../platform/effects.ts'
import { type Heartbeats, LeaseLost, type ServerInfo, StoreNewer, type TimedLease, tryLease } from '../store/index.ts'

/** What begins with the lease and ends with it: reactors, plugins, terminals. */
export interface Office {
  /** Stops acting. Agents continue. */
  stop(): Promise<void>
}

export interface DecidingOptions {
  fleet: Fleet
  heartbeats: Heartbeats
  /** This server, as it is now. */
  me(): ServerInfo
  /** Begins to act under a lease. */
  begin(acting: Fleet, lease: TimedLease): Promise<Office>
  /** Runs with every heartbeat. */
  meanwhile(isDecider: boolean): Promise<void>
  /** A person said that this home goes on without the one before. */
  fromAnyHome?: boolean
  say(line: string): void
  onFault(what: string, error: unknown): void
  /** The store is for a newer program now. */
  onNewer(error: StoreNewer): void
}

/** After it could not begin, others may try first. */
const AFTER_A_FAULT_MS = 5000
/** The store did not answer. */
const AFTER_SILENCE_MS = 500
/** Commits come in bursts, and one of them may be a lease that was let go of. */
const AFTER_A_HINT_MS = 250

/** The life of a server beside others: it answers, and decides whenever it has the lease. */
export class Deciding {
  /** The fleet of the daemon, while this server decides. */
  daemon: Fleet | undefined
  readonly #options: DecidingOptions
  readonly #over = new AbortController()
  readonly #unguard: () => void
  #lease: TimedLease | undefined
  /** Of the last lease: begins, acts and ends. */
  #office: Promise<void> = Promise.resolve()
  #isInOffice = false
  #loop: Promise<void> = Promise.resolve()
  #wake: () => void = () => {}
  #fromAnyHome: boolean
  #told = ''

  constructor(options: DecidingOptions) {
    this.#options = options
    this.#fromAnyHome = options.fromAnyHome ?? false
    this.#unguard = guardEffects(async () => {
      if (this.#lease) return this.#lease.mayAct()
      throw new LeaseLost(0)
    })
  }

  /** Says that it is there, and takes the lease if nobody has it. Returns once it acts, or knows that another does. */
  async start(): Promise<void> {
    await this.#beat()
    await this.#try(true)
    const unwatch = this.#options.fleet.store.watch(() => this.#wake())
    this.#over.signal.addEventListener('abort', unwatch, { once: true })
    this.#loop = this.#run()
  }

  /** Hands the lease over at once. */
  async stop(): Promise<void> {
    this.#over.abort()
    await this.#loop
    const lease = this.#lease
    // What is under way is brought to its end under the lease.
    const beating = this.#beating()
    this.#end()
    await this.#office
    clearInterval(beating)
    this.#close()
    const { heartbeats, me } = this.#options
    // If the store is away, the lease ends by itself.
    await lease?.release().catch(() => {})
    await heartbeats.leave(me().id).catch(() => {})
    this.#unguard()
  }

  async #run(): Promise<void> {
    const { signal } = this.#over
    let nextMs = this.#lease ? RENEW_EVERY_MS : lookAgainIn(0)
    let beatAt = performance.now()
    while (!signal.aborted) {
      await this.#nap(nextMs)
      if (signal.aborted) return
      const isDue = performance.now() - beatAt >= RENEW_EVERY_MS - 50
      if (isDue) beatAt = performance.now()
      nextMs = await this.#round(isDue)
    }
  }

  async #round(isDue: boolean): Promise<number> {
    try {
      if (isDue) await this.#beat()
      if (this.#lease) return RENEW_EVERY_MS
      return this.#isInOffice ? lookAgainIn(0) : await this.#try(false)
    } catch (error) {
      if (error instanceof StoreNewer) {
        this.#over.abort()
        this.#options.onNewer(error)
      } else this.#tell('looking who decides', error)
      return AFTER_SILENCE_MS
    }
  }

  /** A commit may be a lease that was let go of. Those who wait look, but not more often than four times a second. */
  async #nap(ms: number): Promise<void> {
    const woken = new AbortController()
    if (!this.#lease) this.#wake = () => woken.abort()
    const signal = AbortSignal.any([this.#over.signal, woken.signal])
    await delay(ms, undefined, { signal, ref: false }).catch(() => {})
    this.#wake = () => {}
    if (woken.signal.aborted) await delay(AFTER_A_HINT_MS, undefined, { signal: this.#over.signal }).catch(() => {})
  }

  async #beat(): Promise<void> {
    const { heartbeats, me, meanwhile } = this.#options
    const lease = this.#lease
    if (lease) await lease.renew(me())
    else await heartbeats.beat(me())
    await meanwhile(lease !== undefined && !lease.lost.aborted)
  }

  #beating(): NodeJS.Timeout {
    return setInterval(() => void this.#beat().catch(error => this.#tell('renewing the lease', error)), RENEW_EVERY_MS)
  }

  async #try(isFirst: boolean): Promise<number> {
    const { fleet, heartbeats, me, say } = this.#options
    const taken = await tryLease(fleet.store, heartbeats, me(), { now: fleet.now(), fromAnyHome: this.#fromAnyHome })
    if ('kept' in taken) {
      this.#say(
        taken.kept === 'held'
          ? 'Another server decides; this one answers, and takes over if that one is gone.'
          : `The files of this fleet are in another home (${taken.home}), whose server is away. This server answers, and nothing new starts until that one is back. If that home is gone for good, start this one with: fleet up --decide`,
      )
      return taken.leftMs > 0 ? lookAgainIn(taken.leftMs) : 1000
    }
    const { lease } = taken
    this.#fromAnyHome = false
    this.#lease = lease
    this.#isInOffice = true
    lease.lost.addEventListener('abort', () => this.#close(), { once: true })
    if (!isFirst) say('This server decides now.')
    this.#told = ''
    const begun = Promise.withResolvers<void>()
    this.#office = this.#hold(lease, begun).finally(() => {
      this.#isInOffice = false
    })
    // The first start fails as a whole. Later the lease has to be renewed while it begins.
    if (isFirst) {
      const beating = this.#beating()
      await begun.promise.finally(() => clearInterval(beating))
    } else begun.promise.catch(() => {})
    return RENEW_EVERY_MS
  }

  async #hold(lease: TimedLease, begun: PromiseWithResolvers<void>): Promise<void> {
    const { fleet, begin, onFault, say } = this.#options
    const ended = Promise.withResolvers<void>()
    const acting = asDaemon(fleet, lease)
    this.#end = ended.resolve
    this.daemon = acting
    let office: Office | undefined
    try {
      office = await begin(acting, lease)
      begun.resolve()
      await ended.promise
    } catch (error) {
      begun.reject(error)
      onFault('beginning to decide', error)
      this.#close()
      await lease.release().catch(() => {})
      await delay(AFTER_A_FAULT_MS, undefined, { signal: this.#over.signal }).catch(() => {})
    }
    await office?.stop().catch(error => onFault('ceasing to decide', error))
    if (lease.lost.aborted) say('Another server decides now; this one goes on answering.')
  }

  #end: () => void = () => {}

  #close(): void {
    this.#lease = undefined
    this.daemon = undefined
    this.#end()
  }

  /** The same again is not told. */
  #say(line: string): void {
    if (line !== this.#told) this.#options.say(line)
    this.#told = line
  }

  #tell(what: string, error: unknown): void {
    const told = `${what}: ${(error as Error).message}`
    if (told !== this.#told) this.#options.onFault(what, error)
    this.#told = told
  }
}
