import type { Agent, Digest } from '../../agents/index.ts'
import type { Quiet } from '../../domain/records/health.ts'
import type { Member, Team } from '../../domain/records/team.ts'
import { isWatched, patienceOf, quietInWords, settlesIn } from '../../domain/rules/health.ts'
import { QuietTime } from '../../domain/rules/quiet.ts'
import type { Fleet } from '../fleet.ts'
import { current } from '../records.ts'
import type { SessionRecord } from '../sessions/record.ts'

/** Changed terms are noticed after this time. */
const TERMS_MS = 10_000
/** More would change nothing: there are not more steps. */
const MOST_SIGNS = 8
const MOST_COUNTED = 99

interface Terms {
  member: Member
  team: Team
}

/**
 * Watches the session of a member: writes down when it was quiet for as long as it may be, and when it shows signs of
 * life again. What follows from that is decided elsewhere, from the records.
 */
export class MemberWatch {
  readonly #fleet: Fleet
  readonly #agent: Agent
  readonly #record: SessionRecord
  readonly #time = new QuietTime()
  #terms: Terms | undefined
  #readAt = -Infinity
  #isBegun = false

  constructor(fleet: Fleet, agent: Agent, record: SessionRecord) {
    this.#fleet = fleet
    this.#agent = agent
    this.#record = record
  }

  get longestPause(): number {
    return Math.round(this.#time.longestMs / 1000)
  }

  /** `idleMs`: how long it shows no sign of life, 0 at each sign. Returns whether its member is watched. */
  async look(idleMs: number, digest: Digest): Promise<boolean> {
    const { session } = this.#record
    if (!session.member_id) return false
    // The first look has nothing to compare with.
    const isAlive = this.#isBegun && idleMs === 0
    this.#isBegun = true
    this.#time.look(performance.now(), isAlive)
    // While it is well and at work, nothing is read.
    const isAtWork = isAlive && this.#terms?.member.health.state === 'healthy'
    const terms = await this.#read(session.member_id, isAtWork ? Infinity : TERMS_MS)
    if (!isWatched(terms)) return false
    // Its client says itself when it tries again.
    if ((session.retrying?.next_at ?? '') > this.#fleet.now()) this.#time.forgive()
    else if (!session.stopping) await this.#note(terms, digest, isAlive)
    return true
  }

  async #note(terms: Terms, digest: Digest, isAlive: boolean): Promise<void> {
    const { session } = this.#record
    if (isAlive) return this.#noteLife(terms)
    if (this.#time.quietMs < this.#patience(terms, digest) || (session.quiet?.signs ?? 0) >= MOST_SIGNS) return
    // What waits for a person is not quiet by itself.
    if ((await current(this.#fleet, 'missions', session.mission_id)).value.asking) return this.#time.forgive()
    const fresh = await this.#read(session.member_id!, 0)
    if (isWatched(fresh) && this.#time.quietMs >= this.#patience(fresh, digest))
      await this.#noteSilence(fresh.member, digest)
  }

  #patience(terms: Terms, { openTools }: Digest): number {
    return patienceOf(terms, { least: this.#fleet.settings.memberQuiet, openTools })
  }

  async #noteSilence({ id }: Member, { openTools }: Digest): Promise<void> {
    const { quiet } = this.#record.session
    const wasQuiet = quiet?.state === 'quiet'
    const seconds = this.#time.quietMs / 1000
    const now = this.#fleet.now()
    const since = wasQuiet ? quiet.since : new Date(Date.parse(now) - this.#time.quietMs).toISOString()
    const unread = await this.#fleet.store.find('deliveries', { index: 'queued', equals: [id], limit: MOST_COUNTED })
    const { life } = this.#agent.can
    const text = quietInWords({ seconds, openTools, life, unread: unread.items.length })
    const next: Quiet = { state: 'quiet', since, signs: (wasQuiet ? quiet.signs : 0) + 1, text }
    this.#time.told()
    await this.#record.update('commit.session-noted', { quiet: next }, { event: 'member_quiet', cause: text })
  }

  /** The first sign of life of its own, if that was in doubt. */
  async #noteLife(terms: Terms): Promise<void> {
    const { quiet } = this.#record.session
    const isDoubted = quiet ? quiet.state === 'quiet' : terms.member.health.state !== 'healthy'
    const settled = settlesIn(patienceOf(terms, { least: this.#fleet.settings.memberQuiet }))
    if (!isDoubted || this.#time.watchedMs < settled) return
    const lively: Quiet = { state: 'lively', since: this.#fleet.now(), signs: 0, text: 'It shows signs of life.' }
    await this.#record.update('commit.session-noted', { quiet: lively }, { event: 'member_lively' })
  }

  async #read(memberId: string, maxAgeMs: number): Promise<Terms> {
    const at = performance.now()
    if (this.#terms && at - this.#readAt < maxAgeMs) return this.#terms
    const { value: member } = await current(this.#fleet, 'members', memberId)
    const { value: team } = await current(this.#fleet, 'teams', member.team_id)
    this.#terms = { member, team }
    this.#readAt = at
    return this.#terms
  }
}
