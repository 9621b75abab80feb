import { InvalidInput, NotAllowed, Refusal } from '../../domain/errors.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import { MissionSettings } from '../../domain/records/mission.ts'
import { MOST_WAITING, Schedule, type ScheduleSettings, tick } from '../../domain/records/schedule.ts'
import * as life from '../../domain/rules/life.ts'
import type { Check, Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { requireStartable } from '../missions/requirements.ts'
import { all, current, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { planOf } from '../workflows/stages.ts'
import { requireStages } from '../workflows/workflows.ts'
import { copyOf, lastCopy } from './copies.ts'
import { slotsOf } from './cron-times.ts'

/** A timer counts at most this far: a machine that slept, or whose clock was set, is noticed. */
const LONGEST_NAP_MS = 30_000

// What people ask for

export async function setSchedule(
  fleet: Fleet,
  ask: Ask,
  template: { of: Schedule['of']; id: string },
  settings: ScheduleSettings,
): Promise<Stored<Schedule>> {
  const { of, id } = template
  const slots = await slotsOf(settings)
  const next_at = slots.after(fleet.now())
  if (!next_at) throw new InvalidInput('cron', 'never comes round')
  if (settings.enabled) await requireCopies(fleet, template)
  await oncePerKey(fleet, ask, async () => {
    const { project_id, check } = await templateOf(fleet, template)
    const found = await fleet.store.get('schedules', id)
    const when = by(fleet, ask)
    const schedule = Schedule.parse({
      waiting: [],
      created_at: when.now,
      ...found?.value,
      // Switched off, nothing more comes of it, also not what waited behind the copy at work.
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

/** A copy that could not start is told of now, not when nobody looks. */
async function requireCopies(fleet: Fleet, { of, id }: Pick<Schedule, 'of' | 'id'>): Promise<void> {
  const { value } = await current(fleet, of === 'mission' ? 'missions' : 'workflows', id)
  const { value: project } = await current(fleet, 'projects', value.project_id)
  if (of === 'workflow') await requireStages(fleet, project, (await planOf(fleet, id)).stages)
  else await requireStartable(fleet, project, [{ called: id, settings: MissionSettings.parse(value) }])
}

/** The mission or workflow to copy, as it must still be when the commit is made. */
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

/** Once more, now; behind the one that is still at work. */
export async function runSchedule(fleet: Fleet, ask: Ask, id: string): Promise<Stored<Schedule>> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'schedules', id)
    if (value.waiting.length >= MOST_WAITING)
      throw new NotAllowed(`${value.waiting.length} copies already wait for the one at work.`)
    const when = by(fleet, ask)
    const taken = [...value.waiting, ...(value.last ? [value.last.slot] : [])]
    const changed = { ...value, waiting: [...value.waiting, freeMoment(when.now, taken)], updated_at: when.now }
    return {
      subject: id,
      changes: [put('schedules', changed, version)],
      events: [aboutSchedule(value, 'schedule_run', when)],
    }
  })
  return current(fleet, 'schedules', id)
}

/** A copy is known by its time: asked for twice in one moment, the second has the next. */
const freeMoment = (moment: string, taken: readonly string[]): string =>
  taken.includes(moment) ? freeMoment(after(moment), taken) : moment

// What the fleet does

/** Makes copies when it is time. Only the holder of the home has one; each commit wakes it, and a timer. */
export class Scheduler {
  readonly #fleet: Fleet
  readonly #wake: () => void
  #timer: NodeJS.Timeout | undefined

  constructor(fleet: Fleet, wake: () => void) {
    this.#fleet = fleet
    this.#wake = wake
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  async pass(): Promise<void> {
    const now = this.#fleet.now()
    const due = await this.#fleet.store.find('schedules', { index: 'due', below: after(now), limit: 100 })
    const waiting = await Array.fromAsync(all(this.#fleet, 'schedules', 'waiting'))
    const ids = new Set([...due.items, ...waiting].map(({ value }) => value.id))
    // A fault of ours in one, such as a full disk, must not keep the others from their time.
    const kept = await Promise.allSettled([...ids].map(id => this.#keep(id)))
    const [next] = (await this.#fleet.store.find('schedules', { index: 'due', limit: 1 })).items
    this.stop()
    const failed = kept.find(each => each.status === 'rejected')
    if (next?.value.next_at) {
      const wait = Date.parse(next.value.next_at) - Date.parse(this.#fleet.now())
      // One that cannot be kept now is still due: it is tried again, but not at once.
      const nap = failed ? LONGEST_NAP_MS : Math.min(Math.max(wait, 1), LONGEST_NAP_MS)
      this.#timer = setTimeout(this.#wake, nap).unref()
    }
    if (failed) throw failed.reason
  }

  /** One that cannot be kept is switched off and says why; the others go on. */
  async #keep(id: string): Promise<void> {
    try {
      await retryOnConflict(() => this.#step(id))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      await retryOnConflict(() => this.#switchOff(id, sentence(error)))
    }
  }

  async #step(id: string): Promise<void> {
    const stored = await this.#fleet.store.get('schedules', id)
    if (!stored) return
    const when = { actor: 'fleet', now: this.#fleet.now() }
    const last = await lastCopy(this.#fleet, stored.value)
    const slots = await slotsOf(stored.value)
    const { schedule, make, skipped, cancelLast } = tick(stored.value, { now: when.now, slots, busy: last.busy })
    if (!make && !skipped && !cancelLast && schedule.next_at === stored.value.next_at) return
    const copy = make ? await copyOf(this.#fleet, schedule, make, when) : null
    const cancelled = cancelLast ? last.cancel(when) : null
    const changed = copy ? { ...schedule, last: { slot: make!, copy_id: copy.id }, made: schedule.made + 1 } : schedule
    await this.#fleet.commit('commit.schedule', {
      changes: [put('schedules', changed, stored.version), ...(copy?.changes ?? []), ...(cancelled?.changes ?? [])],
      checks: copy?.checks,
      events: [
        ...(skipped ? [aboutSchedule(schedule, 'schedule_skipped', when, { data: { slot: skipped } })] : []),
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

/** The first moment that is later: bounds are exclusive. */
const after = (moment: string): string => new Date(Date.parse(moment) + 1).toISOString()
