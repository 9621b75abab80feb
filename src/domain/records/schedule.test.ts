import { describe, expect, test } from 'vitest'
import { type CronTimes, MOST_WAITING, Schedule, tick } from './schedule.ts'

const at = (minute: number, second = 0): string => new Date(Date.UTC(2026, 0, 1, 0, minute, second)).toISOString()
/** Every minute. */
const times: CronTimes = {
  after: moment => new Date(Math.floor(Date.parse(moment) / 60_000) * 60_000 + 60_000).toISOString(),
  upTo: moment => new Date(Math.floor(Date.parse(moment) / 60_000) * 60_000).toISOString(),
}
const schedule = (settings: Partial<Schedule> = {}): Schedule =>
  Schedule.parse({
    cron: '* * * * *',
    time_zone: 'UTC',
    id: 'template',
    project_id: 'project',
    next_at: at(5),
    waiting: [],
    created_at: at(0),
    updated_at: at(0),
    ...settings,
  })

test('before its time nothing happens', () => {
  expect(tick(schedule(), { now: at(4, 59), times, busy: false })).toMatchObject({
    make: null,
    skipped: null,
    schedule: { next_at: at(5) },
  })
})

test('its time makes one copy and moves on', () => {
  const first = tick(schedule(), { now: at(5, 1), times, busy: false })
  expect(first).toMatchObject({ make: at(5), schedule: { next_at: at(6), waiting: [] } })
  expect(tick(first.schedule, { now: at(5, 2), times, busy: false }).make).toBeNull()
})

test('switched off, only what a person asked for is made', () => {
  const off = schedule({ enabled: false, waiting: [at(3)] })
  expect(tick(off, { now: at(9), times, busy: false })).toMatchObject({ make: at(3), skipped: null })
})

describe('when the last copy is still at work', () => {
  const tickBusy = (settings: Partial<Schedule>) => tick(schedule(settings), { now: at(5), times, busy: true })

  test('skip: this time is left out', () => {
    expect(tickBusy({ overlap: 'skip' })).toMatchObject({
      make: null,
      skipped: at(5),
      schedule: { waiting: [], skipped: 1, next_at: at(6) },
    })
  })

  test('queue: it is made once the last is over', () => {
    const { schedule: queued, make } = tickBusy({ overlap: 'queue' })
    expect([make, queued.waiting]).toEqual([null, [at(5)]])
    expect(tick(queued, { now: at(5, 30), times, busy: false })).toMatchObject({
      make: at(5),
      schedule: { waiting: [] },
    })
  })

  test('queue: a queue that only grows is cut', () => {
    const waiting = Array.from({ length: MOST_WAITING }, (_, minute) => at(minute))
    expect(tickBusy({ overlap: 'queue', waiting })).toMatchObject({ skipped: at(5), schedule: { waiting } })
  })

  test('replace: the last makes room, and only the newest time waits', () => {
    expect(tickBusy({ overlap: 'replace', waiting: [at(4)] })).toMatchObject({
      make: null,
      cancelLast: true,
      schedule: { waiting: [at(5)] },
    })
  })
})

describe('after an hour without a server', () => {
  const late = (catch_up: 'none' | 'once', now = at(65, 30)) =>
    tick(schedule({ catch_up, next_at: at(5) }), {
      now,
      times: { ...times, upTo: () => at(60), after: () => at(120) },
      busy: false,
    })

  test('none: what passed has passed', () => {
    expect(late('none')).toMatchObject({ make: null, skipped: at(60), schedule: { next_at: at(120) } })
  })

  test('once: the newest stands for all', () => {
    expect(late('once')).toMatchObject({ make: at(60), schedule: { next_at: at(120) } })
  })

  test('none: a time that is only just past is kept', () => {
    expect(late('none', at(60, 59))).toMatchObject({ make: at(60) })
  })
})
