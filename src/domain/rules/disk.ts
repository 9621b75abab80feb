const UNITS = ['B', 'KB', 'MB', 'GB', 'TB']

export function sizeInWords(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes > 0 ? Math.floor(Math.log(bytes) / Math.log(1000)) : 0)
  const value = bytes / 1000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`
}

export const GB = 1_000_000_000

/** What the worktrees of a project use, and how much they may use. */
export interface DiskShare {
  usedBytes: number
  limitBytes: number
}

/** Why a mission that needs a new worktree waits. One that has worked before may finish, and free its worktree. */
export function diskReason(mission: { session_id: string | null }, disk: DiskShare | null): string | null {
  if (!disk || mission.session_id || disk.usedBytes < disk.limitBytes) return null
  const { usedBytes, limitBytes } = disk
  return `waiting: the worktrees of its project use ${sizeInWords(usedBytes)} of ${sizeInWords(limitBytes)}; see fleet clean --dry-run, or raise its disk limit (fleet project set --disk-limit)`
}

/** When the worktree of a mission that failed or was cancelled is removed. Null: never. */
export function worktreeExpiry(
  mission: { status: string; ended_at: string | null; taken_over: unknown },
  days: number | null,
): string | null {
  const isLost = mission.status === 'failed' || mission.status === 'cancelled'
  if (days === null || !isLost || !mission.ended_at || mission.taken_over) return null
  return new Date(Date.parse(mission.ended_at) + days * DAY_MS).toISOString()
}

const DAY_MS = 24 * 3_600_000
