import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const LOOK_EVERY_MS = 10_000
/** A busier server collects by itself, and must not wait. */
const QUIET_SHARE = 0.03

/** The start itself takes no more. */
const START_SHARE = 0.15

/**
 * Keeps a server small while it has nothing to do.
 * - Loading the program leaves 20 MB of garbage, and V8 collects it only when more comes, which in an idle server may
 *   take hours. The collection blocks the server, and it drops compiled code. So it is done once, when the server has
 *   been quiet for ten seconds.
 * - bin/load.cjs has told V8 not to optimize. That ends when the server has been busy for ten seconds.
 */
export function staySmall(): () => void {
  let before = process.cpuUsage()
  let isCollected = false
  let isOptimizing = false
  const look = (mostShare: number): void => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    const share = (user + system) / 1000 / LOOK_EVERY_MS
    if (share > mostShare && !isOptimizing) {
      isOptimizing = true
      setFlagsFromString('--opt')
    }
    if (share > QUIET_SHARE || isCollected) return
    isCollected = true
    collect()
  }
  let looks = 0
  const timer = setInterval(() => {
    look(looks++ ? QUIET_SHARE : START_SHARE)
    if (isCollected && isOptimizing) clearInterval(timer)
  }, LOOK_EVERY_MS).unref()
  return () => clearInterval(timer)
}

function collect(): void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as (how: object) => void
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  setFlagsFromString('--no-expose-gc')
}
