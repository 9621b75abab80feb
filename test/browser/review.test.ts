import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aScene, type Scene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'

withBrowser()

const SHOP = `export interface Item { name: string; price: number }

/* What is in the cart,
   and what it comes to. */
export function total(items: Item[]): number {
  return items.reduce((sum, item) => sum + item.price, 0)
}

${Array.from({ length: 60 }, (_, at) => `export const rate${at} = ${at} / 100`).join('\n')}

export function vat(net: number): number {
  return net * 0.19
}
`
const FILES = {
  'src/shop.ts': SHOP,
  'src/names.py': 'def greet(name):\n    return "hello " + name\n',
  'docs/readme.md': '# Shop\n',
}

/** If its work is sent back, the agent keeps the prompt and makes one more change. */
const script = (work: string): string =>
  `if [ "$FLEET_REASON" != first ]; then cp "$FLEET_PROMPT_FILE" "$FLEET_ARTIFACT_DIR/told"; echo // more >> src/shop.ts; exit; fi
   ${work}`

async function finished({ fleet, project }: Scene, title: string, work: string): Promise<string> {
  const { id } = await fleet.mission(project, script(work), { title, landing: 'review' })
  await fleet.until(id, 'review')
  return id
}

const SOON = { timeout: 15_000 }
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

test('three missions are reviewed by keyboard: one goes back with a comment, one lands and is undone, one is rejected', {
  timeout: 120_000,
}, async () => {
  const scene = await aScene({
    repository: { files: FILES },
    project: { checks: [{ name: 'types', command: 'test -f src/shop.ts && echo no errors' }] },
  })
  const { fleet, repo } = scene
  const tax = await finished(
    scene,
    'Charge the new tax',
    `sed -i 's/0.19/0.21/; s/price, 0/price * 2, 0/' src/shop.ts; mv src/names.py src/greeting.py; printf '\\0' > logo.png
     chmod +x docs/readme.md; seq 300 | sed 's/.*/console.log("step &")/' > src/steps.js; echo "The tax is **21 %** now."`,
  )
  const greet = await finished(scene, 'Greet warmly', `sed -i 's/hello/dear/' src/names.py; echo "It greets."`)
  const drop = await finished(scene, 'Drop the readme', 'git rm -q docs/readme.md')

  const { page } = await aPerson(fleet)
  await heading(page, 'Home')
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await heading(page, 'Review')
  const row = page
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name: 'Charge the new tax', exact: true }) })
  await expect
    .poll(() => row.textContent(), SOON)
    .toMatch(/“Greet warmly” has not landed either and changes src\/names\.py as well/)
  // Agents are asked for by themselves.
  await expect.poll(() => row.textContent(), SOON).toContain('Shell script')
  expect(await row.textContent()).toMatch(/5 files.*no tests.*1 check not run yet/)
  await expectAccessible(page)
  await screenshot(page, 'review-queue-light')

  // The riskiest is first: one key selects it, another opens it.
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await heading(page, 'Charge the new tax')
  expect(new URL(page.url()).pathname).toBe(`/review/${tax}`)
  await page.getByText('Renamed from src/names.py').waitFor()
  await page.getByText('now executable').waitFor()
  await page.getByText('Not text, so its content is not shown').waitFor()
  await expectAccessible(page)
  await screenshot(page, 'review-light')
  const second = page.getByRole('heading', { level: 3, name: 'logo.png' })
  const { y } = (await second.boundingBox())!
  await page.getByRole('radio', { name: 'Side by side' }).click()
  await expect.poll(() => page.locator('.diff-pair').count(), SOON).toBeGreaterThan(5)
  expect((await second.boundingBox())!.y, 'what looks the same in both views is as high in both').toBe(y)
  await screenshot(page, 'review-split-light')
  await page.reload()
  await expect.poll(() => page.locator('.diff-pair').count(), SOON).toBeGreaterThan(5)
  await page.getByRole('radio', { name: 'Unified' }).click()

  // Hidden lines around a change can be shown.
  await page.getByRole('button', { name: '2 hidden lines' }).click()
  await page.getByText('export interface Item').last().waitFor()
  await expect.poll(() => page.getByRole('button', { name: '2 hidden lines' }).count(), SOON).toBe(0)

  // Keys move through the files, and the tree follows.
  const inTree = page.getByRole('navigation', { name: 'Changed files' }).locator('[aria-current]')
  for (const name of ['logo.png', 'greeting.py', 'shop.ts']) {
    await page.keyboard.press('n')
    await expect.poll(() => inTree.textContent(), SOON).toContain(name)
  }
  await page.getByText('return net * 0.21').waitFor()
  // The comment is on the first changed line of the file. From there, keys move line by line.
  await page.keyboard.press('c')
  await page.getByRole('textbox', { name: 'Comment on line 6 of src/shop.ts' }).fill('Why twice?')
  await page.keyboard.press('Control+Enter')
  const comment = page.getByRole('article').filter({ hasText: 'Why twice?' })
  await comment.getByText('Pending').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('c')
  await page.getByRole('textbox', { name: 'Comment on line 7 of src/shop.ts' }).fill('Never mind')
  await page.keyboard.press('Control+Enter')
  const slip = page.getByRole('article').filter({ hasText: 'Never mind' })
  await slip.getByRole('button', { name: 'Delete the comment' }).click()
  await expect.poll(() => slip.count(), SOON).toBe(0)
  await comment.getByRole('button', { name: 'Edit the comment' }).click()
  await page.getByRole('textbox', { name: 'Edit the comment' }).fill('Why twice? Once is enough.')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Once is enough.').waitFor()
  await screenshot(page, 'review-comment-light')
  await expectAccessible(page)

  // Sent back with the comment. The agent gets it, and the next mission opens.
  await page.keyboard.press('b')
  await page.getByRole('dialog').getByRole('button', { name: 'Request changes (1)' }).waitFor()
  await page.getByRole('dialog').getByRole('textbox').fill('Nearly there.')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await heading(page, 'Greet warmly')
  const back = await eventually('the agent was told', async () => {
    const mission = await fleet.show(tax)
    return mission.status === 'review' && mission.sessions.length === 2 ? mission : undefined
  })
  const told = await readFile(join(fleet.fleet.home.task(tax), 'artifacts/told'), 'utf8')
  expect(told).toContain('Nearly there.')
  expect(told).toMatch(/src\/shop\.ts:6\n.*price \* 2, 0\)\n\s+Why twice\? Once is enough\./)
  expect(told).not.toContain('Never mind')
  expect(back.comments).toMatchObject([
    { body: 'Why twice? Once is enough.', path: 'src/shop.ts', line: 6 },
    { body: 'Nearly there.', path: null },
  ])

  // Landed, then undone from its message.
  await page.getByText('"dear "').waitFor()
  await page.keyboard.press('l')
  const toast = page.getByRole('listitem').filter({ hasText: 'Landed “Greet warmly”' })
  await toast.waitFor()
  expect(await repo.readOn('main', 'src/names.py')).toContain('dear')
  await toast.getByRole('button', { name: 'Undo' }).click()
  await eventually('it is taken back', async () => (await repo.readOn('main', 'src/names.py')).includes('hello'))
  await fleet.until(greet, 'review')

  // Rejected, undone by key, rejected again.
  await page.goto(new URL(`/review/${drop}`, page.url()).href)
  await heading(page, 'Drop the readme')
  await page.getByRole('button', { name: /^Reject/ }).waitFor()
  await page.keyboard.press('x')
  await eventually('it is rejected', async () => (await fleet.show(drop)).status_reason?.code === 'rejected')
  await expect.poll(() => new URL(page.url()).pathname, SOON).not.toContain(drop)
  await page.getByRole('region', { name: 'Decide' }).waitFor()
  await page.keyboard.press('u')
  await heading(page, 'Drop the readme')
  await eventually('it waits again', async () => (await fleet.show(drop)).status === 'review')
  await page.getByRole('button', { name: /^Reject/ }).waitFor()
  await page.keyboard.press('x')
  await eventually('it is rejected', async () => (await fleet.show(drop)).status === 'cancelled')
  expect(await repo.filesOn('main')).toContain('docs/readme.md')
  expect(await repo.filesOn((await fleet.show(drop)).branch!)).not.toContain('docs/readme.md')

  // Two side by side, to choose one.
  await page.goto(new URL(`/compare?first=${tax}&second=${greet}`, page.url()).href)
  await page.getByRole('link', { name: 'Greet warmly' }).waitFor()
  await page.getByRole('heading', { name: /^Difference between the two/ }).waitFor()
  await page.getByText('both', { exact: true }).first().waitFor()
  await expectAccessible(page)
  await screenshot(page, 'compare-light')
  await page.getByRole('button', { name: 'Land this one' }).last().click()
  await eventually('the winner landed', async () => (await fleet.show(greet)).landed !== null)
  await eventually('the other is kept', async () => (await fleet.show(tax)).status_reason?.code === 'rejected')

  const dark = await aPerson(fleet, { scheme: 'dark' })
  for (const [name, path] of Object.entries(PAGES(tax, greet))) {
    await dark.visit(path)
    await dark.page.locator('.diff-line, .queue-row, .empty').first().waitFor()
    await expectAccessible(dark.page)
    await screenshot(dark.page, `${name}-dark`)
  }
  const phone = await aPerson(fleet, { size: 'phone' })
  for (const [name, path] of Object.entries(PAGES(tax, greet))) {
    await phone.visit(path)
    await phone.page.locator('.diff-line, .queue-row, .empty').first().waitFor()
    await expectAccessible(phone.page)
    await screenshot(phone.page, `${name}-phone`)
    expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  }
})

const PAGES = (one: string, other: string) => ({
  'review-queue': '/review',
  review: `/review/${one}`,
  compare: `/compare?first=${one}&second=${other}`,
})
