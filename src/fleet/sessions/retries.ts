import { type Agent, type Digest, notLetIn } from '../../agents/index.ts'
import type { Retrying } from '../../domain/records/retrying.ts'
import { afterRetry, parkedInWords, retryingAfter } from '../../domain/rules/retrying.ts'
import type { Stop } from './stops.ts'

/**
 * What a client's retry means for a session: it is noted, or the session ends because retries are useless or take too
 * long. Null: nothing is new.
 */
export function afterTry(
  agent: Agent,
  before: Retrying | null,
  told: Digest['retry'],
  { now, parkAfter }: { now: string; parkAfter: number },
): { stop: Stop } | { retrying: Retrying | null } | null {
  const retrying = retryingAfter(before, told, now)
  switch (retrying && afterRetry(retrying, { now, parkAfter, canPark: agent.can.resume })) {
    case 'refused':
      return { stop: { outcome: 'failed', reason: notLetIn(agent, retrying!) } }
    case 'parked': {
      const until = retrying!.next_at
      return { stop: { outcome: 'rate_limited', reason: parkedInWords(retrying!), ...(until && { until }) } }
    }
    default:
      return retrying === before ? null : { retrying }
  }
}
