import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { eventually, ROOT, type TestFleet } from '../kit/fleet.ts'
import { aBrowser, comeIn, signInLink } from './opening.ts'

const SCREENS = join(ROOT, 'test/results/screens')
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } }
export type Size = keyof typeof SIZES

let browser: Browser

/** One browser per test file. Each person has their own context, and so their own cookies. */
export function withBrowser(): void {
  beforeAll(async () => {
    browser = await aBrowser()
  })
  afterAll(() => browser?.close())
}

export interface Person {
  context: BrowserContext
  page: Page
  url: string
  /** Goes to an address of the page, as if it was typed. */
  visit(path: string): Promise<void>
  /** Another window of the same browser. */
  window(): Promise<Page>
}

interface Looking {
  size?: Size
  scheme?: 'light' | 'dark'
  /** Errors that the test expects, such as a missing server. */
  expects?: RegExp
  /** The link of an invitation. Without it, they are the owner. */
  link?: string
  /** Called with everything that the page gets from the server, also with parts of streams as they come. */
  heard?(text: string): void
}

/** A person who has opened the sign-in link. Any error in the page fails the test. */
export async function aPerson(
  fleet: TestFleet,
  { size = 'desktop', scheme = 'light', expects, link: invited, heard }: Looking = {},
): Promise<Person> {
  const link = invited ?? (await signInLink(fleet))
  const url = new URL(link).origin
  const context = await browser.newContext({
    viewport: SIZES[size],
    colorScheme: scheme,
    reducedMotion: 'reduce',
    ...(size === 'phone' && { isMobile: true, hasTouch: true }),
  })
  context.setDefaultTimeout(20_000)
  if (heard) await listenIn(context, heard)
  const complaints: string[] = []
  const listen = (page: Page) => {
    page.on('pageerror', error => complaints.push(error.message))
    page.on('console', message => {
      const text = message.text()
      if (message.type() === 'error' && !expects?.test(text)) complaints.push(`${text} ${message.location().url}`)
    })
  }
  const open = async () => {
    const page = await context.newPage()
    listen(page)
    return page
  }
  const page = await open()
  await comeIn(page, link)
  onTestFinished(async () => {
    await context.close()
    expect(complaints, 'what the page complained of').toEqual([])
  })
  return {
    context,
    page,
    url,
    visit: async path => void (await page.goto(new URL(path, url).href)),
    window: async () => {
      const other = await open()
      await other.goto(url)
      return other
    },
  }
}

/** The page asks for everything with fetch. A copy of each answer is read as it arrives, so that streams are heard too. */
async function listenIn(context: BrowserContext, heard: (text: string) => void): Promise<void> {
  await context.exposeFunction('heard', heard)
  await context.addInitScript(`{
    const native = globalThis.fetch
    globalThis.fetch = async (...asked) => {
      const answer = await native(...asked)
      const reader = answer.clone().body?.pipeThrough(new TextDecoderStream()).getReader()
      const read = async () => {
        for (let part = await reader?.read(); part && !part.done; part = await reader.read()) heard(part.value)
      }
      read().catch(() => {})
      return answer
    }
  }`)
}

/** Written to test/results/screens for people to look at. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENS, { recursive: true })
  await page.screenshot({ path: join(SCREENS, `${name}.png`) })
}

/** Waits until everything is loaded and no placeholders are left. */
export const settled = (page: Page): Promise<true> =>
  eventually('the page to be filled', async () => (await page.locator('[aria-busy="true"]').count()) === 0 || undefined)

/** The active tab of a page is all in view, also after everything has loaded. */
export async function expectActiveTabInView(page: Page): Promise<void> {
  const tab = page.locator('nav [data-active]')
  await tab.waitFor()
  await settled(page)
  await still(tab)
  const { x, width } = (await tab.boundingBox())!
  expect(x, 'left edge').toBeGreaterThanOrEqual(0)
  expect(x + width, 'right edge').toBeLessThanOrEqual(page.viewportSize()!.width)
}

/** Waits until an element stays where it is for some frames. */
export const still = (element: Locator): Promise<void> =>
  element.evaluate(async node => {
    const page = globalThis as unknown as { requestAnimationFrame(next: (at: number) => void): void }
    let frames = 0
    for (let last = Number.NaN; frames < 10; ) {
      await new Promise(resolve => page.requestAnimationFrame(resolve))
      const { left, top } = node.getBoundingClientRect()
      const at = left + top
      frames = at === last ? frames + 1 : 0
      last = at
    }
  })

export async function expectAccessible(page: Page): Promise<void> {
  expect(await accessFaults(page), `on ${new URL(page.url()).pathname}`).toEqual([])
}

/** Accessibility problems that axe finds. */
export async function accessFaults(page: Page): Promise<object[]> {
  // Run through the debugger, because the content security policy does not apply there.
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: AXE })
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(
      violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, help, nodes }) =>
        ({ id, help, nodes: nodes.slice(0, 5).map(node => node.html.slice(0, 200) + ' ' + (node.any[0]?.message ?? '')) }))))`,
    awaitPromise: true,
    returnByValue: true,
  })
  await session.detach()
  if (exceptionDetails) throw new Error(`axe could not look: ${JSON.stringify(exceptionDetails)}`)
  return JSON.parse(result.value)
}
