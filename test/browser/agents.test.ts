import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TestFleet } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

test('agents say what is missing with a line to copy, and a test starts the client', async () => {
  const scene = await aScene({ start: false })
  const { fleet } = scene
  const bin = join(fleet.root, 'clients')
  mkdirSync(bin, { recursive: true })
  const log = join(fleet.root, 'started')
  writeFileSync(join(bin, 'codex'), `#!/bin/sh\necho "$@" >> '${log}'\necho codex-cli 9.8.7\n`)
  chmodSync(join(bin, 'codex'), 0o755)
  await fleet.start({ env: { PATH: `${bin}:/usr/bin:/bin` } })
  const { page, visit } = await aPerson(fleet)
  await visit('/agents')
  await settled(page)
  await page.getByText('9.8.7', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Copy the command for Claude Code', exact: true }).waitFor()
  writeFileSync(log, '')
  await page.getByRole('button', { name: 'Test Codex' }).click()
  await page.getByText(/^Codex started and said “codex-cli 9\.8\.7” after \d+ ms\. No model was called\.$/).waitFor()
  expect(readFileSync(log, 'utf8')).toBe('--version\n')
  await page.getByRole('button', { name: 'Test Claude Code', exact: true }).click()
  await page.getByText(/^Claude Code is not installed/).waitFor()
  for (const scheme of ['light', 'dark'] as const) {
    const look = await aPerson(fleet, { scheme, size: scheme === 'light' ? 'phone' : 'desktop' })
    for (const path of ['/agents', '/plugins']) {
      await look.visit(path)
      await settled(look.page)
      await screenshot(look.page, `${path.slice(1)}-${scheme}`)
      await expectAccessible(look.page)
      expect(await look.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    }
  }
})

test('a plugin is switched on, and says in words what it does and what went wrong', async () => {
  const { fleet } = await aScene({ start: false })
  const folder = join(fleet.root, 'home', 'plugins')
  mkdirSync(folder, { recursive: true })
  // One failure: after several in a row the fleet would turn it off.
  const code = `let told = 0
export default { description: 'Greets.', hooks: { async on_event() { if (!told++) throw new Error('no breath') } } }
`
  writeFileSync(join(folder, 'greeter.mjs'), code)
  await fleet.start()
  const { page, visit } = await aPerson(fleet)
  await visit('/plugins')
  await page.getByText('Greets.').waitFor()
  await page.getByText('is told about every event').waitFor()
  await page.getByText('Built in').first().waitFor()
  await page.getByText(/^It failed 1 time\. The last time: .*no breath/).waitFor()
  const toggle = page.getByRole('switch', { name: 'greeter on' })
  await toggle.click()
  await expect.poll(async () => (await greeter(fleet)).enabled).toBe(false)
  await page.getByText('On', { exact: true }).waitFor({ state: 'detached' })
  await toggle.click()
  await page.getByText('On', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByText('Plugins reloaded.', { exact: true }).first().waitFor()
})

const greeter = async (fleet: TestFleet) =>
  (await fleet.call<{ plugins: { name: string; enabled: boolean }[] }>('list_plugins')).plugins.find(
    ({ name }) => name === 'greeter',
  )!
