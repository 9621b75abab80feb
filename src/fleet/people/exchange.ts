import { InvalidInput, Unauthorized } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { Device } from '../../domain/records/device.ts'
import type { AccessToken, Grant, Principal } from '../../domain/records/principal.ts'
import { MEMBER_ROLES } from '../../domain/records/team.ts'
import { Conflict } from '../../store/index.ts'
import type { Ask } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { put } from '../records.ts'
import { signJwt } from './jwt.ts'
import { addPrincipal, lookUpPrincipal } from './principals.ts'
import { keepToken } from './tokens.ts'

/** What clients of claude-fleet call an agent: a role by the same name. */
export const AGENT_TYPES = MEMBER_ROLES

export interface Exchange {
  handle: string
  grant: Grant
  /** The name of the team or project that was asked for. */
  team: string | null
  team_id: string | null
  /** The token that is exchanged. The JWT ends with it. */
  parent_id: string | null
  /** The id of an invitation that is exchanged, which works once. */
  invitation?: string
  expires_at: string
}

/** Gives a JWT for a credential. Its record makes it revocable like every token. */
export async function exchange(
  fleet: Fleet,
  ask: Ask,
  principal: Principal,
  { handle, grant, team, team_id, parent_id, invitation, expires_at }: Exchange,
): Promise<{ jwt: string; record: AccessToken }> {
  const id = newId()
  const { role } = grant
  const jwt = await signJwt(
    fleet,
    { sub: principal.id, jti: id, handle, role, team, epoch: principal.epoch },
    expires_at,
  )
  const wanted = {
    id,
    token: jwt,
    name: handle,
    grants: [grant],
    team_id,
    expires_at,
    parent_id,
    via: 'exchange' as const,
  }
  if (!invitation) return { jwt, record: await keepToken(fleet, ask, principal, wanted) }
  const keeping = keepToken(fleet, ask, principal, wanted, [usedUp(fleet, invitation, handle)])
  const record = await keeping.catch(error => {
    if (error instanceof Conflict) throw new Unauthorized('This invitation was used.', { try: 'Ask for another one.' })
    throw error
  })
  return { jwt, record }
}

/** The record by which an invitation does not work again. It lets no browser in. */
function usedUp(fleet: Fleet, id: string, name: string) {
  const now = fleet.now()
  const used = { id, name, user_agent: '', signed_in_at: now, expires_at: now, signed_out_at: now }
  return put('devices', Device.parse(used), 'absent')
}

/** What the owner calls an agent becomes a service, which has the role for as long as the owner lets it. */
export async function serviceNamed(fleet: Fleet, ask: Ask, name: string, grant: Grant): Promise<Principal> {
  return retryOnConflict(async () => {
    const found = (await lookUpPrincipal(fleet, name).catch(() => undefined))?.value
    if (!found || found.ended_at || found.name.toLowerCase() !== name.toLowerCase())
      return addPrincipal(fleet, ask, { kind: 'service', name, grants: [grant] })
    if (found.kind === 'service') return found
    throw new InvalidInput('handle', `is the name of a person: ${found.name}`, { try: 'Choose another handle.' })
  })
}

const BATCH = 50

/** JWTs are many and short-lived, so they are forgotten once they have ended. Other tokens stay in their list. */
export async function forgetEndedJwts(fleet: Fleet): Promise<void> {
  for (;;) {
    const { items } = await fleet.store.find('tokens', { index: 'exchanged', below: fleet.now(), limit: BATCH })
    if (items.length)
      await fleet.commit('commit.forgotten', {
        changes: items.map(({ value, version }) => ({ remove: 'tokens', id: value.id, expects: version })),
      })
    if (items.length < BATCH) return
  }
}
