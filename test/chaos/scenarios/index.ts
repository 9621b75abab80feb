import { healed } from './health.ts'
import { forget, proposed, review, sentBack, undo } from './review.ts'
import type { Scenario } from './scenario.ts'
import { bridged, kept, looped, scheduled, staged } from './series.ts'
import { asked, filled, spoken, taken, told } from './talk.ts'
import { mailed } from './teams.ts'
import { checkpointLoaded, reserved, spawned, swarmKilled } from './teamwork.ts'
import { typed } from './terminals.ts'
import { cancel, chain, conflict, counted, damaged, tidied, warmed } from './work.ts'

export { sentBack } from './review.ts'
export type { Expected, Scenario } from './scenario.ts'
export { looped } from './series.ts'
export { HALF_SENT, spoken } from './talk.ts'
export { chain, conflict } from './work.ts'

/** Those that pass the most commits. A sample of the points is taken from them. */
export const MOST_COMMITS: readonly Scenario[] = [staged, asked, undo, filled, review, taken]

export const SCENARIOS: readonly Scenario[] = [
  chain,
  conflict,
  cancel,
  tidied,
  undo,
  review,
  sentBack,
  forget,
  spoken,
  asked,
  counted,
  scheduled,
  kept,
  looped,
  staged,
  taken,
  filled,
  proposed,
  bridged,
  damaged,
  warmed,
  told,
  mailed,
  swarmKilled,
  checkpointLoaded,
  reserved,
  spawned,
  typed,
  healed,
]
