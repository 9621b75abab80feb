import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

interface Schedules {
  schedules: { cron: string; title: string }[]
}

test('Ctrl+Enter before the agents are known starts the mission once they are', async () => {
  const { fleet } = await aScene({ project: { agent: 'claude' } })
  const { page, visit } = await aPerson(fleet)
  let answer = () => {}
  const held = new Promise<void>(resolve => (answer = resolve))
  await page.route('**/api/agents*', async route => {
    await held
    await route.continue()
  })
  await visit('/')
  const task = page.getByRole('textbox', { name: 'Task' })
  await task.fill('/script echo early > early.txt')
  await task.press('Control+Enter')
  await page.getByTitle('Looking for the agents on this machine…').waitFor()
  expect(await page.getByText('is queued').count()).toBe(0)
  answer()
  await page.getByText('“echo early > early.txt” is queued').first().waitFor()
  expect(await task.inputValue()).toBe('')
})

test('the box completes files and commands, brings back prompts, and schedules', async () => {
  const files = { 'src/harbour.ts': 'x', 'src/pier.ts': 'x', 'README.md': 'x' }
  const { fleet, project, repository } = await aScene({ repository: { files }, project: { agent: 'claude' } })
  await fleet.project((await repository()).path, { name: 'other' })
  const template = await fleet.call<{ id: string }>('create_mission', {
    ...{ project_id: project.id, title: 'Paint it', detailed_prompt: 'Paint the boat.', agent: 'claude' },
  })
  await fleet.call('save_template', { name: 'paint', mission_id: template.id })
  const { page, visit } = await aPerson(fleet)
  // The project of the page you come from is chosen.
  await visit(`/projects/${project.id}`)
  await page.getByRole('link', { name: 'New mission' }).first().click()
  await expect.poll(() => page.getByRole('combobox', { name: 'Project' }).innerText()).toBe('test')
  await expect.poll(() => page.locator(':focus').evaluate(each => each.tagName)).toBe('TEXTAREA')

  // A file by some of its letters.
  await page.keyboard.type('Repair @hrb')
  await page.getByRole('option', { name: 'src/harbour.ts' }).waitFor()
  await expectAccessible(page)
  await screenshot(page, 'composer-files-light')
  await page.keyboard.press('Enter')
  await page.keyboard.type('now')
  const box = page.getByRole('textbox', { name: 'Task' })
  expect(await box.inputValue()).toBe('Repair @src/harbour.ts now')
  await page.getByRole('button', { name: 'Save as draft' }).click()
  await page.getByRole('heading', { level: 1, name: 'Repair @src/harbour.ts now' }).waitFor()

  // On Home: the prompt before, and what was typed.
  await visit('/')
  const task = page.getByRole('textbox', { name: 'Task' })
  await task.fill('A new text')
  await task.press('Home')
  await task.press('ArrowUp')
  await expect.poll(() => task.inputValue()).toBe('Repair @src/harbour.ts now')
  await task.press('ArrowDown')
  await expect.poll(() => task.inputValue()).toBe('A new text')

  // Commands: one that runs the text as a script, one for a template.
  await task.fill('/')
  await page.getByRole('option', { name: /^\/plan/ }).waitFor()
  await settled(page)
  await expectAccessible(page)
  await screenshot(page, 'composer-commands-light')
  await task.pressSequentially('scr')
  await task.press('Tab')
  await task.pressSequentially('echo once > once.txt')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText('“echo once > once.txt” is queued').first().waitFor()

  // A schedule instead of a run.
  await task.fill('/script echo often > often.txt')
  await page.getByRole('combobox', { name: 'Schedule' }).click()
  await page.getByRole('option', { name: 'On workdays at 7:00' }).click()
  await page.getByRole('button', { name: 'Schedule', exact: true }).click()
  await page.getByText('runs on workdays at 7:00').first().waitFor()
  const { schedules } = await fleet.call<Schedules>('list_schedules')
  expect(schedules).toMatchObject([{ cron: '0 7 * * 1-5' }])
  const { missions } = await fleet.call<{ missions: { title: string; status: string }[] }>('list_missions')
  expect(missions.find(({ title }) => title === 'echo often > often.txt')?.status).toBe('draft')

  await task.fill('/template')
  await page.getByRole('option', { name: /paint/ }).click()
  await expect.poll(() => page.getByRole('textbox', { name: 'Task' }).inputValue()).toBe('Paint the boat.')
  expect(new URL(page.url()).search).toContain('template=paint')
}, 90_000)
