/**
 * A timer whose work may fail: thrown in a bare timer, an error would end the process. The work is tried again each
 * time; of failures in a row only the first is told.
 */
export function every(ms: number, work: () => void, onFault: (error: unknown) => void): NodeJS.Timeout {
  let failing = false
  return setInterval(() => {
    try {
      work()
      failing = false
    } catch (error) {
      if (!failing) onFault(error)
      failing = true
    }
  }, ms)
}
