import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claudeBinary, HOW_TO_INSTALL } from '../../clients/clients.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { type Model, startModel, steps } from '../../model/index.ts'

const binary = claudeBinary()
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

describe.skipIf(!binary)('an agent whose model hangs', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  test('is restarted, and goes on in the same conversation; this is no failure of the mission', async () => {
    const { fleet, project } = await aScene({
      project: { agent: 'claude' },
      env: {
        PATH: `${dirname(binary!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        FLEET_STALL_AFTER: '2',
        FLEET_STALL_POLICY: 'restart',
      },
    })
    const { id } = await fleet.mission(project, `Do it.\n${steps({ hang: true })}`, { mission_type: 'review' })
    const mission = await fleet.until(id, 'failed', 'done')
    expect(mission).toMatchObject({ status: 'done', failures: 0 })
    expect(mission.sessions.map(session => session.outcome)).toEqual(['stalled', 'completed'])
    expect(mission.sessions[1]!.conversation).toBe(mission.sessions[0]!.conversation)
  })
})

test('silence alone is no stall: a script that computes, or writes, is left alone; one that only sleeps is noticed', async () => {
  const { fleet, project, gate } = await aScene({ env: { FLEET_STALL_AFTER: '3' } })
  const busy = await fleet.mission(
    project,
    'end=$(($(date +%s) + 9)); while [ $(date +%s) -lt $end ]; do :; done; echo x > busy.txt',
  )
  const held = gate('asleep')
  const asleep = await fleet.mission(project, `${held.wait.replace('sleep 0.02', 'sleep 600')}`)
  const stalled = await eventually('the sleeper is noticed', async () =>
    (await fleet.events()).find(event => event.kind === 'stalled'),
  )
  expect(stalled.mission_id).toBe(asleep.id)
  expect((await fleet.show(asleep.id)).status).toBe('running')
  await fleet.until(busy.id, 'done')
  expect((await fleet.events()).filter(event => event.kind === 'stalled')).toHaveLength(1)
  await fleet.call('cancel_mission', { mission_id: asleep.id })
  await fleet.until(asleep.id, 'cancelled')
})
