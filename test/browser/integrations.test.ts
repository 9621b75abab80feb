import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

const LOOKS = [
  ['light', 'desktop'],
  ['dark', 'desktop'],
  ['light', 'phone'],
] as const

test('a client is connected after a look at the change, for a person or a project, and disconnected', async () => {
  const scene = await aScene({ start: false, project: { name: 'Ship' } })
  const { fleet, repo } = scene
  const user = join(fleet.root, 'user')
  mkdirSync(join(user, '.cursor'), { recursive: true })
  const mine = '{\n  "key": "secret",\n  "theme": "dark"\n}\n'
  writeFileSync(join(user, '.claude.json'), mine)
  await fleet.start({ env: { HOME: user } })
  const { page, visit } = await aPerson(fleet, { expects: /409/ })
  await visit('/integrations')
  const row = (title: string) => page.getByRole('listitem').filter({ has: page.getByText(title, { exact: true }) })
  await row('Cursor').getByText('Installed', { exact: true }).waitFor()
  await row('Windsurf').getByText('Not found on this machine').waitFor()

  await page.getByRole('button', { name: 'Connect Claude Code' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('"flotilla": {').waitFor()
  expect(await dialog.getByText('"secret"').count()).toBe(0)
  await dialog.getByRole('switch', { name: 'Add the skill' }).click()
  await dialog.getByText(/New file: .*SKILL\.md/).waitFor()
  await screenshot(page, 'integrations-connect')
  await expectAccessible(page)
  expect(readFileSync(join(user, '.claude.json'), 'utf8')).toBe(mine)

  // The file changes after the preview: nothing is written, and the new preview is shown.
  writeFileSync(join(user, '.claude.json'), '{ "theme": "light" }\n')
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await page
    .getByText(/The files changed since the preview was made/)
    .first()
    .waitFor()
  expect(readFileSync(join(user, '.claude.json'), 'utf8')).toBe('{ "theme": "light" }\n')
  await expect.poll(() => dialog.getByRole('button', { name: 'Connect' }).isEnabled()).toBe(true)
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await dialog.waitFor({ state: 'detached' })
  await row('Claude Code').getByText('Connected', { exact: true }).waitFor()
  expect(JSON.parse(readFileSync(join(user, '.claude.json'), 'utf8'))).toMatchObject({
    theme: 'light',
    mcpServers: { flotilla: { type: 'stdio' } },
  })
  expect(existsSync(join(user, '.claude/skills/flotilla/SKILL.md'))).toBe(true)

  await page.getByRole('combobox', { name: 'Connect for' }).click()
  await page.getByRole('option', { name: 'Ship' }).click()
  await row('Claude Code').getByText('Connected for all your work').waitFor()
  await row('Windsurf').getByText('has no configuration for a single project').waitFor()
  await page.getByRole('button', { name: 'Connect Claude Code' }).click()
  await dialog.getByText(`New file: ${join(repo.path, '.mcp.json')}`).waitFor()
  await dialog.getByRole('button', { name: 'Connect' }).click()
  await row('Claude Code').getByText('Connected in this project').waitFor()
  expect(readFileSync(join(repo.path, '.mcp.json'), 'utf8')).toContain('"command": "fleet"')
  await page.getByRole('button', { name: 'Disconnect Claude Code' }).click()
  await dialog.getByText(`Removed: ${join(repo.path, '.mcp.json')}`).waitFor()
  await dialog.getByRole('button', { name: 'Disconnect' }).click()
  await row('Claude Code').getByText('Connected in this project').waitFor({ state: 'detached' })
  expect(existsSync(join(repo.path, '.mcp.json'))).toBe(false)

  for (const [scheme, size] of LOOKS) {
    const look = await aPerson(fleet, { scheme, size })
    await look.visit('/integrations')
    await look.page.getByText('Connected', { exact: true }).waitFor()
    await settled(look.page)
    await screenshot(look.page, `integrations-${scheme}-${size}`)
    await expectAccessible(look.page)
    expect(await look.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }
  await page.getByRole('button', { name: /^Your phone/ }).click()
  await dialog.getByRole('heading', { name: 'Continue on phone' }).waitFor()
})
