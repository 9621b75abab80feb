import { isLetIn } from '../../domain/records/device.ts'
import { type Grant, isCurrent } from '../../domain/records/principal.ts'
import type { Fleet } from '../fleet.ts'
import { standingHolder } from './tokens.ts'

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
  const principal =
    by.token === undefined
      ? device?.principal_id
        ? (await store.get('principals', device.principal_id))?.value
        : null
      : await standingHolder(fleet, (await store.get('tokens', by.token))?.value)
  if (principal === null) return 'in'
  if (principal === undefined || (by.token === undefined && !isCurrent(principal, device!.epoch, fleet.now())))
    return 'out'
  return by.since && JSON.stringify(by.since) !== JSON.stringify(principal.grants) ? 'changed' : 'in'
}
