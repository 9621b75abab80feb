import type { Principal } from '../../domain/records/principal.ts'
import { settingsOf } from '../../plugins/finding.ts'
import type { Fleet } from '../fleet.ts'
import { lookUpPrincipal } from '../people/principals.ts'

/** Settings of every plugin: whose accounts elsewhere belong to which people. Only a person can change them. */
const FORM = /^([^=]+)=(.+)$/

/** Whose account this is, as the settings of the plugin say now. Undefined: nobody's, or their access has ended. */
export async function deciderOf(
  fleet: Fleet,
  plugin: string,
  account: string | undefined,
): Promise<Principal | 'owner' | undefined> {
  const { deciders } = settingsOf(fleet.home.path, plugin)
  const links = (Array.isArray(deciders) ? deciders : []).map(each => FORM.exec(String(each)) ?? [])
  const ref = links.find(([, of]) => of?.trim() === account)?.[2]?.trim()
  if (!ref) return undefined
  if (ref === 'owner') return 'owner'
  const found = (await lookUpPrincipal(fleet, ref).catch(() => undefined))?.value
  // The whole id or the whole name: the first letters of an id could soon be those of somebody else.
  const isMeant = found && (found.id === ref || found.name.toLowerCase() === ref.toLowerCase())
  return isMeant && found.kind === 'person' && !found.ended_at ? found : undefined
}
