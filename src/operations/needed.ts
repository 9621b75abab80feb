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
