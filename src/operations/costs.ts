import { withoutSpent } from '../domain/rules/spent.ts'
import { isPrincipal, reachFor, sightFor } from './authorize.ts'
import type { Caller } from './operation.ts'
import { both, type Reach, reaches } from './roles.ts'

/** Fields that say what something cost. Budgets are settings of a project or mission, which everybody in it sees. */
const MONEY = /(^|_)(cost|spent)_usd$/

/**
 * An answer as somebody sees it who may not see costs everywhere: what they may not see is 0. Nothing is copied for
 * those who may, which are all roles but `worker`.
 */
export function withoutCosts<T>(caller: Caller, answer: T): T {
  if (!isPrincipal(caller)) return answer
  const [costs, sight] = [reachFor(caller, 'costs.read'), sightFor(caller)]
  return isWithin(sight, costs) ? answer : (hidden(answer, costs, undefined) as T)
}

const isWithin = (one: Reach, other: Reach): boolean =>
  other === 'fleet' || (one !== 'fleet' && (both(one, other) as ReadonlyMap<string, unknown>).size === one.size)

const isShown = (costs: Reach, project: string | undefined): boolean => project !== undefined && reaches(costs, project)

/** `project`: the one that the enclosing record belongs to. */
function hidden(value: unknown, costs: Reach, project: string | undefined): unknown {
  if (typeof value === 'string') return isShown(costs, project) ? value : withoutSpent(value)
  if (Array.isArray(value)) return value.map(each => hidden(each, costs, project))
  if (typeof value !== 'object' || value === null) return value
  const named = (value as { project_id?: unknown }).project_id
  const its = typeof named === 'string' ? named : project
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (MONEY.test(key) && typeof each === 'number') return [key, isShown(costs, its) ? each : 0]
      return [key, hidden(each, costs, its)]
    }),
  )
}
