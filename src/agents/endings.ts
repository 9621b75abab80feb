import type { Digest, Ending } from './contract.ts'

const REASON_CHARS = 1000

export function rateLimited({ rateLimit }: Digest): Ending {
  const until = rateLimit?.until ?? undefined
  return {
    outcome: 'rate_limited',
    reason: short(`The provider's rate limit was reached. ${rateLimit?.text ?? ''}`.trim()),
    until,
  }
}

/** Why a client ended that never said how its turn went: the last it printed is the best guess. */
export function endedEarly({ lastError, lastRaw }: Digest, code: number): string {
  const how = code > 128 ? `was ended by signal ${code - 128}` : `ended with exit code ${code}`
  return short(`The client ${how} without a result. ${lastError ?? lastRaw}`.trim())
}

export const short = (text: string): string => text.slice(0, REASON_CHARS)
