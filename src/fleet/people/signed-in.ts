import { isLetIn } from '../../domain/records/device.ts'
import { isCurrent, isUsable, type Principal } from '../../domain/records/principal.ts'
import type { Fleet } from '../fleet.ts'

/** How somebody is signed in, as far as it can end. */
export interface SignIn {
  device?: string
  token?: string
}

/** A caller as far as it is signed in. */
export const signInOf = (caller: { kind: string; device?: string; token?: string }): SignIn =>
  caller.kind === 'session' ? {} : { device: caller.device, token: caller.token }

/**
 * Whether a sign-in still counts. `changed`: it does, with other roles than `since`. Runs for each open stream after
 * every commit, so it reads a few records by their ids.
 */
export async function standingOf(
  fleet: Fleet,
  by: SignIn,
  since?: readonly Principal['grants'][number][],
): Promise<'in' | 'changed' | 'out'> {
  const { store } = fleet
  const device = by.device === undefined ? undefined : (await store.get('devices', by.device))?.value
  if (by.device !== undefined && !isLetIn(device, fleet.now())) return 'out'
  const token = by.token === undefined ? undefined : (await store.get('tokens', by.token))?.value
  if (by.token !== undefined && !isUsable(token, fleet.now())) return 'out'
  const signed = token ?? device
  if (!signed?.principal_id) return 'in'
  const principal = (await store.get('principals', signed.principal_id))?.value
  if (!isCurrent(principal, signed.epoch)) return 'out'
  return since && JSON.stringify(since) !== JSON.stringify(principal.grants) ? 'changed' : 'in'
}
