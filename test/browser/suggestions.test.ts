import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { aPerson, expectAccessible, screenshot, withBrowser } from './kit.ts'

withBrowser()
const SOON = { timeout: 15_000 }

const SHOP = `export function total(items) {
  let sum = 0
  for (const item of items) {
    sum = sum + item.price
  }
  return sum
}
`

test('a person comments on several lines, suggests others, applies one suggestion and sends the other', {
  timeout: 120_000,
}, async () => {
  const scene = await aScene({ repository: { files: { 'README.md': 'r\n' } } })
  const { fleet, project, repo } = scene
  const script = `if [ "$FLEET_REASON" != first ]; then cp "$FLEET_PROMPT_FILE" "$FLEET_ARTIFACT_DIR/told"; exit; fi
    mkdir -p src/billing; printf '%s' '${SHOP}' > src/billing/shop.js; seq 40 > package-lock.json; printf '\\0' > a.bin`
  const { id } = await fleet.mission(project, script, { title: 'Add up', landing: 'review' })
  const { candidate } = await fleet.until(id, 'review')

  const { page, visit } = await aPerson(fleet)
  await visit('/review')
  const reasons = page.getByRole('list', { name: 'Reasons to look closely' })
  await expect.poll(() => reasons.textContent(), SOON).toContain('Money')
  expect(await reasons.getByRole('listitem').allTextContents()).toEqual(
    expect.arrayContaining(['Money', 'No tests', 'Binary', 'Dependencies', 'No checks']),
  )
  await expectAccessible(page)
  await screenshot(page, 'review-chips-light')

  await visit(`/review/${id}`)
  await page.getByText('It changes what somebody pays: src/billing/shop.js.').waitFor()
  // A lock file is folded.
  await page.getByRole('button', { name: 'Show package-lock.json' }).waitFor()
  await page.getByText('generated', { exact: true }).waitFor()

  // Lines 3 to 5, selected by keyboard.
  await page
    .getByRole('navigation', { name: 'Changed files' })
    .getByRole('button', { name: /shop\.js/ })
    .click()
  const number = (line: number) => page.getByRole('button', { name: `Comment on line ${line}`, exact: true })
  await number(3).waitFor()
  await number(3).click()
  await page.getByRole('textbox', { name: 'Comment on line 3 of src/billing/shop.js' }).press('Escape')
  await page.keyboard.press('Shift+j')
  await page.keyboard.press('Shift+j')
  await page.keyboard.press('c')
  const range = page.getByRole('textbox', { name: 'Comment on lines 3 to 5 of src/billing/shop.js' })
  await range.fill('Shorter:')
  await page.getByRole('button', { name: 'Suggest a change' }).click()
  await expect
    .poll(() => range.inputValue())
    .toContain('```suggestion\n  for (const item of items) {\n    sum = sum + item.price\n  }\n```')
  await range.fill('Shorter:\n\n```suggestion\n  for (const { price } of items) sum += price\n```')
  await expectAccessible(page)
  await page.keyboard.press('Control+Enter')
  const card = page.getByRole('article').filter({ hasText: 'Shorter:' })
  await card.getByText('lines 3 to 5').waitFor()
  await card.getByRole('region', { name: 'Suggested change' }).getByText('sum += price').waitFor()

  // Two lines, selected with the mouse: Shift and a click.
  await number(1).click()
  await number(2).click({ modifiers: ['Shift'] })
  await page.getByRole('textbox', { name: 'Comment on lines 1 to 2 of src/billing/shop.js' }).fill('Say what it is.')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('article').filter({ hasText: 'Say what it is.' }).waitFor()
  await screenshot(page, 'review-suggestion-light')
  await expectAccessible(page)
  await page.getByRole('button', { name: /^Request changes \(2\)/ }).waitFor()

  await card.getByRole('button', { name: 'Apply suggestion' }).click()
  await page.locator('.toast').getByText('Suggestion applied. Review the new version before you land it.').waitFor()
  const next = (await fleet.show(id)).candidate!.commit
  expect(next).not.toBe(candidate!.commit)
  await page.getByText(next.slice(0, 12)).waitFor()
  await page.getByText('for (const { price } of items) sum += price').first().waitFor()
  await page.getByRole('article').filter({ hasText: 'Shorter:' }).getByText('Applied').waitFor()

  // The other comment is still on its lines, and goes to the agent.
  await page.getByRole('button', { name: /^Request changes \(1\)/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Request changes (1)' }).click()
  await eventually('the agent was told', async () => (await fleet.show(id)).sessions.length === 2)
  await fleet.until(id, 'review')
  const told = await readFile(join(fleet.fleet.home.task(id), 'artifacts/told'), 'utf8')
  expect(told).toContain('src/billing/shop.js:1-2')
  expect(told).not.toContain('Shorter')
  expect(await repo.readOn((await fleet.show(id)).candidate!.commit, 'src/billing/shop.js')).toContain('sum += price')
})
