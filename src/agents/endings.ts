import type { Agent, Digest, Ending } from './contract.ts'

const REASON_CHARS = 1000

export function rateLimited({ rateLimit }: Digest): Ending {
  const until = rateLimit?.until ?? undefined
  return {
    outcome: 'rate_limited',
    reason: short(`The provider's rate limit was reached. ${rateLimit?.text ?? ''}`.trim()),
    until,
  }
}

/** A person has to do something about it before any try can help. */
export function notLetIn(
  { title, signIn = 'Sign in with its own command, or pass its key on.' }: Pick<Agent, 'title' | 'signIn'>,
  { status, why }: { status: number | null; why: string },
): string {
  if (status === 401) return `${title} is not signed in. ${signIn}`
  return `${short(`The provider does not let ${title} in (${status}): ${why}`)} ${signIn}`
}

/** Why a client ended that never said how its turn went: the last it printed is the best guess. */
export function endedEarly({ lastError, lastRaw }: Digest, code: number): string {
  const how = code > 128 ? `was ended by signal ${code - 128}` : `ended with exit code ${code}`
  return short(`The client ${how} without a result. ${lastError ?? lastRaw}`.trim())
}

export const short = (text: string): string => text.slice(0, REASON_CHARS)
