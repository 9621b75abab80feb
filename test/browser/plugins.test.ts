import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

/** Stands in for the address that a webhook calls. */
async function anAddress(): Promise<{ url: string; heard: string[] }> {
  const heard: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    heard.push(
      `${request.headers['x-flotilla-signature']} ${(JSON.parse(text) as { event: { kind: string } }).event.kind}`,
    )
    response.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, heard }
}

test('a webhook is set up and turned on in the page, and its secret is never shown again', async () => {
  const { fleet, project } = await aScene()
  const address = await anAddress()
  const { page, visit } = await aPerson(fleet, { expects: /400/ })
  await visit('/plugins')
  await page.getByRole('switch', { name: 'webhook on' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('It needs these before it can be turned on.').waitFor()
  const save = dialog.getByRole('button', { name: 'Save and turn on' })
  expect(await save.isDisabled()).toBe(true)
  await dialog.getByLabel('Address', { exact: true }).fill('nowhere')
  await dialog.getByLabel('Secret', { exact: true }).fill('a-very-secret-word')
  await dialog.getByRole('switch', { name: 'Allow private addresses' }).click()
  await save.click()
  await page
    .getByText(/must be an http address/)
    .first()
    .waitFor()
  await dialog.getByLabel('Address', { exact: true }).fill(address.url)
  await dialog.getByRole('combobox', { name: 'Events' }).click()
  await page.getByRole('option', { name: 'These only' }).click()
  await dialog.getByRole('checkbox', { name: 'Failed' }).click()
  await screenshot(page, 'plugin-settings-light')
  await expectAccessible(page)
  await save.click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('On', { exact: true }).waitFor()
  const file = join(fleet.root, 'home/plugins/webhook.json')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ url: address.url, secret: 'a-very-secret-word' })
  expect(statSync(file).mode & 0o777).toBe(0o600)

  const { id } = await fleet.mission(project, 'echo a > a.txt')
  await fleet.until(id, 'done')
  await expect.poll(() => address.heard).toEqual([expect.stringMatching(/^sha256=.* landed$/)])

  await page.getByRole('button', { name: 'Settings of webhook' }).click()
  await dialog.getByText(/One is saved/).waitFor()
  expect(await dialog.getByLabel('Secret', { exact: true }).inputValue()).toBe('')
  expect(await page.content()).not.toContain('a-very-secret-word')
  expect(await (await fleet.http('/api/plugins')).text()).not.toContain('a-very-secret-word')
  await dialog.getByLabel('Address', { exact: true }).fill(`${address.url}/2`)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
    url: `${address.url}/2`,
    secret: 'a-very-secret-word',
  })
  for (const look of [{ scheme: 'dark' }, { size: 'phone' }] as const) {
    const other = await aPerson(fleet, look)
    await other.visit('/plugins')
    await other.page.getByRole('button', { name: 'Settings of telegram' }).click()
    await other.page.getByRole('dialog').getByLabel('Chats').waitFor()
    await settled(other.page)
    await screenshot(other.page, `plugin-settings-${Object.values(look)[0]}`)
    await expectAccessible(other.page)
    const box = await other.page.getByRole('dialog').boundingBox()
    expect(box!.x + box!.width).toBeLessThanOrEqual(other.page.viewportSize()!.width)
  }
})

test('a plugin of a person gets a form from the settings it declares', async () => {
  const { fleet } = await aScene({ start: false })
  const folder = join(fleet.root, 'home/plugins')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'greeter.mjs'),
    `export default { description: 'Greets.', settings: [{ name: 'words', label: 'Words', kind: 'text' }],
  tools: { greet: { summary: 'Says them', run: (_, { settings }) => settings.words ?? 'nothing' } } }
`,
  )
  writeFileSync(join(folder, 'greeter.json'), '{ "other": 1 }')
  await fleet.start()
  const { page, visit } = await aPerson(fleet)
  await visit('/plugins')
  await page.getByRole('button', { name: 'Settings of greeter' }).click()
  await page.getByRole('dialog').getByLabel('Words (optional)').fill('Good morning')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('Settings of greeter saved.').first().waitFor()
  expect(JSON.parse(readFileSync(join(folder, 'greeter.json'), 'utf8'))).toEqual({ other: 1, words: 'Good morning' })
  const headers = { 'content-type': 'application/json' }
  const said = await fleet.http('/api/plugins/greeter/tools/greet', { method: 'POST', headers, body: '{}' })
  expect(await said.json()).toEqual({ result: 'Good morning' })
})
