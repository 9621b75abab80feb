export const TONES = {
  running: 'blue',
  paused: 'amber',
  stopping: 'amber',
  complete: 'green',
  limit: 'amber',
  stopped: 'gray',
  failed: 'red',
} as const

export const WORDS: Record<keyof typeof TONES, string> = {
  running: 'Running',
  paused: 'Paused',
  stopping: 'Stopping',
  complete: 'Goal reached',
  limit: 'Limit reached',
  stopped: 'Stopped',
  failed: 'Failed',
}
export const OUTCOMES = {
  progress: 'Progress',
  complete: 'Goal reached',
  nothing_done: 'Nothing done',
  planning_failed: 'Planning failed',
  checks_failed: 'Checks failed',
}
export const ROUND_TONES = {
  progress: 'blue',
  complete: 'green',
  nothing_done: 'amber',
  planning_failed: 'red',
  checks_failed: 'red',
} as const
