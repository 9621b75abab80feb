import { expect, test } from 'vitest'
import type { MissionView } from '../../../src/operations/views.ts'
import { aScene } from '../../kit/scene.ts'
import { aWorker } from '../../kit/worker.ts'

const reporting = (claim: object): string => `echo x >> x.txt; echo '${JSON.stringify(claim)}' > "$FLEET_RESULT_FILE"`

test('the next steps of a report become a mission with its settings, the same one when asked for twice', async () => {
  const { fleet, project } = await aScene()
  const claim = { summary: 'Half of it.', next_steps: ['Write the tests'], what_open: ['The docs', 'Write the tests'] }
  aWorker(fleet)
  const settings = { title: 'The shop', priority: 7, tags: ['shop'], base_ref: 'main', landing: 'never' }
  const { id } = await fleet.mission(project, reporting(claim), settings)
  await fleet.until(id, 'done')
  const next = (more: object = {}) => fleet.call<MissionView>('generate_next', { mission_id: id, ...more })

  const [first, second] = await Promise.all([next(), next()])
  expect(second.id).toBe(first.id)
  expect(first).toMatchObject({
    ...{ base_ref: null, landing: 'never', agent: null, script: false, done_by: 'worker' },
    ...{ title: 'Next: The shop', follows: id, status: 'draft', priority: 7, tags: ['shop'], depends_on: [id] },
  })
  expect(first.detailed_prompt).toContain('- Write the tests\n- The docs')
  expect(first.detailed_prompt.match(/Write the tests/g)).toHaveLength(3)

  expect(await next({ auto_dispatch: true })).toMatchObject({
    id: first.id,
    status: expect.not.stringMatching('draft'),
  })

  const other = await next({ again: true, auto_dispatch: true })
  expect(other.id).not.toBe(first.id)
  await fleet.until(other.id, 'failed', 'done')
})

test('it says so when there is nothing to do, or nothing was reported', async () => {
  const { fleet, project } = await aScene()
  const { id } = await fleet.mission(project, reporting({ summary: 'All of it.' }))
  await fleet.until(id, 'done')
  await expect(fleet.call('generate_next', { mission_id: id })).rejects.toThrow('There is nothing to do')
  const draft = await fleet.mission(project, 'true', { auto_dispatch: false })
  await expect(fleet.call('generate_next', { mission_id: draft.id })).rejects.toThrow('has no report yet')
})
