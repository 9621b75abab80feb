import type { Agent, Digest, Knowledge } from '../../agents/index.ts'
import { NotAllowed } from '../../domain/errors.ts'
import type { Effective } from '../../domain/rules/effective.ts'
import { costOf, type KnownModel } from '../../domain/rules/prices.ts'
import type { Fleet } from '../fleet.ts'

/** The client's own name for the requested model. */
const nameOf = ({ agents }: Fleet, agent: Agent, model: string): string =>
  agents.models.of(agent).find(({ alias }) => alias === model)?.name ?? model

const modelOf = (fleet: Fleet, agent: Agent, model: string | null): KnownModel | undefined =>
  model === null ? undefined : fleet.models.known(nameOf(fleet, agent, model))

/** A client that reports money does so at the end of its turns. Until then the table of prices says what it will be. */
const PRICED: readonly Agent['can']['cost'][] = ['priced', 'money']

/** Until the client reports its cost, an unknown model is priced as the first model of the client. */
const priceUntilTold = (fleet: Fleet, agent: Agent) =>
  agent.can.cost === 'money' ? modelOf(fleet, agent, agent.models[0]?.name ?? null)?.price : undefined

/** What the table of models adds to what a client reports. */
export function knowledgeFor(fleet: Fleet, agent: Agent, asked: string | null): Knowledge {
  const known = (told: string | null) => modelOf(fleet, agent, told ?? asked)
  const ownWindows = new Map<string | null, number | null>()
  const ownWindow = (model: string | null): number | null => {
    if (!ownWindows.has(model)) ownWindows.set(model, agent.windowOf?.(model, fleet.environment) ?? null)
    return ownWindows.get(model)!
  }
  return {
    windowOf: model => known(model)?.context_window ?? ownWindow(model ?? asked),
    costOf(usage, model) {
      const price = known(model)?.price ?? priceUntilTold(fleet, agent)
      return price && PRICED.includes(agent.can.cost) ? costOf(price, usage) : null
    },
  }
}

const NO_BUDGET = 'Take the budget off, or choose another agent: fleet agents'

/** A budget that cannot be enforced is refused, not just shown. */
export function requireBudget(
  fleet: Fleet,
  agent: Agent,
  { maxBudgetUsd, model }: Pick<Effective, 'maxBudgetUsd' | 'model'>,
): void {
  const { can, title } = agent
  if (maxBudgetUsd === null || can.budgetLimit || can.cost === 'free') return
  if (can.cost === 'none' || can.cost === 'tokens')
    throw new NotAllowed(`${title} does not report its cost, so it cannot be held to a budget.`, { try: NO_BUDGET })
  if (can.usage !== 'while working')
    throw new NotAllowed(`${title} reports its usage only at the end, so it cannot be held to a budget.`, {
      try: NO_BUDGET,
    })
  if (can.cost === 'priced' && model !== null && !modelOf(fleet, agent, model)?.price)
    throw new NotAllowed(unpriced(nameOf(fleet, agent, model)), { try: NO_BUDGET })
}

/** Why a budget cannot be enforced, for a session whose model was not known before it started. */
export function unheldBudget(
  fleet: Fleet,
  agent: Agent,
  asked: string | null,
  { model, usage }: Digest,
): string | null {
  const name = model ?? asked
  if (agent.can.cost !== 'priced') return null
  if (name !== null) return modelOf(fleet, agent, name)?.price ? null : unpriced(name)
  return usage.output_tokens > 0 ? 'It does not say which model it uses, so it cannot be held to a budget.' : null
}

const unpriced = (model: string): string =>
  `There is no price for the model ${model}, so it cannot be held to a budget. prices.json in the home can name one.`
