import type { Event } from '../../domain/records/event.ts'
import { NOTIFICATIONS, type Notification, whoseSettings } from '../../domain/records/notification.ts'
import { neededBy } from '../../domain/rules/needs.ts'
import { quietUntil } from '../../domain/rules/quiet-hours.ts'
import { clipped } from '../../domain/text.ts'
import { effect } from '../../platform/effects.ts'
import type { Change, Stored } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all, derivedId, put } from '../records.ts'
import { deliver, type Outcome } from './delivery.ts'
import { concerns, madeOf, type Rights, stillNeeded } from './making.ts'
import { destinations, inEffect, notificationSettings } from './settings.ts'

const EVENTS_AT_ONCE = 200
/** A commit has room for this many. The rest of the events is read afterwards. */
const MOST_IN_A_COMMIT = 60
/** More than this for one destination at a time become one message. */
const MOST_AT_ONCE = 3
/** Between two messages to one destination. Meanwhile others gather. */
const SPACING_MS = { push: 2000, ntfy: 5000, email: 30_000 }
/** Before each further try, in seconds. After the last one it is given up. */
const PAUSES = [10, 60, 300, 1800, 7200]
/** Before an outcome that could not be written is written again; it doubles each time, up to the most. */
const WRITE_AGAIN_MS = { first: 5000, most: 300_000 }
const KEPT_MS = 7 * 86_400_000
const SETTINGS = 'notification_settings/'

/**
 * Tells people that they are needed while no page is open. An event becomes one notification for each destination, in
 * the same commit as the cursor: so each is made once. Each is then sent, and sent again after a failure, by itself.
 */
export class Notifications implements Reactor {
  readonly name = 'notifications'
  readonly #fleet: Fleet
  readonly #desk: Desk
  readonly #may: Rights
  /** Destinations that a message is on its way to. */
  readonly #busy = new Set<string>()
  readonly #sentAt = new Map<string, number>()
  /** What came of messages, as long as it is not written. They are not sent again. */
  readonly #unwritten = new Map<string, { outcome: Outcome; failures: number; due: number }>()
  /** Nothing is due before. */
  #nextAt = 0

  constructor(fleet: Fleet, desk: Desk, may: Rights) {
    this.#fleet = fleet
    this.#desk = desk
    this.#may = may
  }

  async *unfinished(): AsyncGenerator<Ref> {
    this.#nextAt = 0
    yield* await this.#everybody()
  }

  async affectedBy(event: Event): Promise<Ref[]> {
    return neededBy(event) ? this.#everybody() : []
  }

  /** The settings of the owner and of each person who has some. */
  async #everybody(): Promise<Ref[]> {
    const settings = await Array.fromAsync(all(this.#fleet, 'notification_settings', 'id'))
    const ids = new Set([NOTIFICATIONS, ...settings.map(({ value }) => value.id)])
    return Array.from(ids, id => refTo('notification_settings', id))
  }

  /** Makes notifications of the events since the last look. */
  async look(ref: Ref): Promise<void> {
    if (!ref.startsWith(SETTINGS)) return this.#send(idIn(ref))
    while (await retryOnConflict(() => this.#read(whoseSettings(idIn(ref))))) {
      // There are more events.
    }
    this.#nextAt = 0
    this.#desk.passIn(0)
  }

  async #read(principalId: string | null): Promise<boolean> {
    const { value: settings, expects } = await notificationSettings(this.#fleet, principalId)
    if (expects === 'absent') return false
    const where = await destinations(this.#fleet, settings)
    if (!where.length) return false
    const page = await this.#fleet.store.events({ after: settings.cursor ?? undefined, limit: EVENTS_AT_ONCE })
    const made: Notification[] = []
    let cursor = settings.cursor
    for (const event of page.events) {
      const next = await madeOf(this.#fleet, event, where, settings, this.#may)
      if (made.length + next.length > MOST_IN_A_COMMIT) break
      made.push(...next)
      cursor = event.cursor
    }
    const isMore =
      page.events.length > 0 && (cursor !== page.events.at(-1)!.cursor || page.events.length === EVENTS_AT_ONCE)
    // A few events without news are read again next time, which costs less than a commit.
    if (made.length === 0 && !isMore) return false
    await this.#fleet.commit('commit.notification', {
      changes: [
        put('notification_settings', { ...settings, cursor }, expects),
        ...made.map(each => put('notifications', each, 'absent')),
        ...(await this.#old()),
      ],
    })
    return isMore
  }

  /** Notifications that nobody looks for any more. */
  async #old(): Promise<Change[]> {
    const below = new Date(Date.parse(this.#fleet.now()) - KEPT_MS).toISOString()
    const { items } = await this.#fleet.store.find('notifications', { index: 'over', below, limit: 20 })
    return items.map(({ value, version }) => ({ remove: 'notifications' as const, id: value.id, expects: version }))
  }

  /** Sends what is due, to each destination one message at a time. */
  async pass(): Promise<void> {
    const now = Date.parse(this.#fleet.now())
    // A timer may be a moment early.
    if (now < this.#nextAt) return Number.isFinite(this.#nextAt) ? this.#passAt(this.#nextAt) : undefined
    const { items } = await this.#fleet.store.find('notifications', { index: 'waiting', limit: 500 })
    this.#nextAt = Number.POSITIVE_INFINITY
    const dueAt = ({ value }: Stored<Notification>) =>
      Math.max(Date.parse(value.due_at), this.#unwritten.get(value.id)?.due ?? 0)
    const due = Map.groupBy(
      items.filter(each => dueAt(each) <= now),
      ({ value }) => destinationOf(value),
    )
    for (const [where, waiting] of due) {
      if (this.#busy.has(where)) continue
      const unwritten = waiting.find(({ value }) => this.#unwritten.has(value.id))
      const first = (unwritten ?? waiting[0]!).value
      const free = (this.#sentAt.get(where) ?? 0) + SPACING_MS[first.channel]
      if (free > now) this.#passAt(free)
      else if (!unwritten && waiting.length > MOST_AT_ONCE) await retryOnConflict(() => this.#fold(waiting))
      else {
        this.#busy.add(where)
        this.#desk.goOn(
          refTo('notifications', first.id),
          this.#send(first.id).finally(() => {
            this.#busy.delete(where)
            this.#passAt(0)
          }),
        )
      }
    }
    const later = items.map(dueAt).filter(at => at > now)
    if (later.length) this.#passAt(Math.min(...later))
  }

  #passAt(ms: number): void {
    this.#nextAt = Math.min(this.#nextAt, ms)
    this.#desk.passIn(Math.max(0, ms - Date.parse(this.#fleet.now())))
  }

  /** One message instead of many. */
  async #fold(listed: Stored<Notification>[]): Promise<void> {
    const now = this.#fleet.now()
    const read = await Promise.all(
      listed.slice(0, MOST_IN_A_COMMIT).map(({ value }) => this.#fleet.store.get('notifications', value.id)),
    )
    const waiting = read.filter(each => each?.value.status === 'waiting') as Stored<Notification>[]
    const needed: Stored<Notification>[] = []
    for (const each of waiting) if (await stillNeeded(this.#fleet, each.value)) needed.push(each)
    const { id, principal_id, channel, device_id, event } = listed[0]!.value
    const kinds = Map.groupBy(needed, ({ value }) => value.title)
    const many: Notification = {
      id: derivedId('many', id),
      ...{
        principal_id,
        channel,
        device_id,
        event,
        need: 'many',
        mission_id: null,
        question_id: null,
        plan_id: null,
        waits_in: null,
      },
      title: `${needed.length} missions need you`,
      about: [...kinds].map(([title, { length }]) => `${title}: ${length}`).join(', '),
      detail: '',
      path: '/inbox',
      status: 'waiting',
      ...{ tries: 0, outcome: null, due_at: now, created_at: now, updated_at: now },
    }
    await this.#fleet.commit('commit.notification', {
      changes: [
        ...(needed.length ? [put('notifications', many, 'absent')] : []),
        ...waiting.map(({ value, version }) =>
          put(
            'notifications',
            { ...value, status: 'dropped', outcome: 'Told together with others.', updated_at: now },
            version,
          ),
        ),
      ],
    })
    this.#passAt(0)
  }

  async #send(id: string): Promise<void> {
    const notification = (await this.#fleet.store.get('notifications', id))?.value
    if (notification?.status !== 'waiting') return void this.#unwritten.delete(id)
    const told = this.#unwritten.get(id)
    if (told) return this.#write(notification, told.outcome, told.failures + 1)
    const { value: settings } = await notificationSettings(this.#fleet, notification.principal_id)
    const { principal_id } = notification
    const where = (await destinations(this.#fleet, settings)).map(each => destinationOf({ ...each, principal_id }))
    if (!where.includes(destinationOf(notification)))
      return this.#change(id, { status: 'dropped', outcome: 'This channel was switched off.' })
    if (!(await concerns(this.#fleet, notification, this.#may)))
      return this.#change(id, { status: 'dropped', outcome: 'It is for others now.' })
    if (!(await stillNeeded(this.#fleet, notification)))
      return this.#change(id, { status: 'dropped', outcome: 'Nobody is needed any longer.' })
    const until = quietUntil(settings.quiet, this.#fleet.now())
    if (until) return this.#change(id, { due_at: until })
    const sent = await inEffect(this.#fleet, settings)
    await this.#fleet.requireLease?.()
    const outcome = await effect('notification.send', () => deliver(this.#fleet, sent, notification))
    this.#sentAt.set(destinationOf(notification), Date.parse(this.#fleet.now()))
    await this.#write(notification, outcome)
  }

  async #write(notification: Notification, outcome: Outcome, failures = 0): Promise<void> {
    const pause = Math.min(WRITE_AGAIN_MS.first * 2 ** failures, WRITE_AGAIN_MS.most)
    this.#unwritten.set(notification.id, { outcome, failures, due: Date.parse(this.#fleet.now()) + pause })
    await this.#settle(notification, outcome)
    this.#unwritten.delete(notification.id)
  }

  async #settle({ id, device_id, tries: before }: Notification, { ok, said, again, gone }: Outcome): Promise<void> {
    const tries = before + 1
    const outcome = clipped(said, 1000)
    if (ok) return this.#change(id, { status: 'sent', tries, outcome })
    if (gone && device_id) await forgetBrowser(this.#fleet, device_id)
    const pause = again && !gone ? PAUSES[before] : undefined
    if (pause === undefined) return this.#change(id, { status: 'failed', tries, outcome })
    const due_at = new Date(Date.parse(this.#fleet.now()) + pause * 1000).toISOString()
    return this.#change(id, { tries, outcome, due_at })
  }

  #change(id: string, change: Partial<Notification>): Promise<void> {
    return retryOnConflict(async () => {
      const stored = await this.#fleet.store.get('notifications', id)
      if (stored?.value.status !== 'waiting') return
      const { principal_id, channel, mission_id } = stored.value
      const now = this.#fleet.now()
      await this.#fleet.commit('commit.notification', {
        changes: [put('notifications', { ...stored.value, ...change, updated_at: now }, stored.version)],
        // It names no mission: nothing about the mission has changed.
        events:
          // Others are not told where somebody wants to be told.
          change.status === 'failed' && principal_id === null
            ? [
                {
                  kind: 'notification_failed',
                  time: now,
                  actor: 'fleet',
                  cause: change.outcome,
                  data: { channel, mission_id },
                },
              ]
            : [],
      })
    })
  }
}

const destinationOf = ({
  principal_id,
  channel,
  device_id,
}: Pick<Notification, 'principal_id' | 'channel' | 'device_id'>): string =>
  [channel, principal_id, device_id].filter(Boolean).join(' ')

/** The push service does not know it any more: it was unsubscribed, or its profile is gone. */
export async function forgetBrowser(fleet: Fleet, deviceId: string): Promise<void> {
  await retryOnConflict(async () => {
    const device = await fleet.store.get('devices', deviceId)
    if (!device?.value.push) return
    await fleet.commit('commit.notification', {
      changes: [put('devices', { ...device.value, push: null }, device.version)],
      events: [
        {
          kind: 'notifications_changed',
          time: fleet.now(),
          actor: 'fleet',
          data: { device_id: deviceId, push: false },
        },
      ],
    })
  })
}
