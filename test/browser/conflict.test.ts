import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aScene, type Scene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'

withBrowser()

const SOON = { timeout: 15_000 }

/** In a conflict its agent does nothing at first. When a person resumes it, it resolves the conflict. */
const painting = (colour: string): string =>
  `case "$FLEET_REASON" in
     conflict) echo I do not know;;
     resume) git merge -q main; echo red and blue > line.txt;;
     *) echo ${colour} > line.txt; echo it is ${colour};;
   esac`

async function painted({ fleet, project }: Scene, colour: string, title: string): Promise<string> {
  const { id } = await fleet.mission(project, painting(colour), { title, landing: 'review' })
  await fleet.until(id, 'review')
  return id
}

const inConflict = ({ fleet }: Scene, id: string) =>
  eventually('it is in conflict', async () => {
    const mission = await fleet.show(id)
    return mission.status_reason?.code === 'conflict' && mission.status === 'review' ? mission : undefined
  })

test('a conflict from red to landed: both sides are named, its agent resolves one, a person the other', {
  timeout: 120_000,
}, async () => {
  const scene = await aScene({ repository: { files: { 'line.txt': 'original\n' } } })
  const { fleet, repo } = scene
  const red = await painted(scene, 'red', 'Paint it red')
  const blue = await painted(scene, 'blue', 'Paint it blue')
  const green = await painted(scene, 'green', 'Paint it green')
  await fleet.land(red)
  await fleet.until(red, 'done')

  const { page, visit } = await aPerson(fleet, { expects: /409/ })
  await visit(`/review/${blue}`)
  await page.getByRole('button', { name: /^Land/ }).click()
  await inConflict(scene, blue)
  await page.getByRole('listitem').filter({ hasText: '“Paint it blue” did not land' }).waitFor()
  await visit('/review')
  await page.getByRole('heading', { name: 'In conflict (1)' }).waitFor()
  await page.getByRole('link', { name: 'Paint it blue', exact: true }).click()

  // The other mission, and what each side has there.
  await page.getByRole('link', { name: 'Paint it red' }).waitFor()
  const landed = (await fleet.show(red)).landed!
  await page.getByText(landed.commit.slice(0, 10)).waitFor()
  expect(await page.getByRole('figure', { name: 'On main' }).textContent()).toBe('red')
  expect(await page.getByRole('figure', { name: 'Here' }).textContent()).toBe('blue')
  await page.getByText('Its agent was sent to resolve it once').waitFor()
  await page.getByText('What it was told in session 2').click()
  await page.getByText('- line.txt').waitFor()
  await page.getByText('Resolve it by hand').click()
  const { worktree } = (await fleet.show(blue)).sessions.at(-1)!
  await expect.poll(() => page.locator('pre').textContent(), SOON).toContain(`cd ${worktree}\ngit merge main`)
  await expectAccessible(page)
  await screenshot(page, 'conflict-light')
  for (const look of [{ scheme: 'dark' }, { size: 'phone' }] as const) {
    const other = await aPerson(fleet, look)
    await other.visit(`/review/${blue}`)
    await other.page.getByRole('figure', { name: 'Here' }).waitFor()
    await expectAccessible(other.page)
    await screenshot(other.page, `conflict-${'scheme' in look ? look.scheme : look.size}`)
  }

  // Its agent resolves the conflict, and it lands.
  await page.getByRole('button', { name: 'Have its agent resolve it' }).click()
  await eventually('its agent is done', async () => {
    const { sessions, status, status_reason } = await fleet.show(blue)
    return sessions.at(-1)!.reason === 'resume' && status === 'review' && status_reason?.code !== 'conflict'
  })
  await visit(`/review/${blue}`)
  await page.getByRole('button', { name: /^Land/ }).click()
  await eventually('it landed', async () => (await fleet.show(blue)).landed !== null)
  expect(await repo.readOn('main', 'line.txt')).toBe('red and blue')

  // The other conflict is resolved by hand, where the page says.
  await visit(`/review/${green}`)
  await page.getByRole('button', { name: /^Land/ }).click()
  const waiting = await inConflict(scene, green)
  await visit(`/review/${green}`)
  await page.getByRole('link', { name: 'Paint it blue' }).waitFor()
  await writeFile(join(waiting.sessions.at(-1)!.worktree!, 'line.txt'), 'all three\n')
  await page.getByRole('button', { name: 'It is resolved: land it' }).click()
  // Nobody has seen the text written by hand yet. It is shown first, and lands once it is approved.
  await page.locator('.toast').getByText('The work has changed since you opened it.').waitFor()
  expect((await fleet.show(green)).landed).toBeNull()
  await page.getByText('Its work now merges with main and can land.').waitFor()
  const written = (await fleet.show(green)).candidate!.commit
  await page.getByText(`Landing adds exactly what is shown here: ${written.slice(0, 12)}`).waitFor()
  await page.getByRole('button', { name: 'Land it' }).click()
  await eventually('it landed', async () => (await fleet.show(green)).landed !== null)
  expect(await repo.readOn('main', 'line.txt')).toBe('all three')
})
