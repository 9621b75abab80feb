import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, settled, withBrowser } from './kit.ts'

withBrowser()

test('the page is there, without the secret in its address, and every key and link leads somewhere', async () => {
  const { fleet } = await aScene()
  const { page } = await aPerson(fleet)
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByPlaceholder('Find a mission').fill('activ')
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
