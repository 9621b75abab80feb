import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'

withBrowser()

test('a schedule is built from choices, shown in words, run now, and its runs are listed', async () => {
  const { fleet, project } = await aScene({ project: { name: 'Ship' } })
  const { id } = await fleet.mission(project, 'date +%s%N >> oil.txt', { title: 'Oil the winch' })
  await fleet.until(id, 'done')
  const { page, visit } = await aPerson(fleet, { expects: /400/ })
  await visit('/schedules')
  await page.getByRole('button', { name: 'New schedule' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Mission or workflow').click()
  await page.getByRole('option', { name: 'Oil the winch' }).click()
  await dialog.getByText('On workdays at 07:00').waitFor()
  await dialog.getByRole('button', { name: 'Tue' }).click()
  await dialog.getByLabel('Time', { exact: true }).fill('18:45')
  await dialog.getByLabel('Time zone').fill('Europe/Berlin')
  await dialog.getByText('Every Monday, Wednesday, Thursday and Friday at 18:45').waitFor()
  await dialog.getByText(/^Next: .*18:45 · .*18:45 · .*18:45$/).waitFor()
  await screenshot(page, 'schedule-dialog')
  await expectAccessible(page)
  await dialog.getByLabel('Repeats').click()
  await page.getByRole('option', { name: 'Custom (cron expression)' }).click()
  await dialog.getByLabel('Cron expression').fill('99 * * * *')
  await dialog.getByRole('alert').waitFor()
  await dialog.getByLabel('Cron expression').fill('45 18 * * 1')
  await dialog.getByText('Every Monday at 18:45').waitFor()
  await dialog.getByRole('button', { name: 'Schedule', exact: true }).click()

  await page.getByText('Every Monday at 18:45, Europe/Berlin').waitFor()
  await page.getByText(/^Next: .*Mon.*18:45 · .*Mon.*18:45 · .*Mon.*18:45$/).waitFor()
  await page.getByRole('button', { name: 'Run now' }).click()
  await page.getByText('1 run', { exact: false }).first().waitFor()
  await page.getByText('Last runs').click()
  const [run] = (await fleet.call<{ schedules: { history: { copy_id: string }[] }[] }>('list_schedules')).schedules[0]!
    .history
  await fleet.until(run!.copy_id, 'done')
  await page.locator('.schedule-history').getByText('Done').waitFor()
  for (const scheme of ['light', 'dark'] as const) {
    const look = await aPerson(fleet, { scheme, size: scheme === 'light' ? 'phone' : 'desktop' })
    await look.visit('/schedules')
    await look.page.getByText('Last runs').click()
    await screenshot(look.page, `schedules-${scheme}`)
    await expectAccessible(look.page)
    expect(await look.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }
})
