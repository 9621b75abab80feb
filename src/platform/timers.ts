/**
 * A timer whose work may fail: an error thrown in a bare timer would end the process. The work is tried again each
 * time. Of several failures in a row, only the first is reported.
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
