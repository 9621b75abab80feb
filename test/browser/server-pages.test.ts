import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { accessFaults, aPerson, screenshot, withBrowser } from './kit.ts'

withBrowser()

const LOOKS = [
  { scheme: 'light', size: 'desktop' },
  { scheme: 'dark', size: 'desktop' },
  { scheme: 'dark', size: 'phone' },
] as const

/** Pages of the server itself, and what each is called. */
const PAGES = [
  ['sign-in', '/sign-in', 'Sign in to Flotilla'],
  ['not-found', '/no/such/page', 'Page not found'],
  ['docs', '/docs', 'API reference'],
] as const

test('sign-in, a missing page, the API and the page without a server: in light, dark and on a phone', async () => {
  const { fleet } = await aScene()
  const faults: object[] = []
  const people = await Promise.all(
    LOOKS.map(async look => ({ ...look, ...(await aPerson(fleet, { ...look, expects: /404|401|503|ERR_/ })) })),
  )
  for (const { scheme, size, page, context, url } of people) {
    const look = async (name: string, heading: string, at = page) => {
      await at.getByRole('heading', { level: 1, name: heading }).waitFor()
      await screenshot(at, `${name}-${scheme}-${size}`)
      for (const fault of await accessFaults(at)) faults.push({ name, scheme, size, ...fault })
      if (await at.evaluate('document.documentElement.scrollWidth > innerWidth'))
        faults.push({ name, size, wide: true })
    }
    for (const [name, path, heading] of PAGES) {
      // The sign-in page sends those who are signed in on.
      if (name === 'sign-in') await context.route('**/api/devices', route => route.fulfill({ status: 401, body: '{}' }))
      await page.goto(url + path)
      await look(name, heading)
      await context.unroute('**/api/devices')
    }
    await page.goto(url)
    await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)')
  }
  await fleet.stop()
  for (const { scheme, size, context, url } of people) {
    const late = await context.newPage()
    await late.goto(url)
    await late.getByRole('heading', { level: 1, name: 'Flotilla is offline' }).waitFor()
    await screenshot(late, `offline-${scheme}-${size}`)
    for (const fault of await accessFaults(late)) faults.push({ name: 'offline', scheme, size, ...fault })
  }
  expect(faults).toEqual([])
}, 120_000)
