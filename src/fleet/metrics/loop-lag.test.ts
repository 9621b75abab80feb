import { setTimeout as passed } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { loopLag } from './loop-lag.ts'

const at = (quantile: string) => loopLag().find(({ labels }) => labels.quantile === quantile)!.value

function block(ms: number): void {
  const until = performance.now() + ms
  for (; performance.now() < until; );
}

test('a server that was blocked says for how long, and later one that is not does not', async () => {
  const poll = { interval: 100 }
  await expect
    .poll(async () => {
      const seen = at('1')
      // A block counts once the timer of the measurement has run.
      await passed(60)
      block(300)
      return seen
    }, poll)
    .toBeGreaterThan(0.2)
  await expect.poll(() => at('1'), poll).toBeLessThan(0.2)
})
