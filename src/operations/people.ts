import * as z from 'zod'
import { Forbidden, InvalidInput, NotFound } from '../domain/errors.ts'
import { newId, Timestamp } from '../domain/ids.ts'
import { AccessToken, Grant, MOST_GRANTS, Principal, type Role } from '../domain/records/principal.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { signedInDevices } from '../fleet/people/devices.ts'
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS, setPassword } from '../fleet/people/passwords.ts'
import {
  addPrincipal,
  endPrincipal,
  lookUpPrincipal,
  principalsOf,
  setGrants,
  signOutEverywhere,
  withPlaces,
} from '../fleet/people/principals.ts'
import { requireProvided } from '../fleet/people/provider.ts'
import { comesFrom, makeToken, revokeToken, tokensOf } from '../fleet/people/tokens.ts'
import { lookUp } from '../fleet/records.ts'
import { deviceUrl, INVITATION_LASTS_MS } from '../platform/tokens.ts'
import { isHeld, readDaemon } from '../store/index.ts'
import { isPrincipal, reachFor, seenBy, sightFor } from './authorize.ts'
import { actorOf, ask, ProjectRef, Ref } from './inputs.ts'
import { type Caller, type Context, command, type Principal as PrincipalCaller, query, tokenOf } from './operation.ts'
import { PERMISSIONS, type Permission } from './permissions.ts'
import { requirePerson as onlyPerson, requireNoLonger, requireWhole } from './person.ts'
import { both, covers, isEmpty, ROLE_PERMISSIONS, ROLE_WORDS, ROLES, sightOf } from './roles.ts'

const WantedGrants = z
  .array(Grant.extend({ project_id: ProjectRef.nullable().default(null).describe('empty: in the whole fleet') }))
  .max(MOST_GRANTS)
const WithPrincipal = z.object({ principal_id: Ref.describe('an id, its first letters, or the name') })
const PrincipalView = Principal.omit({ epoch: true, password: true })
const TokenView = AccessToken.omit({ hash: true, epoch: true }).extend({
  /** A revoked or expired token stays in the list. */
  valid: z.boolean(),
})

/** Access to a fleet is given by people, not by programs. */
const requirePerson = (caller: Caller): void => onlyPerson(caller, 'let somebody in')

/** Nobody can give or take away more than they have. */
function requireCovered(caller: Caller, ...lists: (readonly Grant[])[]): void {
  if (!isPrincipal(caller)) return
  const held = caller.limit === null ? [caller.grants] : [caller.grants, caller.limit]
  if (!lists.every(grants => held.every(each => covers(each, grants))))
    throw new Forbidden('You cannot give roles that you do not have yourself.')
}

const viewOf = ({ epoch: _, password: __, ...principal }: Principal): z.infer<typeof PrincipalView> => principal

const tokenView = (fleet: Fleet, { hash: _, epoch: __, ...token }: AccessToken): z.infer<typeof TokenView> => ({
  ...token,
  valid: token.revoked_at === null && (token.expires_at === null || token.expires_at > fleet.now()),
})

async function invitation(fleet: Fleet, principal: Principal) {
  const daemon = isHeld(fleet.home.path) ? readDaemon(fleet.home.path) : undefined
  const at = daemon?.reachable_at[0] ?? daemon?.url
  if (!at) return null
  const expiresMs = Date.parse(fleet.now()) + INVITATION_LASTS_MS
  const { id, epoch } = principal
  const url = await deviceUrl(fleet.keys, at, { id: newId(), name: '', expiresMs, principal: { id, epoch } })
  return { url, expires_at: new Date(expiresMs).toISOString() }
}

const Invitation = z
  .object({ url: z.string(), expires_at: z.string() })
  .nullable()
  .describe('a link that signs one browser in, once, within seven days; empty: no server runs, or it is a service')

/** The principal that a token operation is about: oneself, or somebody else for who manages people. */
async function meant(context: Context, ref: string | undefined): Promise<Principal> {
  const { fleet, caller } = context
  if (ref === undefined) {
    if (!isPrincipal(caller))
      throw new InvalidInput('principal_id', 'is missing: the owner of the home has one token, in its file', {
        try: 'Name a person or a service.',
      })
    return (await lookUp(fleet, 'principals', caller.id)).value
  }
  // Whether somebody exists is not for everybody.
  const found = await lookUpPrincipal(fleet, ref).catch(() => undefined)
  const isSelf = isPrincipal(caller) && found?.value.id === caller.id
  if (!found || !(isSelf || managesPeople(caller))) throw new NotFound('person or service', ref)
  return found.value
}

/** A token with less than its person has to do with itself and those made with it, not with the others of the person. */
const isInHand = async ({ fleet, caller }: Context, token: AccessToken): Promise<boolean> =>
  managesPeople(caller) || !isPrincipal(caller) || caller.limit === null || comesFrom(fleet, token, caller.token ?? '')

/** What a token is limited to. A project that its principal may not see is not told apart from one that is not. */
async function ownGrants({ fleet }: Context, principal: Principal, wanted: Grant[]): Promise<Grant[]> {
  const sight = sightOf(principal.grants)
  const seen = seenBy(
    fleet,
    { kind: 'person', id: principal.id, name: '', grants: principal.grants, limit: null },
    sight,
  )
  const grants = await withPlaces(seen, wanted).catch(error => {
    if (error instanceof NotFound) return undefined
    throw error
  })
  if (!grants || !covers(principal.grants, grants))
    throw new InvalidInput('grants', `are more than ${principal.name} has`)
  return grants
}

/** Who works only where the caller sees nothing is nobody to them. */
function sharesProject(caller: Caller, { id, grants }: Principal): boolean {
  if (!isPrincipal(caller) || caller.id === id) return true
  const [theirs, own] = [sightOf(grants), sightFor(caller)]
  return !isEmpty(both(theirs, own))
}

const managesPeople = (caller: Caller): boolean =>
  (caller.kind === 'owner' && !caller.plugin) ||
  (isPrincipal(caller) && (caller.limit ?? caller.grants).some(isOwnerOfFleet) && caller.grants.some(isOwnerOfFleet))

const isOwnerOfFleet = ({ role, project_id }: Grant): boolean => role === 'owner' && project_id === null

export const people = [
  query({
    name: 'who_am_i',
    may: 'self.manage',
    mcp: 'system',
    summary: 'Show who you are to this fleet, and what you may do',
    http: 'GET /api/me',
    input: z.object({}),
    output: z.object({
      kind: z.enum(['owner', 'person', 'service']),
      id: z.string().nullable(),
      name: z.string(),
      grants: z.array(Grant),
      permissions: z
        .array(z.object({ permission: z.string(), projects: z.array(z.string()).nullable() }))
        .describe('projects empty: in the whole fleet'),
    }),
    run: async ({ caller }) => {
      if (!isPrincipal(caller))
        return { kind: 'owner' as const, id: null, name: 'the owner of this home', grants: [], permissions: [] }
      const { kind, id, name, grants, limit } = caller
      return { kind, id, name, grants: [...(limit ?? grants)], permissions: permissionsOf(caller) }
    },
  }),
  query({
    name: 'list_roles',
    may: 'self.manage',
    mcp: 'system',
    summary: 'List the roles and what each may do',
    http: 'GET /api/roles',
    input: z.object({}),
    output: z.object({
      roles: z.array(z.object({ role: z.string(), about: z.string(), permissions: z.array(z.string()) })),
    }),
    run: async () => ({
      roles: ROLES.map((role: Role) => ({
        role,
        about: ROLE_WORDS[role],
        permissions: [...ROLE_PERMISSIONS[role]].toSorted(),
      })),
    }),
  }),
  query({
    name: 'list_names',
    may: 'self.manage',
    mcp: false,
    summary: 'List the names of the people and services that share a project with you, for what they did',
    http: 'GET /api/people/names',
    input: z.object({}),
    output: z.object({
      names: z.array(z.object({ id: z.string(), kind: z.enum(['person', 'service']), name: z.string() })),
    }),
    run: async ({ fleet, caller }) => ({
      names: (await principalsOf(fleet))
        .filter(each => sharesProject(caller, each))
        .map(({ id, kind, name }) => ({ id, kind, name })),
    }),
  }),
  query({
    name: 'list_people',
    may: 'people.manage',
    mcp: 'system',
    summary: 'List the people and services that may use this fleet besides its owner, with their roles',
    http: 'GET /api/people',
    input: z.object({ ended: z.boolean().default(false).describe('also those whose access has ended') }),
    output: z.object({
      people: z.array(
        PrincipalView.extend({
          last_used_at: Timestamp.nullable().describe('the last use of a token, or sign-in of a browser'),
        }),
      ),
    }),
    run: async ({ fleet }, { ended }) => {
      const shown = (await principalsOf(fleet)).filter(({ ended_at }) => ended || !ended_at)
      const signedIn = Map.groupBy(await signedInDevices(fleet), ({ principal_id }) => principal_id)
      const people = shown.map(async each => {
        const tokens = await tokensOf(fleet, each.id)
        const uses = [
          ...tokens.flatMap(({ last_used_at }) => last_used_at ?? []),
          ...(signedIn.get(each.id) ?? []).map(({ signed_in_at }) => signed_in_at),
        ]
        return { ...viewOf(each), last_used_at: uses.toSorted().at(-1) ?? null }
      })
      return { people: await Promise.all(people) }
    },
  }),
  command({
    name: 'invite_person',
    may: 'people.manage',
    // The answer signs a browser in, so it is for the person and not for a model.
    mcp: false,
    summary: 'Let a person into this fleet with roles, and make the link that signs in their first browser',
    http: 'POST /api/people',
    input: z.object({ name: Principal.shape.name, grants: WantedGrants }),
    output: z.object({ person: PrincipalView, invitation: Invitation }),
    run: async (context, { name, grants }) => {
      requirePerson(context.caller)
      requireCovered(context.caller, grants)
      requireProvided(context.fleet, { provider: null }, 'an invitation')
      const asked = ask(context, 'invite_person')
      const person = await addPrincipal(context.fleet, asked, { kind: 'person', name, grants })
      return { person: viewOf(person), invitation: await invitation(context.fleet, person) }
    },
  }),
  command({
    name: 'invite_again',
    may: 'people.manage',
    mcp: false,
    summary: 'Make another link that signs in a browser of a person',
    http: 'POST /api/people/:principal_id/invitation',
    input: WithPrincipal,
    output: z.object({ person: PrincipalView, invitation: Invitation }),
    run: async ({ fleet, caller }, { principal_id }) => {
      requirePerson(caller)
      const { value } = await lookUpPrincipal(fleet, principal_id)
      requireCovered(caller, value.grants)
      if (value.kind === 'service' || value.ended_at)
        throw new InvalidInput(
          'principal_id',
          value.ended_at ? 'has no access any more' : 'is a service, which uses tokens',
        )
      requireProvided(fleet, value, 'an invitation')
      return { person: viewOf(value), invitation: await invitation(fleet, value) }
    },
  }),
  command({
    name: 'add_service',
    may: 'people.manage',
    mcp: false,
    summary: 'Add a service: a named account for scripts, which uses tokens',
    http: 'POST /api/services',
    input: z.object({ name: Principal.shape.name, grants: WantedGrants }),
    output: z.object({ service: PrincipalView }),
    run: async (context, { name, grants }) => {
      requirePerson(context.caller)
      requireCovered(context.caller, grants)
      const asked = ask(context, 'add_service')
      return { service: viewOf(await addPrincipal(context.fleet, asked, { kind: 'service', name, grants })) }
    },
  }),
  command({
    name: 'set_roles',
    may: 'people.manage',
    mcp: false,
    summary: 'Replace the roles of a person or a service; open pages and streams follow at once',
    http: 'PUT /api/people/:principal_id/roles',
    input: WithPrincipal.extend({ grants: WantedGrants }),
    output: PrincipalView,
    run: async (context, { principal_id, grants }) => {
      requirePerson(context.caller)
      const { value } = await lookUpPrincipal(context.fleet, principal_id)
      requireCovered(context.caller, grants, value.grants)
      return viewOf(await setGrants(context.fleet, ask(context, 'set_roles'), value.id, grants))
    },
  }),
  command({
    name: 'sign_out_person',
    may: 'people.manage',
    mcp: false,
    summary: 'Sign a person or a service out everywhere: browsers, tokens and open streams end at once',
    http: 'POST /api/people/:principal_id/sign-out',
    input: WithPrincipal,
    output: PrincipalView,
    run: async (context, { principal_id }) => {
      requirePerson(context.caller)
      const { value } = await lookUpPrincipal(context.fleet, principal_id)
      requireCovered(context.caller, value.grants)
      await signOutEverywhere(context.fleet, ask(context, 'sign_out_person'), value.id)
      return viewOf((await lookUp(context.fleet, 'principals', value.id)).value)
    },
  }),
  command({
    name: 'remove_person',
    may: 'people.manage',
    mcp: false,
    summary: 'End the access of a person or a service at once; what they did keeps their name',
    http: 'DELETE /api/people/:principal_id',
    input: WithPrincipal,
    output: PrincipalView,
    run: async (context, { principal_id }) => {
      requirePerson(context.caller)
      const { value } = await lookUpPrincipal(context.fleet, principal_id)
      requireCovered(context.caller, value.grants)
      await endPrincipal(context.fleet, ask(context, 'remove_person'), value.id)
      return viewOf((await lookUp(context.fleet, 'principals', value.id)).value)
    },
  }),
  command({
    name: 'set_password',
    may: 'self.manage',
    // A secret is in the input.
    mcp: false,
    summary: 'Set your password, or that of a person if you manage people; it signs in further browsers',
    http: 'PUT /api/me/password',
    input: z.object({
      principal_id: Ref.optional().describe('absent: you'),
      password: z.string().min(MIN_PASSWORD_CHARS).max(MAX_PASSWORD_CHARS),
      current: z.string().max(MAX_PASSWORD_CHARS).optional().describe('your password until now, if you have one'),
    }),
    output: z.object({ name: z.string() }),
    run: async (context, { principal_id, password, current }) => {
      requirePerson(context.caller)
      const person = await meant(context, principal_id)
      if (person.kind !== 'person') throw new InvalidInput('principal_id', 'is a service, which uses tokens')
      requireWhole(context.caller)
      requireCovered(context.caller, person.grants)
      const isSelf = isPrincipal(context.caller) && context.caller.id === person.id
      await setPassword(context.fleet, ask(context, 'set_password'), person.id, { password, current, isSelf })
      return { name: person.name }
    },
  }),
  query({
    name: 'list_tokens',
    may: 'self.manage',
    mcp: false,
    summary: 'List your tokens, or those of somebody else if you manage people',
    http: 'GET /api/tokens',
    input: z.object({ principal_id: Ref.optional().describe('absent: you') }),
    output: z.object({ tokens: z.array(TokenView) }),
    run: async (context, { principal_id }) => {
      const ofOwner = principal_id === undefined && context.caller.kind === 'owner'
      const holder = ofOwner ? null : (await meant(context, principal_id)).id
      const tokens: AccessToken[] = []
      for (const each of await tokensOf(context.fleet, holder)) if (await isInHand(context, each)) tokens.push(each)
      return { tokens: tokens.map(each => tokenView(context.fleet, each)) }
    },
  }),
  command({
    name: 'make_token',
    may: 'self.manage',
    // The answer is a secret.
    mcp: false,
    summary: 'Make a token for a script or another machine. It is shown once',
    http: 'POST /api/tokens',
    input: z.object({
      principal_id: Ref.optional().describe('absent: you'),
      name: AccessToken.shape.name,
      grants: WantedGrants.nullable().default(null).describe('less than all roles; empty: all of them'),
      expires_at: Timestamp.nullable().default(null).describe('empty: it does not expire'),
    }),
    output: z.object({ token: z.string(), details: TokenView }),
    run: async (context, { principal_id, name, grants: wantedGrants, expires_at }) => {
      requirePerson(context.caller)
      const principal = await meant(context, principal_id)
      const grants = wantedGrants && (await ownGrants(context, principal, wantedGrants))
      requireCovered(context.caller, grants ?? principal.grants)
      requireNoLonger(context.caller, expires_at)
      const wanted = { name, grants, expires_at, parent_id: tokenOf(context.caller) ?? null }
      const { token, record } = await makeToken(context.fleet, ask(context, 'make_token'), principal, wanted)
      return { token, details: tokenView(context.fleet, record) }
    },
  }),
  command({
    name: 'revoke_token',
    may: 'self.manage',
    mcp: false,
    summary: 'End a token at once, with every stream that it opened',
    http: 'DELETE /api/tokens/:token_id',
    input: z.object({ token_id: Ref }),
    output: TokenView,
    run: async (context, { token_id }) => {
      const { fleet, caller } = context
      const { value } = await lookUp(fleet, 'tokens', token_id).catch(() => ({ value: undefined }))
      const isOwn = isPrincipal(caller) && value?.principal_id === caller.id
      if (!value || !((isOwn && (await isInHand(context, value))) || managesPeople(caller)))
        throw new NotFound('token', token_id)
      await revokeToken(fleet, ask(context, 'revoke_token'), value.id)
      return tokenView(fleet, (await lookUp(fleet, 'tokens', value.id)).value)
    },
  }),
  command({
    name: 'rotate_signing_keys',
    may: 'people.manage',
    mcp: false,
    summary: 'Sign JWTs with a new key from now on; those of the earlier keys stay valid until they end',
    http: 'POST /api/signing-keys/rotate',
    input: z.object({}),
    output: z.object({ kid: z.string(), keys: z.number().int().describe('how many keys are published now') }),
    run: async context => {
      const { fleet } = context
      requirePerson(context.caller)
      const { kid } = await fleet.keys.rotateSigningKeys(Date.parse(fleet.now()))
      const events = [{ kind: 'signing_keys_rotated' as const, time: fleet.now(), actor: actorOf(context) }]
      await fleet.commit('commit.wish', { changes: [], events })
      return { kid, keys: (await fleet.keys.signingKeys()).length }
    },
  }),
]

/** Everything that a caller may do, and where. */
const permissionsOf = (caller: PrincipalCaller) =>
  (Object.keys(PERMISSIONS) as Permission[]).flatMap(permission => {
    const reach = reachFor(caller, permission)
    return isEmpty(reach) ? [] : { permission, projects: reach === 'fleet' ? null : [...reach.keys()] }
  })
