import { expect, test } from 'vitest'
import { aScene } from '../../kit/scene.ts'

test('a landing that a person forced past a failed check says so', async () => {
  const checks = [{ name: 'lint', command: 'exit 3' }]
  const { fleet, project } = await aScene({ project: { checks } })
  const { id } = await fleet.mission(project, 'echo 1 > a.txt; echo ok')
  const refused = await fleet.until(id, 'review', 'done')
  expect(refused.status_reason?.code).toBe('checks_failed')

  await fleet.land(id, { force: true })
  const { landed } = await fleet.until(id, 'done')
  const past = 'The check lint failed on the merged tree.'
  expect(landed).toMatchObject({ approved: { by: 'person' }, forced: { by: 'person', past } })
  const events = (await fleet.events()).filter(event => event.mission_id === id)
  expect(events.find(({ kind }) => kind === 'land_requested')?.data).toMatchObject({ forced: true })
  expect(events.find(({ kind }) => kind === 'landed')?.data).toMatchObject({ forced: { by: 'person', past } })
  expect((await fleet.fleetCommand(['mission', 'show', id])).stdout).toContain(`forced by you past: ${past}`)
})

test('force that was not needed is not told as forced', async () => {
  const checks = [{ name: 'lint', command: 'true' }]
  const { fleet, project } = await aScene({ project: { checks, landing: 'review' } })
  const { id } = await fleet.mission(project, 'echo 1 > a.txt; echo ok')
  await fleet.until(id, 'review')
  await fleet.land(id, { force: true })
  expect((await fleet.until(id, 'done')).landed).toMatchObject({ approved: { by: 'person' }, forced: null })
})
