import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import { type Grant, Principal } from '../../domain/records/principal.ts'
import type { By } from '../../domain/rules/life.ts'
import { looksOf } from '../../domain/rules/lookalikes.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { all, current, derivedId, lookUp, put, readable } from '../records.ts'
import { lookUpTeam } from '../teams/teams.ts'
import { viewOf } from './view.ts'

/** The person or service with this id or name. An id comes first: people of a provider choose their names. */
export async function lookUpPrincipal(fleet: Fleet, ref: string): Promise<Stored<Principal>> {
  const exact = await fleet.store.get('principals', ref)
  if (exact) return exact
  const named = (await allNamed(fleet, ref)).find(({ ended_at }) => !ended_at)
  return named ? current(fleet, 'principals', named.id) : lookUp(fleet, 'principals', ref)
}

/** The name behind an actor such as `person:<id>`. Undefined: the owner, the fleet, an agent or a plugin. */
export async function nameOfActor(fleet: Fleet, actor: string | undefined): Promise<string | undefined> {
  const id = /^(?:person|service):(.+)$/.exec(actor ?? '')?.[1]
  return id && (await readable(fleet, 'principals', id))?.value.name
}

export async function principalsOf(fleet: Fleet): Promise<Principal[]> {
  return (await Array.fromAsync(all(fleet, 'principals', 'created'))).map(({ value }) => value)
}

export async function addPrincipal(
  fleet: Fleet,
  ask: Ask,
  { kind, name, grants, provider = null }: Pick<Principal, 'kind' | 'name' | 'grants'> & Partial<Principal>,
): Promise<Principal> {
  requireLine(name)
  const resolved = await withPlaces(fleet, grants)
  const id = await oncePerKey(fleet, ask, async () => {
    const looks = looksOf(name)
    const earlier = (await principalsOf(fleet)).filter(each => looksOf(each.name) === looks)
    const taken = earlier.find(({ ended_at }) => !ended_at)?.name
    if (taken !== undefined)
      throw new InvalidInput('name', isSame(taken, name) ? `is taken: ${name}` : `looks like ${taken}, who is here`, {
        try: 'Choose another name.',
      })
    const { now, actor } = by(fleet, ask)
    // Two who add such a name at once make the same id, so only one of them can.
    const id = derivedId('principal', looks, String(earlier.length))
    const made = Principal.parse({ id, kind, name, grants: resolved, provider, created_at: now, updated_at: now })
    return {
      subject: made.id,
      changes: [put('principals', made, 'absent')],
      events: [event('principal_added', made, now, actor)],
    }
  })
  return (await current(fleet, 'principals', id)).value
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.trim().toLowerCase()

/** How the fleet calls the owner, the reader and itself: "the owner landed it". Providers let people choose their names. */
const WORDS_OF_THE_FLEET: ReadonlySet<string> = new Set(['you', 'owner', 'the owner', 'fleet', 'the fleet'])

/** Names are shown in terminals and written into commits, and hold nothing that cannot be seen. */
function requireLine(name: string): void {
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(name))
    throw new InvalidInput('name', 'must be one line without control or invisible characters')
  if (WORDS_OF_THE_FLEET.has(looksOf(name)))
    throw new InvalidInput('name', `is not a name here, but who else acts: ${name}`, { try: 'Choose another name.' })
}

/** Open streams end and are opened again with the new roles. */
export async function setGrants(fleet: Fleet, ask: Ask, id: string, grants: readonly Grant[]): Promise<Principal> {
  const resolved = await withPlaces(fleet, grants)
  await changePrincipal(fleet, ask, id, 'principal_changed', principal => ({ ...principal, grants: resolved }))
  return (await current(fleet, 'principals', id)).value
}

/** Signs every browser out and ends every token, at once. */
export async function signOutEverywhere(fleet: Fleet, ask: Ask, id: string): Promise<void> {
  await changePrincipal(fleet, ask, id, 'principal_changed', principal => ({
    ...principal,
    epoch: principal.epoch + 1,
  }))
}

/** For good: the name may be used again, the record stays for what was done. */
export async function endPrincipal(fleet: Fleet, ask: Ask, id: string): Promise<void> {
  await changePrincipal(fleet, ask, id, 'principal_ended', (principal, now) => ({
    ...principal,
    ended_at: now,
    epoch: principal.epoch + 1,
  }))
}

export async function changePrincipal(
  fleet: Fleet,
  ask: Ask,
  id: string,
  kind: 'principal_changed' | 'principal_ended',
  change: (principal: Principal, now: string) => Principal | Promise<Principal>,
): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'principals', id)
    if (value.ended_at) throw new NotAllowed(`${value.name} is no longer part of this fleet.`)
    const { now, actor } = by(fleet, ask)
    const next = { ...(await change(value, now)), updated_at: now }
    return { subject: id, changes: [put('principals', next, version)], events: [event(kind, next, now, actor)] }
  })
}

const event = (
  kind: 'principal_added' | 'principal_changed' | 'principal_ended',
  { id, name, grants, kind: of }: Principal,
  time: string,
  actor: string,
) => ({ kind, time, actor, data: { principal_id: id, name, of, grants } })

async function allNamed(fleet: Fleet, name: string): Promise<Principal[]> {
  const found = await Array.fromAsync(all(fleet, 'principals', 'name', [name.toLowerCase()]))
  return found.map(({ value }) => value)
}

/** Projects and teams can be named in a grant. The record has their ids. */
export const withPlaces = (fleet: Fleet, grants: readonly Grant[]): Promise<Grant[]> =>
  Promise.all(
    grants.map(async ({ role, project_id, team_id }): Promise<Grant> => {
      if (project_id === null) {
        if (team_id !== undefined) throw new InvalidInput('grants', 'name a team without its project')
        return { role, project_id }
      }
      const { id } = (await lookUp(fleet, 'projects', project_id)).value
      if (team_id === undefined) return { role, project_id: id }
      const there = viewOf(fleet, { projects: new Set([id]), teams: new Map() })
      return { role, project_id: id, team_id: (await lookUpTeam(there, team_id)).value.id }
    }),
  )

/** What a team that is deleted changes: a role in it would otherwise go on showing its project. */
export async function withoutRolesIn(fleet: Fleet, team: string, { now, actor }: By) {
  const stored = await Array.fromAsync(all(fleet, 'principals', 'created'))
  const changed = stored.flatMap(({ value, version }) => {
    const grants = value.grants.filter(({ team_id }) => team_id !== team)
    return grants.length < value.grants.length ? [{ next: { ...value, grants, updated_at: now }, version }] : []
  })
  return {
    changes: changed.map(({ next, version }) => put('principals', next, version)),
    events: changed.map(({ next }) => event('principal_changed', next, now, actor)),
  }
}
