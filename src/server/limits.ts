import type { ServerResponse } from 'node:http'
import { MOST_NAME_CHARS } from '../domain/records/principal.ts'
import type { Caller } from '../operations/operation.ts'
import { neighbourhood } from './addresses.ts'
import { TooMany } from './refusals.ts'

/** So many at once, and so many a second after that. */
export interface Rate {
  burst: number
  perSecond: number
}

/** More names than this are a flood. The ones that were used longest ago start again. */
const MOST_NAMES = 10_000

/** Counts what each name uses. A bucket fills again as time passes. */
export class Buckets {
  readonly #rate: Rate
  readonly #levels = new Map<string, { left: number; atMs: number }>()

  constructor(rate: Rate) {
    this.#rate = rate
  }

  /** Takes one. Otherwise: the milliseconds until there is one again. */
  take(name: string, nowMs: number): number {
    const { burst, perSecond } = this.#rate
    const before = this.#levels.get(name) ?? { left: burst, atMs: nowMs }
    const passedMs = Math.max(0, nowMs - before.atMs)
    const left = Math.min(burst, before.left + (passedMs / 1000) * perSecond)
    // Written last, so that the oldest is always first.
    this.#levels.delete(name)
    this.#levels.set(name, { left: left >= 1 ? left - 1 : left, atMs: nowMs })
    const [oldest] = this.#levels.keys()
    if (oldest !== undefined && this.#levels.size > MOST_NAMES) this.#levels.delete(oldest)
    return left >= 1 ? 0 : Math.ceil(((1 - left) / perSecond) * 1000)
  }
}

/** Counts what each name holds at once. */
class Held {
  readonly #most: number
  readonly #what: string
  readonly #counts = new Map<string, number>()

  constructor(most: number, what: string) {
    this.#most = most
    this.#what = what
  }

  /** Returns how to give it back. */
  take(name: string): () => void {
    const before = this.#counts.get(name) ?? 0
    if (before >= this.#most) throw new TooMany(`You have ${this.#most} ${this.#what} already.`)
    this.#counts.set(name, before + 1)
    return () => {
      const left = (this.#counts.get(name) ?? 1) - 1
      if (left > 0) this.#counts.set(name, left)
      else this.#counts.delete(name)
    }
  }
}

/** Lets so many of each name go on at once. The others wait in order. */
class Turns {
  readonly #most: number
  readonly #names = new Map<string, { running: number; waiting: (() => void)[] }>()

  constructor(most: number) {
    this.#most = most
  }

  /** Resolves when it is their turn, to how to end it. */
  async take(name: string): Promise<() => void> {
    const turns = this.#names.get(name) ?? { running: 0, waiting: [] }
    this.#names.set(name, turns)
    if (turns.running < this.#most) turns.running++
    else await new Promise<void>(resolve => turns.waiting.push(resolve))
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const next = turns.waiting.shift()
      if (next) next()
      else if (--turns.running === 0) this.#names.delete(name)
    }
  }
}

/** Calls back once what began now only waits. Returns how to stop. */
function afterWork(done: () => void): () => void {
  const from = performance.now()
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before)
    before = performance.eventLoopUtilization()
    if (utilization > BUSY && performance.now() - from < LONGEST_TURN_MS) return
    clearInterval(timer)
    done()
  }, TURN_MS)
  return () => clearInterval(timer)
}

/** Whose requests are counted together. Undefined: they are not limited. */
const limitedName = (caller: Caller): string | undefined =>
  caller.kind === 'owner' || caller.kind === 'monitor'
    ? undefined
    : caller.kind === 'session'
      ? caller.session_id
      : caller.id

/** Enough for pages and scripts at work, too little to keep others waiting. */
export const REQUESTS: Rate = { burst: 300, perSecond: 60 }
/** Agents on the machine itself. */
export const REQUESTS_OF_SESSIONS: Rate = { burst: 2000, perSecond: 400 }
/** A person mistypes a few times; a program that guesses does not stop. By address. */
export const FAILED_SIGN_INS: Rate = { burst: 20, perSecond: 0.2 }
/** Each JWT has a record until it ends. An agent needs one a day. */
export const EXCHANGES: Rate = { burst: 100, perSecond: 1 }
/** Terminals that ask to be signed in, by address. */
export const TERMINAL_REQUESTS: Rate = { burst: 20, perSecond: 0.2 }
/** Sign-ins with a provider that are begun, by address. */
export const PROVIDER_STARTS: Rate = { burst: 30, perSecond: 0.5 }
/** Codes of terminals that one person types. */
export const CODE_TRIES: Rate = { burst: 20, perSecond: 0.2 }
/** Changes of passwords that one person asks for: each guesses the one until now, and keeps those waiting who sign in. */
export const PASSWORD_CHANGES: Rate = { burst: 5, perSecond: 0.1 }
/** For one name, from all addresses together. */
export const PASSWORDS_FOR_NAME: Rate = { burst: 100, perSecond: 0.5 }
/** Open streams of one person or service. */
export const MOST_STREAMS = 40
/** Requests of one person, service or session that are not answered yet: waits, streams and connections of MCP too. */
export const MOST_UNDER_WAY = 100

/** Of these, so many are worked on at once; the others wait for their turn, so that nobody else waits for all of them. */
export const MOST_AT_WORK = 8
/** Whoever takes longer while the server is not busy waits for something, and keeps nobody from anything. */
const TURN_MS = 250
const BUSY = 0.5
/** However busy the server is. */
const LONGEST_TURN_MS = 5000

/** The owner is not limited: whoever has the home can stop the server anyway. */
export class Limits {
  readonly #people = new Buckets(REQUESTS)
  readonly #sessions = new Buckets(REQUESTS_OF_SESSIONS)
  readonly #failures = new Buckets(FAILED_SIGN_INS)
  readonly #names = new Buckets(PASSWORDS_FOR_NAME)
  /** Where a name has signed in with its password since the server started. The newest is last. */
  readonly #usual = new Set<string>()
  readonly #atUsual = new Buckets(FAILED_SIGN_INS)
  readonly #exchanges = new Buckets(EXCHANGES)
  readonly #terminals = new Buckets(TERMINAL_REQUESTS)
  readonly #providers = new Buckets(PROVIDER_STARTS)
  readonly #codes = new Buckets(CODE_TRIES)
  readonly #passwordChanges = new Buckets(PASSWORD_CHANGES)
  readonly #streams = new Held(MOST_STREAMS, 'streams open')
  readonly #underWay = new Held(MOST_UNDER_WAY, 'requests under way')
  readonly #turns = new Turns(MOST_AT_WORK)

  /** Throws if the caller asks too often. Several requests may come as one. */
  require(caller: Caller, times = 1): void {
    const name = limitedName(caller)
    if (name === undefined) return
    const buckets = caller.kind === 'session' ? this.#sessions : this.#people
    for (let time = 0; time < times; time++) requireNone(buckets.take(name, Date.now()))
  }

  /** Counts a request until it is over. Returns how to say that it is; throws if there are too many. */
  begin(caller: Caller): () => void {
    const name = limitedName(caller)
    return name === undefined ? () => {} : this.#underWay.take(name)
  }

  /** Waits for the caller's turn, which ends with the answer. */
  async turn(caller: Caller, answer: ServerResponse): Promise<void> {
    const name = limitedName(caller)
    if (name === undefined) return
    const end = await this.#turns.take(name)
    // Whoever has gone meanwhile is not heard going.
    if (answer.destroyed) return end()
    const stop = afterWork(end)
    answer.once('close', () => {
      stop()
      end()
    })
  }

  /** Counts an open stream. Returns how to say that it is over; throws if there are too many. */
  openStream(caller: Caller): () => void {
    return caller.kind === 'person' || caller.kind === 'service' ? this.#streams.take(caller.id) : () => {}
  }

  /**
   * Notes that a sign-in from this address failed, and throws if that happens too often. One that succeeds is never
   * refused: others at the address may be right.
   */
  noteFailedSignIn(address: string): void {
    requireNone(this.#failures.take(neighbourhood(address), Date.now()))
  }

  requireExchange(caller: Caller): void {
    requireNone(this.#exchanges.take('id' in caller ? caller.id : caller.kind, Date.now()))
  }

  requireTerminalRequest(address: string): void {
    requireNone(this.#terminals.take(neighbourhood(address), Date.now()))
  }

  requireProviderStart(address: string): void {
    requireNone(this.#providers.take(neighbourhood(address), Date.now()))
  }

  requireCodeTry(caller: Caller): void {
    requireNone(this.#codes.take('id' in caller ? caller.id : caller.kind, Date.now()))
  }

  requirePasswordChange(caller: Caller): void {
    const name = limitedName(caller)
    if (name !== undefined) requireNone(this.#passwordChanges.take(name, Date.now()))
  }

  /**
   * Called before a password is tried, because each try takes time and memory. What others guess, for this name or from
   * this address, keeps nobody out of where they have signed in before.
   */
  requirePasswordTry(address: string, name: string): void {
    const usual = placeOf(address, name)
    const now = Date.now()
    if (this.#usual.has(usual)) requireNone(this.#atUsual.take(usual, now))
    else {
      requireNone(this.#failures.take(neighbourhood(address), now))
      requireNone(this.#names.take(possible(name), now))
    }
  }

  /** Called when the password was right. */
  notePassword(address: string, name: string): void {
    const usual = placeOf(address, name)
    this.#usual.delete(usual)
    this.#usual.add(usual)
    const [oldest] = this.#usual
    if (oldest !== undefined && this.#usual.size > MOST_NAMES) this.#usual.delete(oldest)
  }
}

/** A name as it is remembered. Whatever is longer than a name counts as one that nobody has. */
const possible = (name: string): string => (name.length > MOST_NAME_CHARS ? '' : name.toLowerCase())

const placeOf = (address: string, name: string): string => `${neighbourhood(address)} ${possible(name)}`

function requireNone(waitMs: number): void {
  if (waitMs > 0) throw new TooMany('You ask too often.', Math.ceil(waitMs / 1000))
}
