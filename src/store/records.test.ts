import { expect, test } from 'vitest'
import { aMission } from '../domain/samples.testkit.ts'
import { revive } from './records.ts'

const at = '2026-01-01T00:00:00.000Z'

test('a mission of version 0.1.0 says for which time its schedule made it', () => {
  const stored = { ...aMission(), scheduled: { by: 'nightly', slot: at } }
  const read = revive('missions', JSON.stringify(stored))
  expect(read.scheduled).toEqual({ by: 'nightly', cron_time: at })
  expect(revive('missions', JSON.stringify(read))).toEqual(read)
  expect(revive('missions', JSON.stringify(aMission())).scheduled).toBeNull()
})

test('a schedule of version 0.1.0 knows its last copy', () => {
  const stored = {
    ...{ id: 'nightly', project_id: 'p', cron: '@daily', time_zone: 'UTC', next_at: null, waiting: [] },
    ...{ created_at: at, updated_at: at, last: { slot: at, copy_id: 'copy' } },
  }
  expect(revive('schedules', JSON.stringify(stored)).last).toEqual({ cron_time: at, copy_id: 'copy' })
})
