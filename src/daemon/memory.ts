import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const LOOK_EVERY_MS = 10_000
/** A busier server collects by itself, and must not wait. */
const QUIET_SHARE = 0.03

/**
 * Loading the program leaves 20 MB of garbage, and V8 collects it only when more comes, which in an idle server may take
 * hours. The collection blocks the server, and it drops compiled code. So it is done once, when the server has been
 * quiet for ten seconds.
 */
export function collectWhenQuiet(): () => void {
  let before = process.cpuUsage()
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    if ((user + system) / 1000 > QUIET_SHARE * LOOK_EVERY_MS) return
    clearInterval(timer)
    collect()
  }, LOOK_EVERY_MS).unref()
  return () => clearInterval(timer)
}

function collect(): void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as (how: object) => void
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  setFlagsFromString('--no-expose-gc')
}
