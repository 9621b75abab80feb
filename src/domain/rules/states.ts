import type { Status } from '../records/mission.ts'

/** In which states a mission can be acted on. The page offers what these allow. */
export const RETRYABLE = ['failed', 'cancelled', 'needs_input', 'review', 'waiting'] as const satisfies Status[]
export const CANCELLABLE = [
  'draft',
  'queued',
  'running',
  'needs_input',
  'waiting',
  'landing',
  'review',
] as const satisfies Status[]
/** A person decides about its work. */
export const DECIDABLE = ['review', 'needs_input'] as const satisfies Status[]
export const UNDOABLE = ['done', 'review', 'needs_input', 'failed', 'cancelled'] as const satisfies Status[]
export const DELETABLE = ['draft', 'needs_input', 'review', 'done', 'failed', 'cancelled'] as const satisfies Status[]

export const isIn = (states: readonly Status[], { status }: { status: Status }): boolean => states.includes(status)
