import { Forbidden } from '../domain/errors.ts'
import type { Mission } from '../domain/records/mission.ts'
import { effective } from '../domain/rules/effective.ts'
import { defaultsOf } from '../fleet/dispatch/capacity.ts'
import { current } from '../fleet/records.ts'
import { isAgent, requireMay } from './authorize.ts'
import { given } from './inputs.ts'
import type { Context } from './operation.ts'
import type { Permission } from './permissions.ts'

/** Settings that decide about the work of a mission ahead need what the decision itself needs, wherever they are set. */
export function neededFor(settings: object): readonly Permission[] {
  const { landing, agents_may_land, otherwise } = settings as Record<string, unknown>
  const letsLand = landing === 'auto' || landing === 'pull-request' || agents_may_land === true
  return [
    ...(letsLand ? (['missions.land'] as const) : []),
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

/** Work that is held back although its project lands by itself is let go by those who land. */
export async function requireHeldBack(
  { fleet, caller }: Pick<Context, 'fleet' | 'caller'>,
  mission: Mission,
  landing: unknown,
) {
  if (landing !== null || mission.landing === null) return
  const { value: project } = await current(fleet, 'projects', mission.project_id)
  for (const permission of neededFor(project)) requireMay(caller, permission, mission.project_id)
}

/** What waits for a person to let it land waits for a person, whatever role an agent has. */
export async function requireLandsForAgents({ fleet, caller }: Pick<Context, 'fleet' | 'caller'>, id: string) {
  if (!isAgent(caller)) return
  const { value } = await current(fleet, 'missions', id)
  const { value: project } = await current(fleet, 'projects', value.project_id)
  if (project.agents_may_land || effective(value, project, defaultsOf(fleet)).landing === 'auto') return
  throw new Forbidden('An agent lands only what may land by itself.', { try: `A person can: fleet land ${id}` })
}
