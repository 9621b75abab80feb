import { isLetIn } from '../../domain/records/device.ts'
import { type Grant, isCurrent, isUsable } from '../../domain/records/principal.ts'
import type { Fleet } from '../fleet.ts'

/** How somebody is signed in, as far as it can end. */
export interface SignIn {
  device?: string
  token?: string
  expires_at?: string | null
  /** The roles that it was opened with. */
  since?: readonly Grant[]
}

/** A caller as far as it is signed in. */
export function signInOf(caller: { kind: string }): SignIn {
  const { device, token, expires_at, grants } = caller as SignIn & { grants?: readonly Grant[] }
  return { device, token, expires_at, since: grants }
}

/**
 * Whether a sign-in still counts. `changed`: it does, but with other roles. Runs for each open stream after
 * every commit, so it reads a few records by their ids.
 */
export async function standingOf(fleet: Fleet, by: SignIn): Promise<'in' | 'changed' | 'out'> {
  const { store } = fleet
  const device = by.device === undefined ? undefined : (await store.get('devices', by.device))?.value
  if (by.device !== undefined && !isLetIn(device, fleet.now())) return 'out'
  const token = by.token === undefined ? undefined : (await store.get('tokens', by.token))?.value
  if (by.token !== undefined && !isUsable(token, fleet.now())) return 'out'
  const signed = token ?? device
  if (!signed?.principal_id) return 'in'
  const principal = (await store.get('principals', signed.principal_id))?.value
  if (!isCurrent(principal, signed.epoch)) return 'out'
  return by.since && JSON.stringify(by.since) !== JSON.stringify(principal.grants) ? 'changed' : 'in'
}
