import { InvalidInput, NotAllowed, Refusal, StoreTrouble } from '../../domain/errors.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import { MissionSettings } from '../../domain/records/mission.ts'
import { MOST_WAITING, Schedule, type ScheduleSettings, tick, withCopy } from '../../domain/records/schedule.ts'
import * as life from '../../domain/rules/life.ts'
import type { Check, Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { requireStartable } from '../missions/requirements.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all, current, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { planOf } from '../workflows/stages.ts'
import { requireStages } from '../workflows/workflows.ts'
import { copyOf, lastCopy } from './copies.ts'
import { cronTimesOf } from './cron-times.ts'

// What people ask for

export async function setSchedule(
  fleet: Fleet,
  ask: Ask,
  template: { of: Schedule['of']; id: string },
  settings: ScheduleSettings,
): Promise<Stored<Schedule>> {
  const { of, id } = template
  const times = await cronTimesOf(settings)
  const next_at = times.after(fleet.now())
  if (!next_at) throw new InvalidInput('cron', 'no date ever matches it')
  if (settings.enabled) await requireCopies(fleet, template)
  await oncePerKey(fleet, ask, async () => {
    const { project_id, check } = await templateOf(fleet, template)
    const found = await fleet.store.get('schedules', id)
    const when = by(fleet, ask)
    const schedule = Schedule.parse({
      waiting: [],
      created_at: when.now,
      ...found?.value,
      // A schedule that is switched off makes no more copies, not even those that waited for the one at work.
      ...(!settings.enabled && { waiting: [] }),
      ...settings,
      id,
      of,
      project_id,
      next_at,
      problem: null,
      updated_at: when.now,
    })
    return {
      subject: id,
      changes: [put('schedules', schedule, found?.version ?? 'absent')],
      checks: [check],
      events: [aboutSchedule(schedule, 'scheduled', when, { data: { ...settings, next_at } })],
    }
  })
  return current(fleet, 'schedules', id)
}

/** Says now why a copy could not start, instead of at a time when nobody looks. */
async function requireCopies(fleet: Fleet, { of, id }: Pick<Schedule, 'of' | 'id'>): Promise<void> {
  const { value } = await current(fleet, of === 'mission' ? 'missions' : 'workflows', id)
  const { value: project } = await current(fleet, 'projects', value.project_id)
  if (of === 'workflow') await requireStages(fleet, project, (await planOf(fleet, id)).stages)
  else await requireStartable(fleet, project, [{ called: id, settings: MissionSettings.parse(value) }])
}

/** The mission or workflow to copy. It must still be the same when the commit is made. */
async function templateOf(
  fleet: Fleet,
  { of, id }: Pick<Schedule, 'of' | 'id'>,
): Promise<{ project_id: string; check: Check }> {
  const collection = of === 'mission' ? 'missions' : 'workflows'
  const { value, version } = await current(fleet, collection, id)
  if ('deleting' in value && value.deleting) throw new NotAllowed(`Mission ${id} is being deleted.`)
  return { project_id: value.project_id, check: { collection, id, expects: version } }
}

type Extra = Parameters<typeof life.about>[3]

const aboutSchedule = (
  { id, of, project_id }: Pick<Schedule, 'id' | 'of' | 'project_id'>,
  kind: NewEvent['kind'],
  when: life.By,
  extra: Extra = {},
): NewEvent =>
  of === 'mission'
    ? life.about({ id, project_id }, kind, when, extra)
    : { kind, time: when.now, actor: when.actor, project_id, ...extra, data: { schedule: id, ...extra.data } }

export async function removeSchedule(fleet: Fleet, ask: Ask, id: string): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'schedules', id)
    return {
      subject: id,
      changes: [{ remove: 'schedules', id, expects: version }],
      events: [aboutSchedule(value, 'unscheduled', by(fleet, ask))],
    }
  })
}

/** Runs it once more, after the copy that is still at work. */
export async function runSchedule(fleet: Fleet, ask: Ask, id: string): Promise<Stored<Schedule>> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'schedules', id)
    if (value.waiting.length >= MOST_WAITING)
      throw new NotAllowed(`${value.waiting.length} copies already wait for the one that runs.`)
    const when = by(fleet, ask)
    const taken = [...value.waiting, ...(value.last ? [value.last.cron_time] : [])]
    const changed = { ...value, waiting: [...value.waiting, freeMoment(when.now, taken)], updated_at: when.now }
    return {
      subject: id,
      changes: [put('schedules', changed, version)],
      events: [aboutSchedule(value, 'schedule_run', when)],
    }
  })
  return current(fleet, 'schedules', id)
}

/** A copy is known by its time. The second request in the same millisecond gets the next one. */
const freeMoment = (moment: string, taken: readonly string[]): string =>
  taken.includes(moment) ? freeMoment(after(moment), taken) : moment

// What the fleet does

/** How many copies one pass makes. Each of them leads to another pass. */
const MOST_DUE = 100

/** Makes copies when their time comes. */
export class Schedules implements Reactor {
  readonly name = 'schedules'
  readonly #fleet: Fleet
  readonly #desk: Desk

  constructor(fleet: Fleet, desk: Desk) {
    this.#fleet = fleet
    this.#desk = desk
  }

  /** Each pass looks at all of them. */
  async *unfinished(): AsyncGenerator<Ref> {}

  affectedBy(): Ref[] {
    return []
  }

  look(ref: Ref): Promise<void> {
    return this.#keep(idIn(ref))
  }

  async pass(): Promise<void> {
    const now = this.#fleet.now()
    // One list by time, the same at each pass, so that the store need not read it again.
    const { items } = await this.#fleet.store.find('schedules', { index: 'due', limit: MOST_DUE + 1 })
    const timed = items.map(({ value }) => value)
    const due = timed.filter(({ next_at }) => next_at! <= now).slice(0, MOST_DUE)
    const waiting = await Array.fromAsync(all(this.#fleet, 'schedules', 'waiting'), ({ value }) => value)
    const ids = new Set([...due, ...waiting].map(({ id }) => id))
    // A fault in one schedule, such as a full disk, must not keep the others from their time.
    await Promise.all([...ids].map(id => this.#desk.attempt(refTo('schedules', id), () => this.#keep(id))))
    const next = timed.find(({ next_at }) => next_at! > now)?.next_at
    if (next) this.#desk.passIn(Date.parse(next) - Date.parse(this.#fleet.now()))
  }

  /** Switches off a schedule that cannot be kept, and says why. The others go on. */
  async #keep(id: string): Promise<void> {
    try {
      await retryOnConflict(() => this.#step(id))
    } catch (error) {
      if (!(error instanceof Refusal) || error instanceof StoreTrouble) throw error
      await retryOnConflict(() => this.#switchOff(id, sentence(error)))
    }
  }

  async #step(id: string): Promise<void> {
    const stored = await this.#fleet.store.get('schedules', id)
    if (!stored) return
    const when = { actor: 'fleet', now: this.#fleet.now() }
    const last = await lastCopy(this.#fleet, stored.value)
    const times = await cronTimesOf(stored.value)
    const { schedule, make, skipped, cancelLast } = tick(stored.value, { now: when.now, times, busy: last.busy })
    if (!make && !skipped && !cancelLast && schedule.next_at === stored.value.next_at) return
    const copy = make ? await copyOf(this.#fleet, schedule, make, when) : null
    const cancelled = cancelLast ? last.cancel(when) : null
    const changed = copy ? withCopy(schedule, { cron_time: make!, copy_id: copy.id }) : schedule
    await this.#fleet.commit('commit.schedule', {
      changes: [put('schedules', changed, stored.version), ...(copy?.changes ?? []), ...(cancelled?.changes ?? [])],
      checks: copy?.checks,
      events: [
        ...(skipped ? [aboutSchedule(schedule, 'schedule_skipped', when, { data: { cron_time: skipped } })] : []),
        ...(cancelled?.events ?? []),
        ...(copy?.events ?? []),
      ],
    })
  }

  async #switchOff(id: string, problem: string): Promise<void> {
    const stored = await this.#fleet.store.get('schedules', id)
    if (!stored) return
    const when = { actor: 'fleet', now: this.#fleet.now() }
    const off = { ...stored.value, enabled: false, waiting: [], problem: problem.slice(0, 1000), updated_at: when.now }
    await this.#fleet.commit('commit.schedule', {
      changes: [put('schedules', off, stored.version)],
      events: [aboutSchedule(off, 'schedule_skipped', when, { cause: problem, data: { off: true } })],
    })
  }
}

/** The next millisecond, because bounds are exclusive. */
const after = (moment: string): string => new Date(Date.parse(moment) + 1).toISOString()
