import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claudeBinary, HOW_TO_INSTALL } from '../clients/clients.ts'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { type Model, startModel, steps } from '../model/index.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

const binary = claudeBinary()
if (!binary) console.warn(`Skipped: ${HOW_TO_INSTALL}`)
withBrowser()

describe.skipIf(!binary)('talking with an agent at work', () => {
  let model: Model
  beforeAll(async () => {
    model = await startModel()
  })
  afterAll(() => model.close())
  const aHarbour = () =>
    aScene({
      project: { agent: 'claude', name: 'Harbour' },
      env: {
        PATH: `${dirname(binary!)}:${process.env.PATH}`,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'test-key',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    })

  test('a tool is approved, a message heard, a question answered: all in the live session', async () => {
    const s = await aHarbour()
    const held = s.gate('tool')
    const options = [
      { label: 'Red', description: 'warm' },
      { label: 'Blue', description: 'cold' },
    ]
    const questions = [{ question: 'Which colour?', header: 'Colour', multiSelect: false, options }]
    const script = steps(
      { write: 'asked.txt', content: 'one\ntwo\n', think: 'A file would help.' },
      { run: held.wait },
      { tool: 'AskUserQuestion', input: { questions } },
      { say: '## Done\n\nThe **colour** is in.' },
    )
    const { id } = await s.fleet.mission(s.project, `Do it.\n${script}`, {
      title: 'Paint the pier',
      tool_preset: 'review',
      approvals: 'ask',
    })
    const { page, visit } = await aPerson(s.fleet)
    await visit(`/missions/${id}`)

    // The whole input of the tool is shown before the decision, both on the mission and in the session.
    const waits = page.getByRole('region', { name: 'Needs input' })
    await page.getByText('Wants to change files').waitFor()
    await page.getByText('asked.txt').first().waitFor()
    await page.getByRole('link', { name: 'Live' }).click()
    await waits.getByText('two').waitFor()
    await settled(page)
    await expectAccessible(page)
    await screenshot(page, 'session-asks-light')
    await waits.getByRole('button', { name: 'Allow once' }).click()
    const log = page.getByRole('log', { name: 'Transcript' })
    await log.getByText('Asked for permission').waitFor()

    // The next tool asks too. While it runs, a message reaches the agent.
    await waits.getByText('Wants to run a command').waitFor()
    await waits.getByRole('button', { name: 'Allow once' }).click()
    await eventually('the tool runs', () => held.reached())
    await page.getByText('The agent reads your message while it works.').waitFor()
    const box = page.getByPlaceholder('Message the agent…')
    await box.fill('Mind the harbour.')
    await box.press('Enter')
    await page.getByText(/^(sending|received)$/).waitFor()
    expect(await box.inputValue()).toBe('')
    const { session_id } = await s.fleet.show(id)
    const told = join(s.fleet.fleet.home.session(session_id!), 'agent-1/sent')
    await eventually('it has been sent', () => readFileSync(told, 'utf8').includes('harbour'))
    held.open()
    await log.getByText('Mind the harbour.').waitFor()

    // The choices of its question can be clicked.
    await waits.getByText('Which colour?').waitFor()
    await waits.getByRole('button', { name: /Blue/ }).click()
    await log.getByRole('heading', { name: 'Done' }).waitFor()
    const done = await s.fleet.until(id, 'done', 'failed')
    expect(done).toMatchObject({ status: 'done', result: 'landed' })
    expect(await s.repo.readOn('main', 'asked.txt')).toBe('one\ntwo')
    expect(model.requests.some(({ body }) => JSON.stringify(body).includes('\\"Which colour?\\"=\\"Blue\\"'))).toBe(
      true,
    )

    await page.getByText('The session has ended. Your message starts it again.').waitFor()
    await log.getByRole('button', { name: /Thought/ }).click()
    await log.getByText('A file would help.').last().waitFor()
    await settled(page)
    await expectAccessible(page)
    await screenshot(page, 'session-light')
    const phone = await aPerson(s.fleet, { size: 'phone', scheme: 'dark' })
    await phone.visit(`/sessions/${done.sessions[0]!.id}`)
    await phone.page.getByRole('log').getByText('Mind the harbour.').waitFor()
    await settled(phone.page)
    await expectAccessible(phone.page)
    await screenshot(phone.page, 'session-phone')
  }, 120_000)

  test('an agent is interrupted, and told from the session how to go on', async () => {
    const s = await aHarbour()
    const held = s.gate('tool')
    const { id } = await s.fleet.mission(s.project, `Do it.\n${steps({ run: held.wait }, { say: 'Never said.' })}`)
    await eventually('the tool runs', () => held.reached())
    const { page, visit } = await aPerson(s.fleet)
    await visit(`/sessions/${(await s.fleet.show(id)).session_id}`)
    await page.getByRole('button', { name: 'Interrupt' }).click()
    const waits = page.getByRole('region', { name: 'Needs input' })
    await waits.getByText('Interrupted. Send a message to continue').waitFor()
    const way = steps({ write: 'other.txt', content: 'other\n' }, { say: 'Otherwise, then.' })
    await waits.getByLabel('Your answer').fill(`Do this instead.\n${way}`)
    await waits.getByRole('button', { name: 'Answer' }).click()
    await page.getByRole('log').getByText('Otherwise, then.', { exact: true }).waitFor()
    expect(await s.fleet.until(id, 'done', 'failed')).toMatchObject({ status: 'done', result: 'landed' })
  })
})
