import type { Output } from '../api/client.ts'

type Report = Output<'get_report'>

export const OUTCOMES: Record<Report['status'], { color: 'green' | 'gray' | 'amber' | 'red'; word: string }> = {
  completed: { color: 'green', word: 'Completed' },
  completed_no_changes: { color: 'gray', word: 'No changes' },
  blocked: { color: 'amber', word: 'Blocked' },
  limited: { color: 'amber', word: 'Stopped at a limit' },
  handed_over: { color: 'gray', word: 'Handed over' },
  rate_limited: { color: 'amber', word: 'Rate limited' },
  stalled: { color: 'amber', word: 'Stalled' },
  lost: { color: 'amber', word: 'Lost' },
  failed: { color: 'red', word: 'Failed' },
  parked: { color: 'gray', word: 'Parked' },
  cancelled: { color: 'gray', word: 'Cancelled' },
}
