import { expect, test } from 'vitest'
import { damageRecord } from '../kit/damage.ts'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'

withBrowser()

test('what the fleet is stuck on is named with its reason, and gone once it is mended, all without a reload', async () => {
  const { fleet, project, gate } = await aScene()
  const workflow = await fleet.call<{ id: string }>('create_workflow', {
    project_id: project.id,
    stages: [{ name: 'hull', prompt: gate('hull').wait, agent: 'shell' }],
  })
  await eventually('the stage is at work', () => gate('hull').reached())
  const { page } = await aPerson(fleet)
  await page.getByRole('heading', { name: 'Running (1)' }).waitFor()
  const bar = page.getByRole('region', { name: 'Faults' })
  expect(await bar.count()).toBe(0)

  const mend = await damageRecord(fleet, 'workflows', workflow.id)
  gate('hull').open()
  const stuck = bar.getByRole('listitem').filter({ hasText: 'store, workflow' })
  await stuck.getByText('is damaged and cannot be read').waitFor()
  expect(await stuck.getByRole('link').getAttribute('href')).toBe(`/workflows/${workflow.id}`)
  await bar.getByText('workflows, mission').waitFor()
  await expect.poll(() => stuck.textContent()).toMatch(/First failed .*, tried (once|\d times), next try /)
  await expectAccessible(page)
  await screenshot(page, 'faults-light')

  const before = await triesOf(stuck)
  await bar.getByRole('button', { name: 'Retry now' }).click()
  await expect.poll(() => triesOf(stuck)).toBeGreaterThan(before)

  await bar.getByRole('button', { name: 'Hide details' }).click()
  await stuck.waitFor({ state: 'detached' })
  await page.reload()
  await bar.getByRole('button', { name: 'Show details' }).click()
  await stuck.waitFor()

  await mend()
  await bar.getByRole('button', { name: 'Retry now' }).click()
  await bar.waitFor({ state: 'detached' })
  const events = await fleet.events()
  expect(events.filter(({ kind }) => kind === 'fault_cleared').length).toBeGreaterThan(0)
})

async function triesOf(line: { textContent(): Promise<string | null> }): Promise<number> {
  const [, once, times] = /tried (?:(once)|(\d+) times)/.exec((await line.textContent()) ?? '') ?? []
  return once ? 1 : Number(times)
}
