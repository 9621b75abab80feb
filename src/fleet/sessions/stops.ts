import type { Digest } from '../../agents/index.ts'
import type { Context, Outcome } from '../../domain/records/session.ts'
import type { Limits, PassedLimit } from '../../runner/protocol.ts'
import { type Budget, leftOf, overBudget } from '../dispatch/budgets.ts'

/** Why a session is stopped. */
export interface Stop {
  outcome: Outcome
  reason: string
  /** What a person can do about it. */
  try?: string
  /** For rate_limited: when to try again. */
  until?: string
  /** A person stopped the server, so the interruption is nobody's fault and does not count. */
  uncounted?: boolean
}

export interface Held {
  limits: Limits
  budget: Budget | null
  /** Whether its work may go on in a fresh conversation when this one is full. */
  mayHandOver: boolean
}

/** How a session stops at a limit. */
export function stopAt(limit: PassedLimit, { limits, budget, mayHandOver }: Held, { usage, context }: Digest): Stop {
  switch (limit) {
    case 'time':
      return limited(`It reached its time limit of ${limits.timeoutSeconds} seconds.`)
    case 'size':
      return limited(`It printed more than ${limits.transcriptBytes} bytes.`)
    case 'turns':
      return limited(`It reached its limit of ${limits.maxTurns} turns.`)
    case 'budget':
      return budget ? overspent(budget, usage.cost_usd) : limited('It reached its budget.')
    case 'context':
      return { outcome: mayHandOver ? 'handed_over' : 'limited', reason: fullContext(context!, limits.contextLimit) }
  }
}

export const limited = (reason: string): Stop => ({ outcome: 'limited', reason })

const overspent = (budget: Budget, costUsd: number): Stop => ({
  ...limited(overBudget(budget, costUsd)),
  try: budget.try,
})

/** The stop of a session whose final cost reached its budget. Null: it did not. */
export const spentBudget = (budget: Budget | null, { usage: { cost_usd } }: Digest): Stop | null =>
  budget && cost_usd >= leftOf(budget) ? overspent(budget, cost_usd) : null

const fullContext = ({ used_tokens, window_tokens }: Context, limit: number): string =>
  `Its context window is ${Math.floor((used_tokens * 100) / window_tokens!)} % full, ` +
  `${used_tokens} of ${window_tokens} tokens; its limit is ${limit} %.`
