/**
 * Work whose failure must not end the process, as an error thrown in a bare timer would. It is tried again the next
 * time. Of several failures in a row, only the first is reported.
 */
export function guarded(work: () => void, onFault: (error: unknown) => void): () => void {
  let failing = false
  return () => {
    try {
      work()
      failing = false
    } catch (error) {
      if (!failing) onFault(error)
      failing = true
    }
  }
}

export const every = (ms: number, work: () => void, onFault: (error: unknown) => void): NodeJS.Timeout =>
  setInterval(guarded(work, onFault), ms)
