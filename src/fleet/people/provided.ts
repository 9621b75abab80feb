import { Ambiguous, Forbidden, InvalidInput, NotFound } from '../../domain/errors.ts'
import type { Grant, Principal } from '../../domain/records/principal.ts'
import { mappedFor } from '../../domain/rules/groups.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { all, current, lookUp, put } from '../records.ts'
import { teamsOf } from '../teams/teams.ts'
import { addPrincipal, setGrants } from './principals.ts'

/** Somebody as their provider knows them. */
export interface Provided {
  issuer: string
  subject: string
  name: string
  groups: readonly string[]
}

const ASK = { operation: 'sign_in_with_provider', actor: 'fleet' }
const MOST_NAMESAKES = 50

/**
 * The person that a provider vouches for, with the roles of their groups as they are now. Somebody is known by the
 * provider's own id for them, never by a name or an address: those can be chosen.
 */
export async function personFrom(fleet: Fleet, provided: Provided): Promise<Principal> {
  const grants = await grantsOf(fleet, provided.groups)
  const known = await knownAs(fleet, provided)
  if (known?.ended_at) throw new Forbidden(`${known.name} is no longer part of this fleet.`)
  if (known && JSON.stringify(known.grants) !== JSON.stringify(grants)) await setGrants(fleet, ASK, known.id, grants)
  if (!grants.length)
    throw new Forbidden('None of your groups has a role in this fleet.', {
      try: 'Ask an owner of this fleet to map one of your groups to a role (oidc_groups).',
    })
  return known ? renewed(fleet, known.id) : added(fleet, provided, grants)
}

/** From now on their sign-in counts for a while. Without it, nobody would notice that they left the provider. */
const untilFrom = ({ now, settings }: Fleet): string =>
  new Date(Date.parse(now()) + settings.oidcAgain * 1000).toISOString()

const renewed = (fleet: Fleet, id: string): Promise<Principal> =>
  retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'principals', id)
    const next = { ...value, provider: value.provider && { ...value.provider, until: untilFrom(fleet) } }
    await fleet.commit('commit.wish', { changes: [put('principals', next, version)] })
    return next
  })

async function knownAs(fleet: Fleet, { issuer, subject }: Provided): Promise<Principal | undefined> {
  const [found] = await Array.fromAsync(all(fleet, 'principals', 'provider', [issuer, subject]))
  return found?.value
}

/** Somebody else may have the name already, and keeps it. */
async function added(fleet: Fleet, provided: Provided, grants: Grant[]): Promise<Principal> {
  const { issuer, subject, name } = provided
  for (let count = 1; count <= MOST_NAMESAKES; count++) {
    const person = { kind: 'person' as const, name: count === 1 ? name : `${name} ${count}`, grants }
    try {
      return await addPrincipal(fleet, ASK, { ...person, provider: { issuer, subject, until: untilFrom(fleet) } })
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error
      // Their other browser may have been first.
      const known = await knownAs(fleet, provided)
      if (known) return known
    }
  }
  throw new InvalidInput('name', `is taken too often: ${name}`)
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** A group may be mapped to a project or a team that is gone. It then gives nothing. */
async function grantsOf(fleet: Fleet, groups: readonly string[]): Promise<Grant[]> {
  const wanted = mappedFor(groups, fleet.settings.oidcGroups)
  const grants = wanted.map(async ({ role, project, team }): Promise<Grant[]> => {
    if (project === null) return [{ role, project_id: null }]
    const found = (await lookUp(fleet, 'projects', project).catch(noneIfGone))?.value
    // The whole id or name: the first letters of an id may be those of another project.
    const isMeant = found && [found.id, found.name].some(each => isSame(each, project))
    if (!isMeant) return []
    if (team === undefined) return [{ role, project_id: found.id }]
    const [of] = (await teamsOf(fleet, found.id)).filter(each => !each.ended_at && isSame(each.name, team))
    return of ? [{ role, project_id: found.id, team_id: of.id }] : []
  })
  const found = (await Promise.all(grants)).flat()
  return [...new Map(found.map(grant => [JSON.stringify(grant), grant])).values()]
}

function noneIfGone(error: unknown): undefined {
  if (!(error instanceof NotFound || error instanceof Ambiguous)) throw error
}
