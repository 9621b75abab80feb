import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { aScene, type Scene } from '../kit/scene.ts'
import { aPerson, expectAccessible, withBrowser } from './kit.ts'
import { DRAWN } from './measure.ts'

withBrowser()

const SOON = { timeout: 30_000 }

async function finished({ fleet, project }: Scene, title: string, script: string): Promise<string> {
  const { id } = await fleet.mission(project, script, { title, landing: 'review' })
  await fleet.until(id, 'review')
  return id
}

/** How long the page works on each action, in the time of its own thread, so that other programs do not count. */
async function stopwatch(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const worked = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000
  }
  const times: Record<string, number[]> = {}
  const doing = async (what: string, act: () => Promise<unknown>) => {
    const before = await worked()
    await act()
    await page.evaluate(DRAWN)
    times[what] = [...(times[what] ?? []), Math.round((await worked()) - before)]
  }
  /** The position is found first, because that is work of the test. */
  const clicking = async (what: string, on: Locator) => {
    const { x, y, width, height } = (await on.boundingBox())!
    await doing(what, () => page.mouse.click(x + width / 2, y + height / 2))
  }
  return { doing, clicking, times }
}

test('a change of 2,000 files and ten megabytes is looked through without waiting', { timeout: 120_000 }, async () => {
  const scene = await aScene()
  const lines = 'some text that makes the line about as long as lines of programs are, more or less'
  const id = await finished(
    scene,
    'Change everything',
    `i=0; while [ $i -lt 2000 ]; do
       d=many/d$((i / 50)); mkdir -p $d
       for j in 1 2 3 4 5 6 7 8 9 10; do echo "export const value_$j = $i // ${lines}"; done > $d/f$i.ts
       i=$((i + 1)); done
     seq 100000 | sed 's/.*/const value_& = "${lines}"/' > a-huge-file.js
     head -c 1000000 /dev/zero | tr '\\0' x > b-one-line.txt`,
  )
  const { page, visit } = await aPerson(scene.fleet)
  await visit(`/review/${id}`)
  await page.getByRole('heading', { name: '2002 changed files' }).waitFor()
  await page.getByRole('button', { name: 'Show a-huge-file.js' }).waitFor()
  const { doing, clicking, times } = await stopwatch(page)
  const inTree = page.getByRole('navigation', { name: 'Changed files' }).locator('[aria-current]')
  for (let at = 0; at < 12; at++) await doing('next file', () => page.keyboard.press('n'))
  await expect.poll(() => inTree.textContent(), SOON).toContain('.ts')
  for (let at = 0; at < 12; at++) await doing('next line', () => page.keyboard.press('j'))
  await page.getByRole('radio').first().scrollIntoViewIfNeeded()
  for (let at = 0; at < 6; at++) await clicking('other view', page.getByRole('radio').nth((at + 1) % 2))
  await page.getByRole('textbox', { name: 'Find a file' }).focus()
  for (const key of 'f1999') await doing('find', () => page.keyboard.press(key))
  await clicking('go to file', page.getByRole('button', { name: 'f1999.ts' }))
  await page.getByText('value_10 = 1999').waitFor()

  await page.getByRole('textbox', { name: 'Find a file' }).fill('huge')
  await page.getByRole('button', { name: 'a-huge-file.js' }).first().click()
  const unfold = page.getByRole('button', { name: 'Show a-huge-file.js' })
  await unfold.waitFor()
  await unfold.click()
  await page.getByText('const value_1 = "').waitFor()
  const folding = page.getByRole('button', { name: /^(Show|Fold) a-huge-file/ })
  for (let at = 0; at < 6; at++) await clicking('fold 10 MB', folding)
  for (let at = 0; at < 12; at++) await doing('line of 10 MB', () => page.keyboard.press('j'))
  await doing('comment', () => page.keyboard.press('c'))
  await page.getByRole('textbox', { name: /^Comment on line/ }).waitFor()
  for (const key of 'too long') await doing('write', () => page.keyboard.press(key === ' ' ? 'Space' : key))
  await page.evaluate(`document.querySelector('main').scrollTop = 1_000_000`)
  await page.getByText('const value_49').first().waitFor()
  expect(await page.locator('.diff-row').count()).toBeLessThan(150)
  // Folding from far inside the file keeps its header visible.
  await page.getByRole('button', { name: 'Fold a-huge-file.js' }).click()
  await expect.poll(async () => (await unfold.boundingBox())?.y, SOON).toBeLessThan(100)

  const medians = Object.fromEntries(
    Object.entries(times).map(([what, each]) => [what, each.toSorted((a, b) => a - b)[each.length >> 1]!]),
  )
  console.log('milliseconds of work, in the middle:', medians, 'at most:', Math.max(...Object.values(times).flat()))
  for (const [what, ms] of Object.entries(medians)) expect(ms, what).toBeLessThan(100)
})

test('names and contents that would act or deceive are shown as what they are', { timeout: 120_000 }, async () => {
  const scene = await aScene()
  const id = await finished(
    scene,
    '<img src=x onerror=alert(1)>',
    String.raw`printf 'x' > '<img src=x onerror=alert(1)>.html'
      printf 'new\r\nline\n' > "$(printf 'tab\tand "quotes" \\ .txt')"
      printf 'access(\342\200\256nimda\342\200\254)\n\033[31mred\033[0m \033]8;;http://x\007link\n' > 'reorder.js'
      printf 'x\n' > "$(printf '\342\200\256gnp.exe')"
      printf 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n' > 'trap.diff'
      printf '<script>document.title = "taken"</script>\n<a href="javascript:alert(1)">x</a>\n' > page.html
      echo '<script>document.title = "taken"</script>'`,
  )
  const { page, visit } = await aPerson(scene.fleet)
  await visit(`/review/${id}`)
  await page.getByRole('heading', { level: 1, name: '<img src=x onerror=alert(1)>' }).waitFor()
  await page.getByRole('heading', { level: 3, name: '<img src=x onerror=alert(1)>.html' }).waitFor()
  const diff = page.locator('.diff-view')
  await expect.poll(() => diff.textContent(), SOON).toContain('access(‹U+202E›nimda‹U+202C›)')
  const text = await diff.textContent()
  expect(text).toContain('‹U+202E›gnp.exe')
  expect(text).toContain('tab')
  expect(text).toContain('new␍')
  for (const acting of ['\u001b', '\u0007', '\u202e']) expect(text).not.toContain(acting)
  await page.keyboard.press('n')
  for (let at = 0; at < 6; at++) await page.keyboard.press('n')
  await expect.poll(() => diff.textContent(), SOON).toContain('+diff --git a/x b/x')
  expect(await page.locator('.diff-view script, .diff-view img, .diff-view a').count()).toBe(0)
  expect(await page.title()).not.toBe('taken')
  await expectAccessible(page)
})
