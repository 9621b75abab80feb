// Takes a picture of every page and main state: light, dark, and on a phone. A real server, scripted agents, chromium.
//   npm run screens -- <folder> [--before <folder>] [--program <checkout>] [--only <name,name>]
// --before shows earlier pictures beside the new ones; --program takes them of another, built checkout.
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { aBrowser, comeIn } from '../test/browser/opening.ts'
import { aDay } from './screens/day.ts'
import { LOOKS, type Look, writeIndex } from './screens/index-page.ts'
import { aProgram, type Program, until } from './screens/program.ts'
import { busy, EMPTY, type Shot } from './screens/shots.ts'

const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }
/** For each step. Three looks are taken at once, and the machine may be busy. */
const TIMEOUT_MS = 30_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { before: { type: 'string' }, program: { type: 'string' }, only: { type: 'string' } },
})
const [given] = positionals
if (!given) throw new Error('Name a folder: npm run screens -- <folder>')
const folder = resolve(given)
const checkout = resolve(values.program ?? join(import.meta.dirname, '..'))
const only = values.only?.split(',')
const problems: string[] = []
const titles = new Map<string, string>()
const note = (text: string) => {
  problems.push(text)
  process.stderr.write(`${text}\n`)
}

const contextOf = (browser: Browser, look: Look): Promise<BrowserContext> =>
  browser.newContext({
    viewport: look === 'phone' ? PHONE : DESKTOP,
    colorScheme: look === 'dark' ? 'dark' : 'light',
    reducedMotion: 'reduce',
    ...(look === 'phone' && { isMobile: true, hasTouch: true }),
  })

const LOADING = '[aria-busy="true"], .rt-Skeleton'
/** A page asks for more after its first answer, and its parts arrive one by one. This long nothing may be loading. */
const QUIET_MS = 500

/** Waits until the page shows something, nothing in it loads for a while, and its fonts are there. */
async function settle(page: Page): Promise<void> {
  let since = Number.NaN
  await until('the page to be filled', async () => {
    const isFilled = (await page.locator('h1').count()) > 0 && (await page.locator(LOADING).count()) === 0
    if (!isFilled) since = Number.NaN
    else if (Number.isNaN(since)) since = Date.now()
    return Date.now() - since >= QUIET_MS
  })
  // Two frames: one to draw what has arrived, one to be sure that it was drawn.
  await page.evaluate(
    'document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))',
  )
}

async function take(page: Page, { name, title }: Pick<Shot, 'name' | 'title'>, look: Look): Promise<void> {
  titles.set(name, title)
  await page.screenshot({ path: join(folder, `${name}.${look}.png`), fullPage: true })
}

async function visit(page: Page, origin: string, shot: Shot, look: Look): Promise<void> {
  titles.set(shot.name, shot.title)
  if (only && !only.includes(shot.name)) return
  try {
    await page.goto(origin + shot.path)
    await settle(page)
    await shot.prepare?.(page)
    await settle(page)
    await take(page, shot, look)
  } catch (error) {
    note(`${shot.name}, ${look}: ${(error as Error).message.split('\n')[0]}`)
  }
}

async function walk(browser: Browser, program: Program, shots: Shot[], look: Look): Promise<Page> {
  const context = await contextOf(browser, look)
  context.setDefaultTimeout(TIMEOUT_MS)
  const page = await context.newPage()
  const link = await program.link()
  await comeIn(page, link)
  for (const shot of shots) await visit(page, new URL(link).origin, shot, look)
  return page
}

const SIGN_IN = { name: 'sign-in', title: 'Sign-in', path: '/sign-in' }
const LOST = { name: 'connection-lost', title: 'Connection lost' }
const OFFLINE = { name: 'offline', title: 'Offline' }

mkdirSync(folder, { recursive: true })
const browser = await aBrowser()
const [empty, full] = [aProgram(checkout), aProgram(checkout, { FLEET_MAX_CONCURRENT: '12' })]
try {
  await empty.start()
  const origin = new URL(await empty.link()).origin
  await Promise.all(
    LOOKS.map(async look => {
      await (await walk(browser, empty, EMPTY, look)).context().close()
      const stranger = await contextOf(browser, look)
      await visit(await stranger.newPage(), origin, SIGN_IN, look)
      await stranger.close()
    }),
  )
  await empty.stop()
  const shots = busy(await aDay(full, note))
  const pages = await Promise.all(LOOKS.map(async look => [await walk(browser, full, shots, look), look] as const))
  for (const [page] of pages) {
    await page.goto(`${new URL(page.url()).origin}/missions`)
    await settle(page)
  }
  if (!only || only.includes(OFFLINE.name)) {
    await full.stop()
    for (const [page, look] of pages) {
      await page
        .getByText(/Connection lost|lost the connection|Reconnecting/i)
        .first()
        .waitFor()
        .catch(() => {})
      await take(page, LOST, look)
      const reloaded = await page.reload().catch(() => undefined)
      if (reloaded) await take(page, OFFLINE, look)
      else note(`${OFFLINE.name}, ${look}: the page could not be opened without the server`)
    }
  }
} finally {
  await browser.close()
  await empty.remove()
  await full.remove()
}
writeIndex(folder, titles, values.before && resolve(values.before))
process.stdout.write(`${join(folder, 'index.html')}\n`)
// An older program lacks pages of this one.
if (problems.length && !values.program) process.exitCode = 1
