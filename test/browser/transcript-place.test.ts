import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { aWrittenSession, claudeTurn } from '../kit/written-session.ts'
import { aPerson, withBrowser } from './kit.ts'

withBrowser()

const TURNS = 3000
/** Rows of many heights, so that no estimate is right. */
const words = (n: number) =>
  [
    `Number ${n}.`,
    'word '.repeat((n * 37) % 400),
    n % 3 ? '' : `- ${['one', 'two', 'three'].slice(n % 2).join('\n- ')}`,
    n % 5 ? '' : `\`\`\`ts\n${'const a = 1\n'.repeat(n % 11)}\`\`\``,
    n % 7 ? '' : `# A heading\n\n> quoted\n\n| a | b |\n| - | - |\n| 1 | ${n} |`,
  ].join('\n\n')

test('what one reads stays where it is while more is read in front of it', async () => {
  const { fleet, project } = await aScene()
  const stdout = Array.from({ length: TURNS }, (_, n) => [...claudeTurn(n, { text: words(n) })]).flat()
  const { session } = await aWrittenSession(fleet, project, { agent: 'claude', stdout })
  const { page, visit } = await aPerson(fleet)
  /** A page of the transcript waits here until the test lets it through. */
  let waiting: (() => void) | undefined
  await page.route(/\/transcript\?.*before=/, async route => {
    await new Promise<void>(resolve => {
      waiting = resolve
    })
    await route.continue()
  })
  await visit(`/sessions/${session}`)
  const log = page.getByRole('log', { name: 'Transcript' })
  await log.getByText(`Number ${TURNS - 1}.`).waitFor()

  const moves: number[] = []
  for (let round = 0; round < 4; round++) {
    await eventually('more is asked for', async () => {
      if (!waiting) await log.evaluate(element => element.scrollBy(0, -700))
      return waiting
    })
    // Also at the very top, where the first row is a little below the edge.
    if (round % 2 === 0) await log.evaluate(element => element.scrollTo(0, 0))
    // Once nothing moves any more, the visible rows have been measured.
    const moved = page.evaluate<number[]>(WATCH)
    await eventually('it watches', () => page.evaluate('window.watching === true'))
    waiting!()
    waiting = undefined
    moves.push(...(await moved))
  }
  console.log('moved by at most (px):', Math.max(...moves), 'of', moves.length)
  expect(moves.length).toBeGreaterThan(20)
  expect(Math.max(...moves)).toBeLessThanOrEqual(1)
}, 120_000)

/** Follows the topmost visible row frame by frame, until rows were added before it and half a second longer. */
const WATCH = `(async () => {
  const log = document.querySelector('.transcript')
  const frame = () => new Promise(requestAnimationFrame)
  const rows = () => [...log.querySelectorAll('.transcript-row')]
  const nameOf = row => row.textContent.match(/Number \\d+\\./)?.[0]
  const top = log.getBoundingClientRect().top
  let still = 0
  for (let last = log.scrollTop; still < 10; last = log.scrollTop) {
    await frame()
    still = log.scrollTop === last ? still + 1 : 0
  }
  const row = rows().find(each => nameOf(each) && each.getBoundingClientRect().top >= top)
  const name = nameOf(row)
  const before = row.getBoundingClientRect().top
  const height = log.scrollHeight
  window.watching = true
  const moves = []
  let grown = 0
  while (grown < 30) {
    await frame()
    if (grown || log.scrollHeight !== height) grown++
    const now = rows().find(each => nameOf(each) === name)
    moves.push(now ? Math.abs(now.getBoundingClientRect().top - before) : 1e6)
  }
  window.watching = false
  return moves
})()`
