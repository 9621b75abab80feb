import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { aWrittenSession, claudeTurn } from '../kit/written-session.ts'
import { aPerson, expectAccessible, screenshot, still, withBrowser } from './kit.ts'
import { AT_ONCE_MS } from './measure.ts'
import { aLongSession, measureTranscript } from './measure-transcript.ts'

withBrowser()

test('a transcript full of hostile text is harmless, and all of it can be read', async () => {
  const { fleet, project } = await aScene()
  const nasty = [
    '<script>window.harmed = 1</script><img src=x onerror="window.harmed = 2">',
    '[click](javascript:window.harmed=3) ![p](https://tracker.invalid/p.png) <https://example.org/fine>',
    '\u001b[31mred\u001b[0m \u001b]0;title\u0007 and user \u202etxt.exe',
  ]
  const long = `begin ${'x'.repeat(1_000_000)} the very end`
  const turns = [
    ...nasty.flatMap((text, n) => [...claudeTurn(n, { text, output: text })]),
    ...claudeTurn(10, { text: 'Now something long.', output: long }),
    ...claudeTurn(11, { text: long }),
    '<b>not json</b> \u0000\u0007',
  ]
  const { session } = await aWrittenSession(fleet, project, { agent: 'claude', stdout: turns })
  const person = await aPerson(fleet)
  const { page } = person
  const asked: string[] = []
  page.on('request', request => void asked.push(new URL(request.url()).origin))
  await person.visit(`/sessions/${session}`)
  const log = page.getByRole('log', { name: 'Transcript' })
  await log.getByText('Now something long.').waitFor()
  await page.getByRole('button', { name: 'Jump to the start' }).click()
  await log.getByText('<script>window.harmed = 1</script>').first().waitFor()
  await log.getByText('red  and user ‹U+202E›txt.exe').first().waitFor()
  expect(await log.getByRole('link').evaluateAll(links => links.map(link => link.getAttribute('href')))).toEqual([
    'https://tracker.invalid/p.png',
    'https://example.org/fine',
  ])
  for (const _ of nasty) await log.getByRole('button', { expanded: false }).first().click()
  await log.getByText('red  and user ‹U+202E›txt.exe').nth(1).waitFor()
  await screenshot(page, 'session-hostile-light')

  // A million characters are cut, and shown in full on request.
  await page.getByLabel('Search this session').fill('something long')
  await page.keyboard.press('Enter')
  await page.getByText('1 match').waitFor()
  await page.getByRole('button', { name: 'Close the search' }).click()
  await log.getByRole('button', { name: /Bash/ }).last().click()
  expect((await log.textContent())!.length).toBeLessThan(60_000)
  await log.getByRole('button', { name: 'Show all' }).last().click()
  await log.getByText('the very end').first().waitFor()
  expect(await page.evaluate('window.harmed')).toBeUndefined()
  expect([...new Set(asked)]).toEqual([person.url])
  await person.visit(`/sessions/${session}?view=raw`)
  await log.getByText('<b>not json</b> ␀␇').waitFor()
  await expectAccessible(page)
})

test('a hundred thousand events: opened, scrolled, searched and folded, the page answers at once', async () => {
  const { fleet, project } = await aScene()
  const long = await aLongSession(fleet, project, 100_000)
  const { page, visit } = await aPerson(fleet)
  const measured = await measureTranscript(page, visit, long)
  console.log('the page did not answer for at most (ms, and by the clock):', JSON.stringify(measured))
  for (const [what, { busy }] of Object.entries(measured)) expect(busy, what).toBeLessThan(AT_ONCE_MS)
}, 240_000)

test('what happens is shown as it happens; it holds while one reads, and lets go while nobody looks', async () => {
  const { fleet, project, gate } = await aScene()
  const [more, end] = [gate('more'), gate('end')]
  const script = `seq -f 'early %g' 1 200; ${more.wait}; seq -f 'later %g' 1 30; ${end.wait}; echo the last words; echo x > x.txt`
  const { id } = await fleet.mission(project, script)
  await eventually('it has printed', () => more.reached())
  const { session_id } = await fleet.show(id)
  const { page, visit, context } = await aPerson(fleet)
  const streams: string[] = []
  page.on('request', request => request.url().includes('/stream') && streams.push(request.url()))
  await visit(`/sessions/${session_id}`)
  const log = page.getByRole('log', { name: 'Transcript' })
  await log.getByText('early 200').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await log.hover()
  await page.mouse.wheel(0, -1500)
  await page.getByRole('button', { name: 'Jump to the end' }).waitFor()
  const before = await log.evaluate(element => element.scrollTop)
  more.open()
  await page.getByRole('button', { name: /\d+ new/ }).waitFor()
  expect(await log.evaluate(element => element.scrollTop)).toBe(before)
  await page.getByRole('button', { name: /\d+ new/ }).click()
  await log.getByText('later 30').waitFor()

  // In the background the stream is closed, and later continues where it was.
  const session = await context.newCDPSession(page)
  const hide = (hidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} });
      document.dispatchEvent(new Event('visibilitychange'))`)
  const opened = streams.filter(url => url.includes('/sessions/')).length
  await hide(true)
  await eventually('it is let go', async () => (await page.getByText('Live', { exact: true }).count()) === 0)
  end.open()
  await fleet.until(id, 'done')
  await hide(false)
  await log.getByText('the last words').waitFor()
  expect(streams.filter(url => url.includes('/sessions/')).length).toBe(opened + 1)
  await session.detach()
  const shown = await log.innerText()
  for (const words of ['later 1', 'later 30', 'the last words'])
    expect(shown.split('\n').filter(line => line.trim() === words)).toHaveLength(1)
})

test('tools have icons and sizes, output has its colours, thinking unfolds, and nothing above moves', async () => {
  const { fleet, project } = await aScene()
  const said = (content: object) =>
    JSON.stringify({ type: 'assistant', message: { id: `m${++n}`, content: [content] } })
  const answered = (id: string, content: string) =>
    JSON.stringify({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id, content }] } })
  let n = 0
  const stdout = [
    ...Array.from({ length: 30 }, (_, at) => said({ type: 'text', text: `Before ${at}.` })),
    said({ type: 'thinking', thinking: `First I look.\n${'Then I think more.\n'.repeat(8)}The last thought.` }),
    said({ type: 'tool_use', id: 'run', name: 'Bash', input: { command: 'npm test' } }),
    answered('run', '\x1b[32m✓ passes\x1b[0m\n\x1b[1;31m✗ fails <b>here</b>\x1b[0m'),
    said({
      type: 'tool_use',
      id: 'edit',
      name: 'Edit',
      input: { file_path: 'a.ts', old_string: 'one\ntwo\n', new_string: 'one\n2\nthree\n' },
    }),
    answered('edit', 'ok'),
    ...Array.from({ length: 30 }, (_, at) => said({ type: 'text', text: `After ${at}.` })),
  ]
  const { session } = await aWrittenSession(fleet, project, { agent: 'claude', stdout })
  const { page, visit } = await aPerson(fleet)
  await visit(`/sessions/${session}`)
  const log = page.getByRole('log', { name: 'Transcript' })
  await log.getByText('After 29.').waitFor()
  await page.getByLabel('Search this session').fill('npm test')
  await page.keyboard.press('Enter')
  await page.getByText('1 match').waitFor()
  await page.getByRole('button', { name: 'Close the search' }).click()

  const run = log.getByRole('button', { name: /Bash/ })
  const edit = log.getByRole('button', { name: /Edit/ })
  expect(await edit.getByRole('img', { name: '2 lines added' }).count()).toBe(1)
  expect(await edit.getByRole('img', { name: '1 line deleted' }).count()).toBe(1)
  const topOf = async (which: typeof run) => Math.round((await which.boundingBox())!.y)
  const thought = log.getByRole('button', { name: /Thought/ })
  const before = await topOf(thought)
  await thought.click()
  await log.getByText('The last thought.').waitFor()
  expect(await topOf(thought)).toBe(before)
  // The rows below move to their new places once the unfolded one is measured.
  await still(run)
  const ran = await topOf(run)
  await run.click()
  const [good, bad] = [log.getByText('✓ passes'), log.getByText('✗ fails <b>here</b>')]
  expect(await good.last().getAttribute('class')).toBe('ansi-green')
  expect(await bad.last().getAttribute('class')).toBe('ansi-red ansi-bold')
  await still(run)
  expect(await topOf(run)).toBe(ran)
  await screenshot(page, 'session-tools-light')
  await expectAccessible(page)
})
