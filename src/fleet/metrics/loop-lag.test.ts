import { setTimeout as passed } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { loopLag } from './loop-lag.ts'

const at = (percentile: string) => loopLag().find(({ labels }) => labels.percentile === percentile)!.value

function block(ms: number): void {
  const until = performance.now() + ms
  for (; performance.now() < until; );
}

test('a server that was blocked says for how long, and later one that is not does not', async () => {
  const poll = { interval: 100 }
  await expect
    .poll(async () => {
      const seen = at('100')
      // A block counts once the timer of the measurement has run.
      await passed(60)
      block(300)
      return seen
    }, poll)
    .toBeGreaterThan(0.2)
  await expect.poll(() => at('100'), poll).toBeLessThan(0.2)
})
