import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const AFTER_MS = 10_000

/**
 * Loading the program leaves 20 MB of garbage, and V8 collects it only when more comes, which in an idle server may take
 * hours. The collection blocks the server once, for about 60 ms.
 */
export function collectAfterStart(): () => void {
  const timer = setTimeout(() => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as (how: object) => void
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    setFlagsFromString('--no-expose-gc')
  }, AFTER_MS).unref()
  return () => clearTimeout(timer)
}
