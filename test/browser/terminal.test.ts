import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { claudeBinary, HOW_TO_INSTALL } from '../clients/clients.ts'
import { eventually } from '../kit/fleet.ts'
import { asKnownPerson, CLAUDE_KEY } from '../kit/known-person.ts'
import { aScene } from '../kit/scene.ts'
import { startModel, steps } from '../model/index.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'

withBrowser()

const STAND_IN = join(import.meta.dirname, '../fixtures/hands')

async function takeOver(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: /Take over/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Take over' })
  await dialog.getByRole('button', { name: 'Take over' }).click()
  await page.getByText('You have taken over. The agent is stopped.').waitFor()
}

/** The name of what has the focus. */
const focused = (page: Page) =>
  page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.textContent')

/** What the terminal shows. */
const screen = (page: Page): Promise<string> => page.locator('.xterm-rows').innerText()
const shows = (page: Page, text: string | RegExp) =>
  eventually(
    `the terminal shows ${text}`,
    async () => {
      const now = (await screen(page)).replaceAll('\u00a0', ' ').replaceAll('\n', '')
      return (typeof text === 'string' ? now.includes(text) : text.test(now)) || undefined
    },
    () => screen(page),
  )

test('a person takes a mission over in the page, types, reloads, and lets the agent go on', async () => {
  const s = await aScene({ project: { agent: 'claude' }, env: { PATH: `${STAND_IN}:${process.env.PATH}` } })
  const never = join(s.fleet.root, 'never')
  const { id } = await s.fleet.mission(s.project, `write agent.txt agent\nthink ${never}`, { title: 'Paint the pier' })
  await eventually('it thinks', () => existsSync(`${never}.here`))
  const person = await aPerson(s.fleet)
  const { page } = person
  const loaded: string[] = []
  page.on('request', request => loaded.push(new URL(request.url()).pathname))
  await person.visit(`/missions/${id}`)
  await page.getByRole('log', { name: 'Transcript' }).waitFor()
  expect(loaded.filter(path => path.includes('terminal-screen'))).toEqual([])
  await takeOver(page)
  await shows(page, 'tty true')
  await page.keyboard.type('write person.txt by hand')
  await page.keyboard.press('Enter')
  await shows(page, 'did write person.txt by hand')
  await page.getByRole('region', { name: 'Changes so far' }).getByText('person.txt').first().waitFor()
  await screenshot(page, 'mission-terminal-light')
  await expectAccessible(page)

  // A reload finds the same terminal, and Tab stays in it while F6 leads out.
  await page.reload()
  await shows(page, 'did write person.txt by hand')
  await page.locator('.xterm-helper-textarea').focus()
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('Terminal input')
  await page.keyboard.press('F6')
  expect(await focused(page)).toBe('Let the agent continue')
  await page.locator('.xterm-helper-textarea').focus()
  await page.keyboard.type('exit')
  await page.keyboard.press('Enter')
  await page.getByText('The client has ended. Choose what happens next.').waitFor()
  await page.getByRole('button', { name: 'Let the agent continue' }).click()

  const done = await s.fleet.until(id, 'done', 'failed')
  expect(done).toMatchObject({ status: 'done', result: 'landed', taken_over: null })
  expect(await s.repo.readOn('main', 'person.txt')).toBe('by hand')
  await page.getByRole('log', { name: 'Transcript' }).waitFor()
})

test('a person who does not want to wait lets the agent go on', async () => {
  const s = await aScene({ project: { agent: 'claude' }, env: { PATH: `${STAND_IN}:${process.env.PATH}` } })
  const tool = join(s.fleet.root, 'tool')
  const { id } = await s.fleet.mission(s.project, `wait ${tool}\nwrite agent.txt agent`)
  await eventually('the tool runs', () => existsSync(`${tool}.here`))
  const { page, visit } = await aPerson(s.fleet)
  await visit(`/missions/${id}`)
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: /Take over/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Take over' }).click()
  await page.getByText('Waiting for a safe moment to stop the agent…').waitFor()
  await screenshot(page, 'mission-terminal-waiting-light')
  await page.getByRole('button', { name: 'Let the agent continue' }).click()
  await page.getByRole('log', { name: 'Transcript' }).waitFor()
  writeFileSync(tool, '')
  const done = await s.fleet.until(id, 'done', 'failed')
  expect([done.status, done.sessions.length]).toEqual(['done', 1])
})

const binary = claudeBinary()
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

test.skipIf(!binary)('the real Claude client opens in the page, hears the person, and hands back', async () => {
  const model = await startModel()
  const s = await aScene({
    project: { agent: 'claude', landing: 'review' },
    env: {
      PATH: `${dirname(binary!)}:${process.env.PATH}`,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: CLAUDE_KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  })
  try {
    const { id } = await s.fleet.mission(s.project, steps({ write: 'made.txt', content: 'x\n' }, { say: 'HARBOUR' }))
    const before = await s.fleet.until(id, 'review', 'failed')
    asKnownPerson(s, before.sessions[0]!.worktree!)
    const { page, visit } = await aPerson(s.fleet, { scheme: 'dark' })
    await visit(`/missions/${id}`)
    await takeOver(page)
    await shows(page, 'HARBOUR')
    await page.keyboard.insertText(steps({ say: 'LIGHTHOUSE' }))
    await shows(page, 'LIGHTHOUSE')
    await page.keyboard.press('Enter')
    await shows(page, /●\s*LIGHTHOUSE/)
    await screenshot(page, 'mission-terminal-claude-dark')
    await page.getByRole('button', { name: 'Keep for review' }).click()
    const back = await s.fleet.until(id, 'review')
    expect(back).toMatchObject({ taken_over: null })
    expect(s.fleet.processes(back.sessions[1]!.id)).toEqual([])
    await page.getByRole('log', { name: 'Transcript' }).waitFor()

    await s.fleet.call('resume_mission', { mission_id: id, message: steps({ say: 'Remembered.' }) })
    await page.getByRole('log', { name: 'Transcript' }).getByText('Remembered.').last().waitFor()
    const last = model.requests.filter(({ body }) => JSON.stringify(body).includes('Remembered.')).at(-1)?.body
    expect(JSON.stringify(last)).toContain('LIGHTHOUSE')
  } finally {
    await model.close()
  }
})
