import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

const SOON = { timeout: 10_000 }

test('the page is there, without the secret in its address, and every key and link leads somewhere', async () => {
  const { fleet } = await aScene()
  const { page } = await aPerson(fleet)
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
  // Home begins in its field; Escape leaves it.
  await settled(page)
  await page.keyboard.press('Escape')
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('activ')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Activity' }).waitFor()
  await expectAccessible(page)
})

test('the first load is small: compressed, and without the code of views that are not shown', async () => {
  const { fleet } = await aScene()
  const { page, url } = await aPerson(fleet)
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await page.goto(url)
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  await settled(page)
  expect(bytes).toBeGreaterThan(50_000)
  expect(bytes).toBeLessThan(300_000)
  process.stdout.write(`first load: ${Math.round(bytes / 1000)} kB\n`)
})

test('a navigation moves the focus to the heading of the new page and says its title; ? shows the keys that work', async () => {
  const { fleet } = await aScene()
  const { page, visit } = await aPerson(fleet)
  const focused = () => page.evaluate('document.activeElement?.tagName + " " + document.activeElement?.textContent')
  const said = page.getByRole('status', { name: 'Page' })
  await visit('/projects')
  await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
  await page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name: 'Costs' }).click()
  await expect.poll(focused, SOON).toBe('H1 Costs')
  expect(await said.textContent()).toBe('Costs')
  await page.goBack()
  await expect.poll(focused, SOON).toBe('H1 Projects')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('activ')
  await page.keyboard.press('Enter')
  await expect.poll(focused, SOON).toBe('H1 Activity')
  // A field that takes the focus keeps it.
  await page.keyboard.press('n')
  await expect.poll(() => said.textContent(), SOON).toBe('New mission')
  expect(await focused()).not.toMatch(/^H1/)
  await visit('/missions')
  await page.getByRole('heading', { level: 1, name: 'Missions' }).waitFor()
  await settled(page)
  await page.keyboard.press('?')
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await sheet.getByText('New mission').waitFor()
  await sheet.getByRole('region', { name: 'This page' }).waitFor()
  await expectAccessible(page)
  await screenshot(page, 'keys-light')
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })
  // The first key of a new visitor leads past the navigation.
  await visit('/costs')
  await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  expect(await page.evaluate('document.activeElement?.id')).toBe('main')
})
