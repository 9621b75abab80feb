import type { Desk } from './reactor.ts'

/** A desk for a reactor that a test drives itself: a failure is thrown, and nothing is scheduled. */
export const aDesk = (): Desk => ({
  signal: new AbortController().signal,
  goOn: (_, work) => void work,
  attempt: (_, work) => work(),
  lookIn: () => {},
  passIn: () => {},
})
