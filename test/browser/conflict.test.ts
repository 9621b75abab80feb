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
  expect(await page.getByRole('figure', { name: 'On main' }).textContent()).toBe('On mainred')
  expect(await page.getByRole('figure', { name: 'This mission' }).textContent()).toBe('This missionblue')
  await page.getByText('The agent tried to resolve it once.').waitFor()
  await page.getByText('Instructions for session 2').click()
  await page.getByText('- line.txt').waitFor()
  await page.getByText('Resolve it in the worktree').click()
  const { worktree } = (await fleet.show(blue)).sessions.at(-1)!
  await expect.poll(() => page.locator('pre').textContent(), SOON).toContain(`cd ${worktree}\ngit merge main`)
  await expectAccessible(page)
  await screenshot(page, 'conflict-light')
  for (const look of [{ scheme: 'dark' }, { size: 'phone' }] as const) {
    const other = await aPerson(fleet, look)
    await other.visit(`/review/${blue}`)
    await other.page.getByRole('figure', { name: 'This mission' }).waitFor()
    await expectAccessible(other.page)
    await screenshot(other.page, `conflict-${'scheme' in look ? look.scheme : look.size}`)
  }

  // Its agent resolves the conflict, and it lands.
  await page.getByRole('button', { name: 'Ask the agent' }).click()
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
  await page.getByRole('button', { name: 'Try to land again' }).click()
  // Nobody has seen the text written by hand yet. It is shown first, and lands once it is approved.
  await page.locator('.toast').getByText('The work has changed since you opened it.').waitFor()
  expect((await fleet.show(green)).landed).toBeNull()
  await page.getByText('The work merges with main now and can land.').waitFor()
  const written = (await fleet.show(green)).candidate!.commit
  await page.getByText(`Landing adds exactly what is shown here: ${written.slice(0, 12)}`).waitFor()
  await page.getByRole('button', { name: 'Land', exact: true }).click()
  await eventually('it landed', async () => (await fleet.show(green)).landed !== null)
  expect(await repo.readOn('main', 'line.txt')).toBe('all three')
})

test('a conflict is resolved in the page: each place by a side, both or an edit, and the result is reviewed and landed', {
  timeout: 120_000,
}, async () => {
  const poem = Array.from({ length: 30 }, (_, n) => `line ${n + 1}\n`).join('')
  const files = { 'poem.txt': poem, 'gone.txt': 'g\n', 'README.md': 'r\n' }
  const scene = await aScene({ repository: { files } })
  const { fleet, repo, project } = scene
  const edits = [3, 12, 21].map(n => `s/^line ${n}$/mine ${n}/`).join('; ')
  const script = `[ "$FLEET_REASON" = first ] || exit 0
    sed -i "${edits}" poem.txt; echo mine > gone.txt; printf '\\0mine' > logo.png`
  const { id } = await fleet.mission(project, script, { title: 'Rhyme', landing: 'review' })
  await fleet.until(id, 'review')
  await repo.git('rm', '--quiet', 'gone.txt')
  await writeFile(join(repo.path, 'logo.png'), Buffer.from([0, 1]))
  await repo.git('add', 'logo.png')
  await repo.commit('theirs', { 'poem.txt': poem.replace(/^line (3|12|21)$/gm, 'theirs $1') })
  await fleet.land(id)
  const { candidate: before } = await inConflict(scene, id)

  const { page, visit } = await aPerson(fleet)
  await visit(`/review/${id}`)
  const resolve = page.getByRole('button', { name: /^Resolve \(/ })
  await page.getByText('main deleted or renamed this file; this work changed it.').waitFor()
  await page.getByText('It is not text, so its lines cannot be merged.').waitFor()
  expect([await resolve.textContent(), await resolve.isDisabled()]).toEqual(['Resolve (0 of 5)', true])
  // By keyboard: a choice is a button.
  const place = (line: number) => page.getByRole('group', { name: `poem.txt, line ${line}` })
  await place(3).getByRole('button', { name: 'Use main' }).focus()
  await page.keyboard.press('Enter')
  await place(12).getByRole('button', { name: 'Use both' }).click()
  await place(21).getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Edit poem.txt, line 21' }).fill('ours 21')
  const file = (path: string) => page.getByRole('article', { name: path })
  await file('gone.txt').getByRole('button', { name: 'Delete it, as main did' }).click()
  await file('logo.png').getByRole('button', { name: 'Use all of this mission' }).click()
  await expectAccessible(page)
  await screenshot(page, 'conflict-editor-light')
  for (const look of [{ scheme: 'dark' }, { size: 'phone' }] as const) {
    const other = await aPerson(fleet, look)
    await other.visit(`/review/${id}`)
    await other.page.getByRole('group', { name: 'poem.txt, line 21' }).getByRole('button', { name: 'Edit' }).click()
    await expectAccessible(other.page)
    await screenshot(other.page, `conflict-editor-${'scheme' in look ? look.scheme : look.size}`)
    expect(await other.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1280)
  }
  await page.getByRole('button', { name: 'Resolve (5 of 5)' }).click()
  await page.locator('.toast').getByText('Conflict resolved. Review the result, then land it.').waitFor()
  const { candidate } = await fleet.show(id)
  expect(candidate!.commit).not.toBe(before!.commit)
  await page.getByText(candidate!.commit.slice(0, 12)).waitFor()
  await page.getByText('ours 21').waitFor()
  await page.keyboard.press('l')
  await eventually('it landed', async () => (await fleet.show(id)).landed !== null)
  expect((await repo.readOn('main', 'poem.txt')).split('\n').filter(line => !line.startsWith('line'))).toEqual([
    ...['theirs 3', 'theirs 12', 'mine 12', 'ours 21'],
  ])
  expect(await repo.filesOn('main')).toEqual(['README.md', 'logo.png', 'poem.txt'])
})
