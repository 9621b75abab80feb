import { expect, test } from 'vitest'
import { current, put } from '../../../src/fleet/records.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

test('the time in which no server watched an agent does not count against its time limit', async () => {
  const { fleet, project, gate } = await aScene()
  const held = gate('away')
  const { id } = await fleet.mission(project, `${held.wait}; echo x > x.txt`, { timeout_seconds: 120 })
  const session = await eventually('it runs', async () => {
    const [noted] = (await fleet.show(id)).sessions
    return held.reached() && noted?.started_at ? noted.id : undefined
  })
  await fleet.kill()
  // As if there was no server for an hour.
  const { value, version } = await current(fleet.fleet, 'sessions', session)
  const started_at = new Date(Date.parse(value.started_at!) - 3_600_000).toISOString()
  await fleet.fleet.commit('commit.session-noted', { changes: [put('sessions', { ...value, started_at }, version)] })

  await fleet.start()
  await fleet.until((await fleet.mission(project, 'echo y > y.txt')).id, 'done')
  held.open()
  expect((await fleet.until(id, 'done', 'needs_input', 'failed')).sessions).toMatchObject([{ outcome: 'completed' }])
})
