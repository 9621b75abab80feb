import type { Mission } from '../domain/records/mission.ts'
import { requireMay } from './authorize.ts'
import { given } from './inputs.ts'
import type { Context } from './operation.ts'
import type { Permission } from './permissions.ts'

/** Settings that decide about the work of a mission ahead need what the decision itself needs, wherever they are set. */
export function neededFor(settings: object): readonly Permission[] {
  const { landing, otherwise } = settings as { landing?: unknown; otherwise?: unknown }
  return [
    ...(landing === 'auto' || landing === 'pull-request' ? (['missions.land'] as const) : []),
    // Permission requests that nobody answers in time are allowed then.
    ...(otherwise === 'allow' ? (['approvals.decide'] as const) : []),
  ]
}

/**
 * Whoever makes another mission of this one, or gives it another prompt, needs what its settings need: it was let go for
 * what it said.
 */
export function requireNeeded({ caller }: Pick<Context, 'caller'>, mission: Mission, changes: object = {}): void {
  for (const permission of neededFor({ ...mission, ...given(changes) }))
    requireMay(caller, permission, mission.project_id)
}
