import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, settled, withBrowser } from './kit.ts'

withBrowser()

test('a running mission opens at its transcript and its changes, and follows it through a retry', async () => {
  const { fleet, project, gate } = await aScene({ project: { max_retries: 0, landing: 'review' } })
  const [edit, fail, again] = [gate('edit'), gate('fail'), gate('again')]
  const tried = join(fleet.root, 'tried')
  const script = `echo reading the code; ${edit.wait}
printf 'one\\ntwo\\n' > notes.txt; echo x > more.txt; echo wrote the notes
if [ -e '${tried}' ]; then echo second try; ${again.wait}; echo finished; exit 0; fi
echo > '${tried}'; ${fail.wait}; echo giving up; exit 3`
  const { id } = await fleet.mission(project, script, { title: 'Write the notes' })
  await eventually('it runs', () => edit.reached())
  const person = await aPerson(fleet)
  const { page } = person
  await person.visit(`/missions/${id}`)
  await page.getByRole('link', { name: 'Live' }).waitFor()
  const log = page.getByRole('log', { name: 'Transcript' })
  await log.getByText('reading the code').waitFor()
  const changes = page.getByRole('region', { name: 'Changes so far' })
  await changes.getByText('No changes yet').waitFor()
  edit.open()
  await log.getByText('wrote the notes').waitFor()
  await changes.getByText('2 changed files').waitFor()
  await changes.getByText('two', { exact: true }).waitFor()
  await screenshot(page, 'mission-live-light')
  await expectAccessible(page)

  fail.open()
  await page.getByText('Exited with code 3').first().waitFor()
  await log.getByText('giving up').waitFor()
  await page.getByRole('button', { name: 'Retry' }).click()
  await log.getByText('second try').waitFor()
  await page.getByText('session 2 of 2').waitFor()
  expect(await log.getByText('giving up').count()).toBe(0)
  again.open()
  await fleet.until(id, 'review')
  await log.getByText('finished').waitFor()

  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('heading', { name: 'Summary' }).waitFor()
  await page.getByRole('heading', { name: /2 changed files/ }).waitFor()
  await page.getByText('Ready for review').first().waitFor()
  await settled(page)
  await screenshot(page, 'mission-overview-light')
  await expectAccessible(page)
})

test('its worktree opens in an editor, and its path and branch are copied', async () => {
  const { fleet, project } = await aScene({ project: { landing: 'review' }, env: { FLEET_EDITOR: 'zed' } })
  const { id } = await fleet.mission(project, 'echo a > a.txt')
  const { sessions, branch } = await fleet.until(id, 'review')
  const person = await aPerson(fleet)
  const { page } = person
  await person.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await person.visit(`/missions/${id}`)
  const path = sessions[0]!.worktree!
  expect(await page.getByRole('link', { name: 'Zed' }).getAttribute('href')).toBe(`zed://file${path}`)
  const open = () => page.getByRole('button', { name: 'Open', exact: true }).click()
  await open()
  expect(await page.getByRole('menuitem', { name: 'Open in VS Code' }).getAttribute('href')).toBe(
    `vscode://file${path}`,
  )
  await screenshot(page, 'mission-open-light')
  const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()')
  await page.getByRole('menuitem', { name: 'Copy path' }).click()
  await page.getByText('Copied the path.', { exact: true }).waitFor()
  expect(await clipboard()).toBe(path)
  await open()
  await page.getByRole('menuitem', { name: 'Copy branch' }).click()
  await page.getByText('Copied the branch.', { exact: true }).waitFor()
  expect(await clipboard()).toBe(branch)

  // Landed work has a ref of the fleet instead. It is copied, and not shown as a branch.
  await fleet.land(id)
  await fleet.until(id, 'done')
  await person.visit(`/missions/${id}?tab=overview`)
  await page.getByText('Kept as a ref').waitFor()
  expect(await page.getByText('refs/fleet/').count()).toBe(0)
  await page.getByRole('button', { name: 'Copy ref' }).click()
  await expect.poll(clipboard).toBe((await fleet.show(id)).branch)
  await open()
  await page.getByRole('menuitem', { name: 'Copy ref' }).waitFor()
})

test('on a phone, transcript and changes are one tap apart', async () => {
  const { fleet, project, gate } = await aScene()
  const hold = gate('hold')
  const { id } = await fleet.mission(project, `echo a > a.txt; echo working; ${hold.wait}`)
  await eventually('it runs', () => hold.reached())
  const { page, visit } = await aPerson(fleet, { size: 'phone', scheme: 'dark' })
  await visit(`/missions/${id}`)
  await page.getByRole('log', { name: 'Transcript' }).getByText('working').waitFor()
  await screenshot(page, 'mission-live-phone-dark')
  await page.getByRole('radio', { name: 'Changes' }).click()
  await page.getByRole('region', { name: 'Changes so far' }).getByText('a.txt').first().waitFor()
  await screenshot(page, 'mission-changes-phone-dark')
  await expectAccessible(page)
  hold.open()
  await fleet.until(id, 'done')
})
