import { InvalidInput, NotAllowed, Refusal } from '../domain/errors.ts'
import * as life from '../domain/life.ts'
import { Mission, MissionSettings } from '../domain/mission.ts'
import { isAtWork, MOST_WAITING, Schedule, type ScheduleSettings, tick } from '../domain/schedule.ts'
import type { Change, Check, Stored } from '../store/index.ts'
import { type Ask, by, oncePerKey } from './asking.ts'
import { type Fleet, retryOnConflict } from './fleet.ts'
import { readiness } from './missions.ts'
import { all, current, derivedId, put } from './records.ts'
import { sentence } from './sentences.ts'
import { slotsOf } from './slots.ts'

/** A timer counts at most this far: a machine that slept, or whose clock was set, is noticed. */
const LONGEST_NAP_MS = 30_000

// What people ask for

export async function setSchedule(
  fleet: Fleet,
  ask: Ask,
  missionId: string,
  settings: ScheduleSettings,
): Promise<Stored<Schedule>> {
  const slots = await slotsOf(settings)
  const next_at = slots.after(fleet.now())
  if (!next_at) throw new InvalidInput('cron', 'never comes round')
  await oncePerKey(fleet, ask, async () => {
    const { value: mission, version } = await current(fleet, 'missions', missionId)
    if (mission.deleting) throw new NotAllowed(`Mission ${missionId} is being deleted.`)
    const found = await fleet.store.get('schedules', missionId)
    const when = by(fleet, ask)
    const schedule = Schedule.parse({
      waiting: [],
      created_at: when.now,
      ...found?.value,
      ...settings,
      id: missionId,
      project_id: mission.project_id,
      next_at,
      problem: null,
      updated_at: when.now,
    })
    return {
      subject: missionId,
      changes: [put('schedules', schedule, found?.version ?? 'absent')],
      checks: [{ collection: 'missions' as const, id: missionId, expects: version }],
      events: [life.about(mission, 'scheduled', when, { data: { ...settings, next_at } })],
    }
  })
  return current(fleet, 'schedules', missionId)
}

export async function removeSchedule(fleet: Fleet, ask: Ask, id: string): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'schedules', id)
    const about = { id, project_id: value.project_id }
    return {
      subject: id,
      changes: [{ remove: 'schedules', id, expects: version }],
      events: [life.about(about, 'unscheduled', by(fleet, ask))],
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
    const changed = { ...value, waiting: [...value.waiting, when.now], updated_at: when.now }
    return {
      subject: id,
      changes: [put('schedules', changed, version)],
      events: [life.about({ id, project_id: value.project_id }, 'schedule_run', when)],
    }
  })
  return current(fleet, 'schedules', id)
}

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
    if (failed) throw failed.reason
    if (!next?.value.next_at) return
    const nap = Math.min(Math.max(Date.parse(next.value.next_at) - Date.parse(this.#fleet.now()), 1), LONGEST_NAP_MS)
    this.#timer = setTimeout(this.#wake, nap).unref()
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
    const last = stored.value.last && (await this.#fleet.store.get('missions', stored.value.last.mission_id))
    const busy = last !== null && last !== undefined && isAtWork(last.value)
    const slots = await slotsOf(stored.value)
    const { schedule, make, skipped, cancelLast } = tick(stored.value, { now: when.now, slots, busy })
    if (!make && !skipped && !cancelLast && schedule.next_at === stored.value.next_at) return
    const about = { id, project_id: schedule.project_id }
    const copy = make ? await this.#copy(schedule, make, when) : null
    const cancelled = cancelLast && last && !last.value.cancel_requested ? life.cancel(last.value, when) : null
    const changed = copy
      ? { ...schedule, last: { slot: make!, mission_id: copy.mission.id }, made: schedule.made + 1 }
      : schedule
    const changes: Change[] = [
      put('schedules', changed, stored.version),
      ...(copy ? [put('missions', copy.mission, 'absent')] : []),
      ...(cancelled ? [put('missions', cancelled.mission, last!.version)] : []),
    ]
    const events = [
      ...(skipped ? [life.about(about, 'schedule_skipped', when, { data: { slot: skipped } })] : []),
      ...(cancelled?.events ?? []),
      ...(copy?.events ?? []),
    ]
    await this.#fleet.commit('commit.schedule', { changes, checks: copy?.checks, events })
  }

  /** Its id follows from the time it is made for, so that no time has two. */
  async #copy(schedule: Schedule, slot: string, when: life.By): Promise<life.Step & { checks: Check[] }> {
    const { value: template, version } = await current(this.#fleet, 'missions', schedule.id)
    if (template.deleting) throw new NotAllowed(`Mission ${template.id} is being deleted.`)
    const draft = Mission.parse({
      ...MissionSettings.parse(template),
      id: derivedId('slot', schedule.id, schedule.created_at, slot),
      project_id: template.project_id,
      prompt: template.prompt,
      scheduled: { by: schedule.id, slot },
      status: 'draft',
      created_at: when.now,
      updated_at: when.now,
    })
    const { ready, checks } = await readiness(this.#fleet, draft)
    const created = life.about(draft, 'mission_created', when, {
      data: { title: draft.title, scheduled: schedule.id, slot, was: null, status: 'draft' },
    })
    const queued = life.dispatch(draft, ready, null, when, 'auto_dispatched')
    return {
      mission: queued.mission,
      events: [created, ...queued.events],
      checks: [{ collection: 'missions', id: template.id, expects: version }, ...checks],
    }
  }

  async #switchOff(id: string, problem: string): Promise<void> {
    const stored = await this.#fleet.store.get('schedules', id)
    if (!stored) return
    const when = { actor: 'fleet', now: this.#fleet.now() }
    const off = { ...stored.value, enabled: false, waiting: [], problem: problem.slice(0, 1000), updated_at: when.now }
    await this.#fleet.commit('commit.schedule', {
      changes: [put('schedules', off, stored.version)],
      events: [
        life.about({ id, project_id: off.project_id }, 'schedule_skipped', when, {
          cause: problem,
          data: { off: true },
        }),
      ],
    })
  }
}

/** The first moment that is later: bounds are exclusive. */
const after = (moment: string): string => new Date(Date.parse(moment) + 1).toISOString()
