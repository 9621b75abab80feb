import type { Agent, Digest, Ending, Exit } from './contract.ts'

const REASON_CHARS = 1000

export function rateLimited({ rateLimit }: Digest): Ending {
  const until = rateLimit?.until ?? undefined
  return {
    outcome: 'rate_limited',
    reason: short(`The provider's rate limit was reached. ${rateLimit?.text ?? ''}`.trim()),
    until,
  }
}

/** A person has to act before another try can help. */
export function notLetIn(
  { title, signIn = 'Sign in with its own command, or pass its key on.' }: Pick<Agent, 'title' | 'signIn'>,
  { status, why }: { status: number | null; why: string },
): string {
  if (status === 401) return `${title} is not signed in. ${signIn}`
  return `${short(`The provider does not let ${title} in (${status}): ${why}`)} ${signIn}`
}

/** The same as the end of a session. */
export const refusedBy = (who: Pick<Agent, 'title' | 'signIn'>, status: 401 | 403, why: string): Ending => ({
  outcome: 'failed',
  reason: notLetIn(who, { status, why }),
})

/** The endings that all clients share. Undefined: the result is a failure, which each client names itself. */
export function commonEnding(digest: Digest, { code }: Exit, forgotten?: boolean): Ending | undefined {
  const { result } = digest
  if (code === null) return { outcome: 'lost', reason: 'The client ended without anyone recording how.' }
  if (!result) return { outcome: 'failed', reason: endedEarly(digest, code), forgotten }
  if (!result.ok) return undefined
  if (code === 0) return { outcome: 'completed', reason: 'The agent finished its turn.' }
  return { outcome: 'failed', reason: `The client ended with exit code ${code} after its last result.` }
}

/** Why a client ended without a result. The last line it printed is the best guess. */
export function endedEarly({ lastError, lastRaw }: Digest, code: number): string {
  const how = code > 128 ? `was ended by signal ${code - 128}` : `ended with exit code ${code}`
  return short(`The client ${how} without a result. ${lastError ?? lastRaw}`.trim())
}

export const short = (text: string): string => text.slice(0, REASON_CHARS)
