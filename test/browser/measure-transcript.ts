import type { Page } from 'playwright-core'
import type { TestFleet } from '../kit/fleet.ts'
import { aWrittenSession, claudeTurn } from '../kit/written-session.ts'
import { atRest, type Measured, unresponsive } from './measure.ts'

const EVENTS_A_TURN = 3
/** The position of the failing turn. */
const FAILED = 0.6

/** A session with about this many events: text, tool calls and one failure. */
export async function aLongSession(
  fleet: TestFleet,
  project: { id: string },
  events: number,
): Promise<{ session: string; turns: number }> {
  const turns = Math.ceil(events / EVENTS_A_TURN)
  const words = (n: number) =>
    `Number ${n}.\n\n- look at \`src/${n}.ts\`\n- mend **that**, then [test](https://example.org/${n})`
  const failed = Math.floor(turns * FAILED)
  const stdout = Array.from({ length: turns }, (_, n) => [
    ...claudeTurn(n, { text: words(n), failed: n === failed }),
  ]).flat()
  const { session } = await aWrittenSession(fleet, project, { agent: 'claude', stdout })
  return { session, turns }
}

/** How long the page of a session did not respond while a person read it from one end to the other. */
export async function measureTranscript(
  page: Page,
  visit: (path: string) => Promise<void>,
  { session, turns }: { session: string; turns: number },
): Promise<Record<string, Measured>> {
  const log = page.getByRole('log', { name: 'Transcript' })
  const said = (n: number) => log.getByText(`Number ${n}.`)
  const last = said(turns - 1)
  const measured: Record<string, Measured> = {}
  const measure = async (what: string, act: () => Promise<unknown>) => {
    measured[what] = await unresponsive(page, act)
  }
  await visit('/missions')
  await measure('opening', async () => {
    await page.evaluate(`history.pushState(null, '', '/sessions/${session}')`)
    await last.waitFor()
  })
  const fromEnd = await log.evaluate(element => element.scrollHeight - element.scrollTop - element.clientHeight)
  if (fromEnd > 60) throw new Error(`It opened ${fromEnd} px before its end.`)
  await measure('folding', () => log.getByRole('button', { name: /Bash/ }).last().click())
  await log.hover()
  await measure('scrolling', async () => {
    for (let turn = 0; turn < 20; turn++) await page.mouse.wheel(0, -900)
  })
  await page.getByRole('button', { name: 'Jump to the end' }).waitFor()
  await measure('far back', async () => {
    for (let turn = 0; turn < 60; turn++) await page.mouse.wheel(0, -3000)
    await atRest(log)
  })
  const search = page.getByLabel('Search this session')
  await measure('typing', async () => {
    await search.fill('')
    await search.pressSequentially('Number 33')
  })
  await measure('searching', async () => {
    for (const wanted of [Math.floor(turns * 0.9), Math.floor(turns * 0.9) + 1]) {
      await search.fill(`Number ${wanted}.`)
      await page.keyboard.press('Enter')
      await said(wanted).waitFor()
    }
  })
  await page.getByRole('button', { name: 'Close the search' }).click()
  await measure('to the end', async () => {
    await page.getByRole('button', { name: 'Jump to the start' }).click()
    await said(0).waitFor()
    await page.getByRole('button', { name: /Jump to the end/ }).click()
    await last.waitFor()
  })
  // The error is found wherever it is.
  await measure('to the error', async () => {
    await page.getByRole('button', { name: 'Errors' }).click()
    await said(Math.floor(turns * FAILED)).waitFor()
  })
  return measured
}
