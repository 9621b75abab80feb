import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { call } from '../../kit/inside.ts'
import { aScene } from '../../kit/scene.ts'

const CLAIM = `printf '%s' '{"status":"completed","summary":"All is well.","tests":[{"command":"make","status":"passed","details":"3 ok"}]}' > "$FLEET_RESULT_FILE"`

test.each([
  ['without a report', 'true', null],
  ['with a report that says completed', CLAIM, 'completed'],
])('a session %s that failed, was cancelled or put aside is not reported as completed', async (_, say, claimed) => {
  const { fleet, project, gate } = await aScene()
  const failing = await fleet.mission(project, `echo x > x; ${say}; exit 3`)
  const asking = await fleet.mission(
    project,
    `echo x > x; ${say}; ${call('ask_human', { question: 'Which?', wait_seconds: 1 })}`,
  )
  const limited = await fleet.mission(project, `echo x > x; ${say}; sleep 600`, { timeout_seconds: 1 })
  const held = gate('held')
  const cancelled = await fleet.mission(project, `echo x > x; ${say}; ${held.wait}`)
  const of = async (id: string, ...statuses: string[]) => (await fleet.until(id, ...statuses)).report
  await eventually('it is at work', () => held.reached())
  await fleet.call('cancel_mission', { mission_id: cancelled.id })
  const expected = { claimed_status: claimed, files_changed: [{ path: 'x' }] }
  expect(await of(failing.id, 'failed', 'done')).toMatchObject({ ...expected, status: 'failed' })
  expect(await of(cancelled.id, 'cancelled', 'done')).toMatchObject({ ...expected, status: 'cancelled' })
  expect(await of(limited.id, 'needs_input', 'done')).toMatchObject({ ...expected, status: 'limited' })
  const parked = await eventually('it is put aside', async () => (await fleet.show(asking.id)).report ?? undefined)
  expect(parked).toMatchObject({ ...expected, status: 'parked' })
})

test('the tests an agent says it ran are in its report and in the terminal', async () => {
  const { fleet, project } = await aScene()
  const { id } = await fleet.mission(project, `echo x > x; ${CLAIM}`)
  expect((await fleet.until(id, 'done', 'failed')).report).toMatchObject({
    status: 'completed',
    tests: [{ command: 'make', status: 'passed', details: '3 ok' }],
  })
  const { stdout } = await fleet.fleetCommand(['mission', 'show', id])
  expect(stdout).toContain('make · passed · 3 ok')
})
