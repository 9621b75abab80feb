import { setTimeout as passed } from 'node:timers/promises'
import type { Store } from '../store/index.ts'

interface Patience {
  ms: number
  signal: AbortSignal
  /** Called whenever nothing was committed for this long. */
  quiet?: { everyMs: number; tell(): void }
}

/**
 * Calls `look` now and after each commit, until it returns something. Undefined: the time was up or the caller was gone
 * first. Nothing is read while nothing is committed.
 */
export async function untilSeen<T>(
  store: Store,
  look: () => Promise<T | undefined>,
  { ms, signal, quiet }: Patience,
): Promise<T | undefined> {
  const end = performance.now() + ms
  let woken = Promise.withResolvers<'committed'>()
  const stopWatching = store.watch(() => woken.resolve('committed'))
  try {
    for (;;) {
      // Set before the look, so that a commit during the look is not missed.
      woken = Promise.withResolvers()
      const seen = await look()
      if (seen !== undefined) return seen
      for (let woke: 'committed' | undefined; !woke; ) {
        const left = end - performance.now()
        if (left <= 0 || signal.aborted) return undefined
        woke = await eitherOf(woken.promise, Math.min(left, quiet?.everyMs ?? left), signal)
        if (!woke && !signal.aborted && performance.now() < end) quiet?.tell()
      }
    }
  } finally {
    stopWatching()
  }
}

async function eitherOf<T>(woken: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  const over = new AbortController()
  const time = passed(ms, undefined, { signal: AbortSignal.any([signal, over.signal]), ref: false }).catch(
    () => undefined,
  )
  try {
    return await Promise.race([woken, time])
  } finally {
    over.abort()
  }
}
