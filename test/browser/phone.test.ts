import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { claudeBinary, HOW_TO_INSTALL } from '../clients/clients.ts'
import { eventually } from '../kit/fleet.ts'
import { call } from '../kit/inside.ts'
import { aPlanner, planOf } from '../kit/planner.ts'
import { aScene } from '../kit/scene.ts'
import { type Model, startModel, steps } from '../model/index.ts'
import { aPerson, expectAccessible, expectActiveTabInView, SIZES, screenshot, withBrowser } from './kit.ts'

withBrowser()
const binary = claudeBinary()
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)

test('a phone is let in by a code to scan, once, and shut out again; without a way to it, the page says how to make one', async () => {
  const { fleet } = await aScene({ start: false })
  await fleet.start({ args: ['--allow-host', 'fleet.example'] })
  const person = await aPerson(fleet, { expects: /ERR_|401/ })
  const { page } = person
  await page.getByRole('button', { name: 'Continue on phone' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('img', { name: 'Code to scan with the phone' }).waitFor()
  await expectAccessible(page)
  await screenshot(page, 'continue-on-phone-light')
  const link = await dialog.locator('pre').innerText()
  expect(link).toMatch(/^https:\/\/fleet\.example\//)

  // The tunnel's address leads to this server.
  const phone = await person.context.browser()!.newContext({ viewport: SIZES.phone, userAgent: 'iPhone Safari/1' })
  onTestFinished(() => phone.close())
  const there = await phone.newPage()
  await there.goto(link.replace('https://fleet.example', person.url))
  await there.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  await dialog.getByText('iPhone, Safari is signed in. Continue there.').waitFor()
  // The browser with the printed link is listed too.
  await dialog.getByRole('listitem').filter({ hasText: 'this one' }).waitFor()
  const listed = dialog.getByRole('listitem').filter({ hasText: 'iPhone, Safari' })
  await listed.getByRole('button', { name: 'Sign out' }).click()
  await listed.waitFor({ state: 'detached' })
  // Its open page says so at once, and a new visit asks for a sign-in.
  await there.getByText('This browser is signed out').waitFor()
  await there.reload()
  await there.getByText('This browser was signed out').waitFor()

  await fleet.stop()
  await fleet.start()
  await page.reload()
  await page.getByRole('button', { name: 'Continue on phone' }).click()
  await dialog.getByText('a phone cannot reach it').waitFor()
  await dialog.getByText(/--tls-cert/).waitFor()
})

test('on a phone the drawing of a plan has its missions in it, and the tab that is open is in view', async () => {
  const { fleet, project } = await aScene({ project: { landing: 'review' } })
  aPlanner(fleet).says(planOf({ key: 'a', script: 'echo a > a.txt' }, { key: 'b', script: 'echo b', after: ['a'] }))
  const plan = await fleet.call<{ id: string; mission_id: string }>('plan_project', {
    ...{ project_id: project.id, prompt: 'Two files', agent: 'planner', scripts: true },
  })
  await fleet.until(plan.mission_id, 'done')
  const { page, visit } = await aPerson(fleet, { size: 'phone' })
  await visit(`/plans/${plan.id}`)
  const drawing = page.getByRole('region', { name: 'Missions of the plan' })
  for (const title of ['make a', 'make b']) expect(await boxIn(drawing, drawing.getByText(title)), title).toBe(true)

  await visit(`/missions/${plan.mission_id}?tab=settings`)
  await expectActiveTabInView(page)
})

const boxIn = async (outer: Locator, inner: Locator): Promise<boolean> => {
  await inner.waitFor()
  const [around, box] = await Promise.all([outer.boundingBox(), inner.boundingBox()])
  return box!.y >= around!.y && box!.y + box!.height <= around!.y + around!.height
}

describe.skipIf(!binary)('standing in a queue, with a phone', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())

  test('what agents ask is read and answered, a tool allowed, a plan approved, an agent spoken to, work landed', async () => {
    const { fleet, repo, project, gate } = await aScene({
      env: {
        PATH: `${dirname(binary!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    })
    const heard = join(fleet.root, 'heard')
    const asking = await fleet.mission(
      project,
      `${call('ask_human', { question: 'Left or right?' }, heard)}; echo left > way.txt`,
      {
        title: 'Find the way',
      },
    )
    const tool = await fleet.mission(
      project,
      `Do it.\n${steps({ write: 'allowed.txt', content: 'yes\n' }, { say: 'Written.' })}`,
      { title: 'Write with leave', agent: 'claude', tool_preset: 'review', approvals: 'ask' },
    )
    const held = gate('held')
    const busy = await fleet.mission(
      project,
      `Do it.\n${steps({ run: held.wait }, { write: 'work.txt', content: 'done\n' }, { say: 'Done.' })}`,
      {
        title: 'At work',
        agent: 'claude',
      },
    )
    const review = await fleet.mission(project, 'echo seen > seen.txt', { title: 'To review', landing: 'review' })
    aPlanner(fleet).says(planOf({ key: 'pier', script: 'echo pier > pier.txt' }))
    await fleet.until(review.id, 'review')
    await fleet.until(asking.id, 'needs_input')
    await fleet.until(tool.id, 'needs_input')
    await eventually('an agent at work', () => held.reached())

    const { page } = await aPerson(fleet, { size: 'phone' })
    const fits = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth')
    const tabs = page.getByRole('navigation', { name: 'Main, small' })
    await page.getByRole('heading', { name: /^Running/ }).waitFor()
    // Send a message to the running agent.
    await page.getByRole('button', { name: 'Message the agent of At work' }).click()
    await page.getByRole('dialog').getByLabel('Message').fill('Mind the harbour.')
    await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()
    await page
      .getByText(/^Sent. The agent reads it/)
      .first()
      .waitFor()
    const { session_id } = await fleet.show(busy.id)
    const sent = join(fleet.fleet.home.session(session_id!), 'agent-1/sent')
    await eventually('it is said', () => readFileSync(sent, 'utf8').includes('harbour') || undefined)
    held.open()

    await tabs.getByRole('link', { name: 'Inbox' }).tap()
    await page.getByText('Left or right?').waitFor()
    expect(await fits()).toBe(true)
    await expectAccessible(page)
    await screenshot(page, 'inbox-asked-phone')
    const question = page.getByRole('listitem').filter({ hasText: 'Left or right?' })
    await question.getByLabel('Your answer').fill('Left')
    await question.getByRole('button', { name: 'Answer' }).tap()
    await eventually('the answer', () => readFileSync(heard, 'utf8').includes('Left') || undefined)

    // The whole input is shown before it is allowed.
    const leave = page.getByRole('listitem').filter({ hasText: 'Write with leave' })
    await leave.getByText('allowed.txt').first().waitFor()
    await leave.getByRole('button', { name: 'Allow once' }).tap()
    await fleet.until(tool.id, 'done')
    expect(await repo.readOn('main', 'allowed.txt')).toBe('yes')

    await fleet.call('plan_project', { project_id: project.id, prompt: 'A pier', agent: 'planner' })
    await page.getByRole('button', { name: 'Approve' }).tap()
    await page.locator('[data-gone]').filter({ hasText: 'A pier' }).waitFor()

    const work = page.getByRole('listitem').filter({ hasText: 'To review' })
    await work.getByRole('button', { name: 'Land' }).tap()
    await fleet.until(review.id, 'done')
    expect(await repo.readOn('main', 'seen.txt')).toBe('seen')
    await page.getByText('Nothing needs you').waitFor()

    // Everything that can be pressed is large enough for a thumb.
    await tabs.getByRole('button', { name: 'More' }).tap()
    for (const tool of await page.locator('.more .tool, .more .station').all())
      expect((await tool.boundingBox())!.height).toBeGreaterThanOrEqual(40)
    await tabs.getByRole('link', { name: 'Missions' }).tap()
    await page.getByRole('link', { name: 'To review' }).waitFor()
    expect(await fits()).toBe(true)
  })
})

test('a long title does not widen the palette beyond a phone', async () => {
  const { fleet, project } = await aScene()
  await fleet.mission(project, 'true', { title: `Berths ${'and more berths '.repeat(10)}`, auto_dispatch: false })
  await eventually('the search index', () => fleet.call('search', { text: 'berths' }).catch(() => undefined))
  const { page } = await aPerson(fleet, { size: 'phone' })
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder(/^Find a mission/).fill('berths')
  await page
    .getByRole('option', { name: /more berths/ })
    .first()
    .waitFor()
  const { x, width } = (await page.getByRole('dialog').boundingBox())!
  expect(x + width).toBeLessThanOrEqual(SIZES.phone.width)
})
