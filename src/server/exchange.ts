import type { FastifyInstance, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { Forbidden, InvalidInput, NotAllowed, oneOf, Unauthorized } from '../domain/errors.ts'
import { type Grant, isCurrent } from '../domain/records/principal.ts'
import { Handle, type MemberRole, type Team } from '../domain/records/team.ts'
import { isReserved } from '../domain/rules/mail.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { AGENT_TYPES, exchange, serviceNamed } from '../fleet/people/exchange.ts'
import { publishedKeys } from '../fleet/people/jwt.ts'
import { requireProvided } from '../fleet/people/provider.ts'
import { current, lookUp } from '../fleet/records.ts'
import { findPerson, personIn } from '../fleet/teams/members.ts'
import { teamNamed } from '../fleet/teams/teams.ts'
import { isPrincipal, seenBy, sightFor } from '../operations/authorize.ts'
import { actorNamed } from '../operations/inputs.ts'
import { type Caller, tokenOf } from '../operations/operation.ts'
import { covers, ROLE_PERMISSIONS } from '../operations/roles.ts'
import { deviceOf } from '../platform/tokens.ts'
import { callerOf, namedIn } from './auth.ts'
import type { Limits } from './limits.ts'
import { auditedRequest } from './signing-in.ts'

/** What clients of claude-fleet send. */
const Asked = z.object({
  handle: z.string().trim().min(1).max(80),
  teamName: z.string().min(1).max(120).optional(),
  agentType: z.string().max(80).default('worker'),
})

/** `POST /auth` gives a JWT for another credential, and the keys by which everybody can verify one. */
export function addExchange(app: FastifyInstance, { fleet, limits }: { fleet: Fleet; limits: Limits }): void {
  app.get('/.well-known/jwks.json', { config: { open: true } }, () => publishedKeys(fleet))
  app.post('/auth', { config: { open: true } }, async (request, reply) => {
    const { caller, invitation } = await credentialIn(fleet, limits, request)
    return auditedRequest('exchange_token', { fleet, caller, request }, {}, async seen =>
      reply.send(await exchanged(seen, caller, invitation, request.body)),
    )
  })

  async function exchanged(fleet: Fleet, caller: Caller, invitation: string | undefined, body: unknown) {
    limits.requireExchange(caller)
    const { handle, agentType, teamName } = parsed(body)
    const role = AGENT_TYPES.find(each => each === agentType)
    if (!role)
      throw new InvalidInput('agentType', `is not known here: ${agentType}`, {
        try: `Choose ${oneOf(AGENT_TYPES)}.`,
      })
    const sight = isPrincipal(caller) ? sightFor(caller) : 'fleet'
    const { team, project_id, name } = await placeNamed(seenBy(fleet, caller, sight), teamName)
    if (isPrincipal(caller) && caller.team !== undefined && caller.team !== team?.id)
      throw new Forbidden('This token is for one team only, and is not exchanged for more.')
    const whole = { role, project_id }
    // Whoever has the role in the team only gives no more than that.
    const inTeam = team && isPrincipal(caller) && !covered(caller, whole)
    const grant = inTeam ? { ...whole, team_id: team.id } : whole
    const ask = { operation: 'exchange', actor: actorNamed(caller) }
    if (isPrincipal(caller)) requireCovered(caller, grant, agentType)
    const principal = isPrincipal(caller)
      ? (await current(fleet, 'principals', caller.id)).value
      : await serviceNamed(fleet, ask, handle, grant)
    requireCovered({ ...principal, limit: null }, grant, agentType)
    if (team) await joined(fleet, team, { id: principal.id, handle, role })
    const { jwt, record } = await exchange(fleet, ask, principal, {
      ...{ handle, grant, invitation, team: name, team_id: team?.id ?? null, parent_id: tokenOf(caller) ?? null },
      expires_at: endOf(fleet, caller),
    })
    const told = { uid: principal.id, handle, teamName: name, agentType }
    return { ...told, token: jwt, expires_at: record.expires_at }
  }
}

/** What clients of claude-fleet call a team: a team, or a project and whatever is in it. */
async function placeNamed(
  seen: Fleet,
  teamName: string | undefined,
): Promise<{ team?: Team; project_id: string | null; name: string | null }> {
  if (teamName === undefined) return { project_id: null, name: null }
  const team = await teamNamed(seen, teamName)
  if (team) return { team, project_id: team.project_id, name: team.name }
  const { value } = await lookUp(seen, 'projects', teamName)
  return { project_id: value.id, name: value.name }
}

/**
 * Whoever may write in a team is a member of it from then on, so that others find them. One credential is one member:
 * it cannot speak under several names.
 */
async function joined(
  fleet: Fleet,
  team: Team,
  { id, handle, role }: { id: string; handle: string; role: MemberRole },
) {
  const actor = `service:${id}`
  const known = await findPerson(fleet, team, actor)
  if (known && known.handle.toLowerCase() !== handle.toLowerCase())
    throw new Forbidden(`This credential is ${known.handle} in the team ${team.name}.`, {
      try: 'Ask with that handle, or with a credential of its own.',
    })
  if (known || !ROLE_PERMISSIONS[role].has('mail.send')) return
  if (!Handle.safeParse(handle).success) throw new InvalidInput('handle', 'has 1 to 40 letters, digits, - or _')
  if (isReserved(handle)) throw new InvalidInput('handle', `is the name of a group: ${handle}`)
  if (team.roster.some(each => each.handle.toLowerCase() === handle.toLowerCase()))
    throw new NotAllowed(`The team ${team.name} already has a member called ${handle}.`, {
      try: 'Choose another handle.',
    })
  await personIn(fleet, team, { actor, name: handle, role })
}

function parsed(body: unknown): z.infer<typeof Asked> {
  const { success, data, error } = Asked.safeParse(body ?? {})
  if (success) return data
  const [issue] = error.issues
  throw new InvalidInput(String(issue?.path[0] ?? 'body'), issue?.message ?? 'is not valid')
}

/** Who asks, and the invitation that they use up. Nobody gets anything without a credential. */
async function credentialIn(
  fleet: Fleet,
  limits: Limits,
  { headers: { authorization }, ip }: FastifyRequest,
): Promise<{ caller: Caller; invitation?: string }> {
  if (authorization === undefined)
    throw new Unauthorized('This needs a credential.', {
      try: 'Send Authorization: Bearer <a token, or the token of an invitation>.',
    })
  const found = await callerOf(fleet, authorization).then(
    caller => ({ caller }),
    async error => {
      const invited = error instanceof Unauthorized ? await invitedWith(fleet, authorization) : undefined
      if (invited) return invited
      if (error instanceof Unauthorized) limits.noteFailedSignIn(ip)
      throw error
    },
  )
  if (found.caller.kind === 'session' || found.caller.kind === 'monitor')
    throw new Forbidden('This token is for one thing only, and is not exchanged for another.')
  limits.require(found.caller)
  return found
}

async function invitedWith(
  fleet: Fleet,
  authorization: string,
): Promise<{ caller: Caller; invitation: string } | undefined> {
  const token = authorization.replace(/^Bearer +/i, '')
  const invited = await deviceOf(fleet.keys, token, Date.parse(fleet.now()))
  if (!invited || (await fleet.store.get('devices', invited.id))) return undefined
  if (!invited.principal) return { caller: { kind: 'owner' }, invitation: invited.id }
  const principal = (await fleet.store.get('principals', invited.principal.id))?.value
  if (!isCurrent(principal, invited.principal.epoch, fleet.now())) return undefined
  requireProvided(fleet, principal, 'a link')
  return { caller: { ...namedIn(principal), limit: null }, invitation: invited.id }
}

interface Held {
  name: string
  grants: readonly Grant[]
  limit: readonly Grant[] | null
}

function requireCovered({ name, grants, limit }: Held, grant: Grant, agentType: string): void {
  if (covered({ grants, limit }, grant)) return
  throw new Forbidden(`${name} does not have the role ${agentType} there, so nobody gets it in that name.`, {
    try: 'Ask an owner of this fleet.',
  })
}

const covered = ({ grants, limit }: Pick<Held, 'grants' | 'limit'>, grant: Grant): boolean =>
  [grants, ...(limit ? [limit] : [])].every(held => covers(held, [grant]))

/** Not after what it is given for. */
function endOf({ settings, now }: Fleet, caller: Caller): string {
  const own = new Date(Date.parse(now()) + settings.jwtExpiresIn * 1000).toISOString()
  const given = 'expires_at' in caller ? caller.expires_at : undefined
  return given && given < own ? given : own
}
