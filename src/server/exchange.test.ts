import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { Project } from '../domain/records/project.ts'
import { Team } from '../domain/records/team.ts'
import { forgetEndedJwts } from '../fleet/people/exchange.ts'
import { addPrincipal, endPrincipal, setGrants, signOutEverywhere } from '../fleet/people/principals.ts'
import { makeToken, revokeToken } from '../fleet/people/tokens.ts'
import { keep } from '../fleet/records.testkit.ts'
import { OPERATIONS } from '../operations/index.ts'
import { deviceUrl, sessionToken } from '../platform/tokens.ts'
import { aBrowser, tokenIn } from './browser.testkit.ts'
import { EXCHANGES } from './limits.ts'
import { aServer, type Running } from './server.testkit.ts'

const USED = OPERATIONS.filter(({ name }) =>
  ['who_am_i', 'rotate_signing_keys', 'list_tokens', 'revoke_token'].includes(name),
)
const ASK = { operation: 'test', actor: 'person' }

async function aTeam() {
  const running = await aServer(USED, { environment: { FLEET_JWT_EXPIRES_IN: '1h' } })
  const { fleet } = running
  const now = fleet.now()
  for (const name of ['website', 'secret-plans'])
    await fleet.store.commit({
      changes: [
        {
          put: 'projects',
          value: Project.parse({
            id: `id-${name}`,
            name,
            path: `/tmp/${name}`,
            base_branch: 'main',
            worktree: 'none',
            created_at: now,
            updated_at: now,
          }),
          expects: 'absent',
        },
      ],
    })
  const grants = [{ role: 'team-lead' as const, project_id: 'id-website' }]
  const ada = await addPrincipal(fleet, ASK, { kind: 'person', name: 'Ada', grants })
  const made = await makeToken(fleet, ASK, ada, { name: 'test', grants: null, expires_at: null })
  const auth = (token: string | null, body: object = {}) =>
    running.ask('POST', '/auth', {
      token,
      body: { handle: 'scout', teamName: 'website', agentType: 'worker', ...body },
    })
  const me = (token: string) => running.ask('GET', '/api/me', { token })
  return { ...running, ada, token: made.token, tokenId: made.record.id, auth, me }
}

test('a token is exchanged for a JWT with one role, no wider than its own', async () => {
  const { ada, token, tokenId, auth, me, fleet } = await aTeam()
  const { status, json } = await auth(token)
  expect(status).toBe(200)
  expect(json).toMatchObject({ uid: ada.id, handle: 'scout', teamName: 'website', agentType: 'worker' })
  expect(decodeProtectedHeader(json.token)).toMatchObject({ alg: 'EdDSA', typ: 'JWT', kid: expect.any(String) })
  const { iss, aud, sub, jti, exp, iat } = decodeJwt(json.token)
  expect({ iss, aud, sub }).toEqual({
    iss: `urn:flotilla:${fleet.home.id}`,
    aud: `urn:flotilla:${fleet.home.id}`,
    sub: ada.id,
  })
  // A second may begin between the two.
  expect([3599, 3600]).toContain(exp! - iat!)
  expect((await fleet.store.get('tokens', jti!))!.value).toMatchObject({ parent_id: tokenId, via: 'exchange' })
  const who = (await me(json.token)).json
  // It is for an agent, so it is no person.
  expect(who).toMatchObject({ kind: 'service', id: ada.id, grants: [{ role: 'worker', project_id: 'id-website' }] })
  const may = who.permissions.map(({ permission }: { permission: string }) => permission)
  expect(may).toContain('missions.create')
  expect(may).not.toContain('missions.land')

  expect((await auth(token, { agentType: undefined })).json.agentType).toBe('worker')
  for (const [body, code] of [
    [{ agentType: 'boss' }, 400],
    [{ agentType: 'owner' }, 400],
    [{ agentType: 'constructor' }, 400],
    [{ handle: '' }, 400],
    [{ teamName: undefined }, 403],
    [{ teamName: 'secret-plans' }, 404],
    [{ teamName: 'nowhere' }, 404],
  ] as const)
    expect((await auth(token, body)).status, JSON.stringify(body)).toBe(code)
  // Nothing wider by a second exchange either.
  expect((await auth(json.token, { agentType: 'team-lead' })).status).toBe(403)
  const again = await auth(json.token)
  expect(again.status).toBe(200)
  expect(again.json.expires_at <= json.expires_at).toBe(true)
})

test('a JWT is for an agent, so whatever its role it decides no permission, and ends no other token', async () => {
  const { ada, token, tokenId, auth, me, ask, fleet } = await aTeam()
  const lead = (await auth(token, { agentType: 'team-lead' })).json.token
  const may = (await me(lead)).json.permissions.map(({ permission }: { permission: string }) => permission)
  expect(may).toContain('questions.answer')
  expect(may).not.toContain('approvals.decide')
  const other = await makeToken(fleet, ASK, ada, { name: 'other', grants: null, expires_at: null })
  const end = (by: string, id: string) => ask('DELETE', `/api/tokens/${id}`, { token: by })
  for (const id of [tokenId, other.record.id]) expect((await end(lead, id)).status).toBe(404)
  expect((await ask('GET', '/api/tokens', { token: lead })).json.tokens).toHaveLength(1)
  const child = decodeJwt((await auth(lead)).json.token).jti!
  expect((await end(lead, child)).status).toBe(200)
  expect((await end(lead, decodeJwt(lead).jti!)).status).toBe(200)
  expect((await me(lead)).status).toBe(401)
  expect((await end(token, other.record.id)).status).toBe(200)
})

test('without a credential, or with one that does not count, nobody gets anything', async () => {
  const { auth, fleet, session, server } = await aTeam()
  expect((await auth(null)).status).toBe(401)
  expect((await auth('x'.repeat(32))).status).toBe(401)
  expect((await auth(await session('running'))).status).toBe(403)
  expect((await fleet.store.find('tokens', { index: 'exchanged', limit: 10 })).items).toEqual([])
  // A page of another site cannot ask either.
  const { browser } = await aBrowser(server.url, await fleet.keys.ownerToken())
  expect((await browser.ask('POST', '/auth', { body: { handle: 'x' } })).status).toBe(401)
})

test('an invitation is exchanged once, and signs no browser in after that', async () => {
  const { ada, auth, me, fleet, server } = await aTeam()
  const { id, epoch } = ada
  const expiresMs = Date.now() + 60_000
  const link = tokenIn(
    await deviceUrl(fleet.keys, server.url, { id: 'link1', name: '', expiresMs, principal: { id, epoch } }),
  )
  const { status, json } = await auth(link, { agentType: 'monitor' })
  expect([status, (await me(json.token)).status]).toEqual([200, 200])
  expect((await auth(link)).status).toBe(401)
  expect((await aBrowser(server.url, link)).answer.status).toBe(401)
})

test('of many who come with one invitation at once, at a browser or for a JWT, one gets something', async () => {
  const { ada, auth, fleet, server } = await aTeam()
  const { id, epoch } = ada
  for (let round = 0; round < 3; round++) {
    const invited = { id: `link${round}`, name: '', expiresMs: Date.now() + 60_000, principal: { id, epoch } }
    const link = tokenIn(await deviceUrl(fleet.keys, server.url, invited))
    const came = await Promise.all(
      Array.from({ length: 6 }, async (_, n) =>
        n % 2 ? (await aBrowser(server.url, link)).answer.status : (await auth(link, { agentType: 'monitor' })).status,
      ),
    )
    expect(came.toSorted()).toEqual([200, ...Array(5).fill(401)])
  }
})

test('the owner names a service, which keeps the role it was given', async () => {
  const { auth, me, fleet } = await aTeam()
  const owner = await fleet.keys.ownerToken()
  const { json } = await auth(owner, { handle: 'robot', agentType: 'merger' })
  expect((await me(json.token)).json).toMatchObject({ kind: 'service', name: 'robot' })
  expect((await auth(owner, { handle: 'robot', agentType: 'merger' })).json.uid).toBe(json.uid)
  expect((await auth(owner, { handle: 'robot', agentType: 'team-lead' })).status).toBe(403)
  expect((await auth(owner, { handle: 'Ada' })).status).toBe(400)
})

/** Every way in which a JWT can be wrong, made from a right one. */
type Forge = (right: string, team: Awaited<ReturnType<typeof aTeam>>) => string | Promise<string>
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const PKCS8 = '302e020100300506032b657004220420'
async function ownKey({ fleet }: Pick<Running, 'fleet'>): Promise<KeyObject> {
  const [{ seed } = { seed: '' }] = await fleet.keys.signingKeys()
  return createPrivateKey({ key: Buffer.from(PKCS8 + seed, 'hex'), format: 'der', type: 'pkcs8' })
}
const signedWith = (right: string, claims: object, key: KeyObject, header: object = {}): Promise<string> =>
  new SignJWT({ ...decodeJwt(right), ...claims })
    .setProtectedHeader({ ...(decodeProtectedHeader(right) as { alg: string }), ...header })
    .sign(key)
const claiming =
  (claims: (right: string) => object): Forge =>
  async (right, team) =>
    signedWith(right, claims(right), await ownKey(team))

const WRONG: Record<string, Forge> = {
  'alg: none': right => `${part({ alg: 'none', typ: 'JWT' })}.${right.split('.')[1]}.`,
  'alg: none, with the signature': right =>
    `${part({ alg: 'none', typ: 'JWT' })}.${right.split('.').slice(1).join('.')}`,
  'HS256 with the public key': async (right, { ask }) => {
    const { keys } = (await ask('GET', '/.well-known/jwks.json', { token: null })).json
    const text = `${part({ ...decodeProtectedHeader(right), alg: 'HS256' })}.${right.split('.')[1]}`
    const signature = createHmac('sha256', Buffer.from(keys[0].x, 'base64url')).update(text).digest('base64url')
    return `${text}.${signature}`
  },
  'another payload': right => {
    const [header, , signature] = right.split('.')
    return `${header}.${part({ ...decodeJwt(right), role: 'owner' })}.${signature}`
  },
  'another signature': right => right.slice(0, -4) + (right.endsWith('AAAA') ? 'BBBB' : 'AAAA'),
  'no signature': right => right.slice(0, right.lastIndexOf('.') + 1),
  'another key': right => signedWith(right, {}, generateKeyPairSync('ed25519').privateKey),
  'another key under another name': right =>
    signedWith(right, {}, generateKeyPairSync('ed25519').privateKey, { kid: 'mine' }),
  'a key in its own header': right => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    return signedWith(right, {}, privateKey, { jwk: publicKey.export({ format: 'jwk' }) })
  },
  'another audience': claiming(() => ({ aud: 'urn:flotilla:another' })),
  'another issuer': claiming(() => ({ iss: 'urn:flotilla:another' })),
  'another subject': claiming(() => ({ sub: 'somebody' })),
  'another epoch': claiming(right => ({ epoch: Number(decodeJwt(right).epoch) + 1 })),
  'another id': claiming(() => ({ jti: 'another' })),
  'a later end': claiming(right => ({ exp: decodeJwt(right).exp! + 60 })),
  'an end that has passed': claiming(() => ({ exp: Math.floor(Date.now() / 1000) - 1 })),
  'no end': claiming(() => ({ exp: undefined })),
  'a raised epoch of its person': async (right, { fleet, ada }) => {
    await signOutEverywhere(fleet, ASK, ada.id)
    return right
  },
  'a person whose access ended': async (right, { fleet, ada }) => {
    await endPrincipal(fleet, ASK, ada.id)
    return right
  },
  'a credential that was revoked': async (right, { fleet, tokenId }) => {
    await revokeToken(fleet, ASK, tokenId)
    return right
  },
  'being revoked itself': async (right, { fleet }) => {
    await revokeToken(fleet, ASK, decodeJwt(right).jti!)
    return right
  },
  'a key that is gone': async (right, { fleet }) => {
    const later = Date.now() + 25 * 3600_000
    await fleet.keys.rotateSigningKeys(Date.now())
    await fleet.keys.rotateSigningKeys(later)
    return right
  },
}

test.each(Object.entries(WRONG))('a JWT with %s is none', async (_, forge) => {
  const team = await aTeam()
  const right = (await team.auth(team.token)).json.token as string
  expect((await team.me(right)).status).toBe(200)
  const { status, text } = await team.me(await forge(right, team))
  expect(status).toBe(401)
  expect(text).not.toContain('eyJ')
  expect(team.log()).not.toContain('eyJ')
})

test('a JWT of another home, and the token of a session of an earlier generation, are none', async () => {
  const [one, other] = [await aTeam(), await aTeam()]
  const foreign = (await other.auth(other.token)).json.token
  expect((await one.me(foreign)).status).toBe(401)
  await one.session('running')
  const { value, version } = (await one.fleet.store.get('sessions', 'session-running'))!
  await one.fleet.store.commit({
    changes: [{ put: 'sessions', value: { ...value, tokens_from: 2 }, expects: version }],
  })
  for (const [generation, status] of [
    [1, 401],
    [2, 403],
  ] as const)
    expect((await one.me(await sessionToken(one.fleet.keys, { id: value.id, generation }))).status).toBe(status)
})

test('a new key signs nobody out, and a role that is taken away is taken from JWTs too', async () => {
  const { ask, auth, token, me, fleet, ada } = await aTeam()
  const before = (await auth(token)).json.token
  const kids = async () =>
    (await ask('GET', '/.well-known/jwks.json', { token: null })).json.keys.map(({ kid }: { kid: string }) => kid)
  const [first] = await kids()
  expect((await ask('POST', '/api/signing-keys/rotate', { token })).status).toBe(403)
  expect((await ask('POST', '/api/signing-keys/rotate')).json.keys).toBe(2)
  const after = (await auth(token)).json.token
  expect(decodeProtectedHeader(after).kid).not.toBe(first)
  expect(await kids()).toEqual([decodeProtectedHeader(after).kid, first])
  for (const each of [before, after]) expect((await me(each)).status).toBe(200)
  const published = (await ask('GET', '/.well-known/jwks.json', { token: null })).json
  expect(Object.keys(published.keys[0]).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x'])
  await setGrants(fleet, ASK, ada.id, [])
  expect((await me(before)).status).toBe(403)
})

test('JWTs that have ended are forgotten, and nobody makes too many', async () => {
  const { auth, token, fleet } = await aTeam()
  await auth(token)
  const count = async () => (await fleet.store.find('tokens', { index: 'exchanged', limit: 500 })).items.length
  await forgetEndedJwts(fleet)
  expect(await count()).toBe(1)
  const later = Object.create(fleet, { now: { value: () => new Date(Date.now() + 3601_000).toISOString() } })
  await forgetEndedJwts(later)
  expect(await count()).toBe(0)
  // The allowance grows while a slow machine answers.
  const answers = await Promise.all(Array.from({ length: EXCHANGES.burst + 60 }, () => auth(token)))
  expect(answers.map(({ status }) => status)).toContain(429)
})

test('whoever has a role in a team only gets a JWT of that team, and none of the project', async () => {
  const { auth, me, fleet } = await aTeam()
  const at = { project_id: 'id-website', created_at: fleet.now(), updated_at: fleet.now() }
  for (const name of ['red', 'blue']) await keep(fleet, 'teams', Team.parse({ ...at, id: `team-${name}`, name }))
  const grants = [{ role: 'worker' as const, project_id: 'id-website', team_id: 'team-red' }]
  const bob = await addPrincipal(fleet, ASK, { kind: 'service', name: 'Bob', grants })
  const { token } = await makeToken(fleet, ASK, bob, { name: 'test', grants: null, expires_at: null })
  const { status, json } = await auth(token, { teamName: 'red' })
  expect(status).toBe(200)
  expect((await me(json.token)).json.grants).toEqual(grants)
  expect((await auth(token, { teamName: 'blue' })).status).toBe(404)
  expect((await auth(token, { teamName: 'website' })).status).toBe(403)
  expect((await auth(token, { teamName: 'red', agentType: 'team-lead' })).status).toBe(403)
})
