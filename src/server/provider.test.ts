import { createHash, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SignJWT } from 'jose'
import { expect, onTestFinished, test, vi } from 'vitest'
import { newId } from '../domain/ids.ts'
import { Project } from '../domain/records/project.ts'
import { setPassword } from '../fleet/people/passwords.ts'
import { addPrincipal, endPrincipal } from '../fleet/people/principals.ts'
import { standingOf } from '../fleet/people/signed-in.ts'
import { makeToken } from '../fleet/people/tokens.ts'
import { deviceUrl } from '../platform/tokens.ts'
import { pair } from './browser.testkit.ts'
import { aServer, raw } from './server.testkit.ts'
import { TOYS } from './toys.testkit.ts'

const ASK = { operation: 'test', actor: 'person' }

/** What a provider may get wrong, or try. */
interface Lies {
  nonce?: string
  iss?: string
  aud?: string
  exp?: number
  signedBy?: 'stranger'
  alg?: 'none'
}

/** A provider that can be told to lie, because a real one does not. */
async function aProvider() {
  const [own, strange] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')]
  const codes = new Map<string, { nonce: string; challenge: string; sub: string }>()
  const account = { sub: 'u-1', name: 'ada', groups: ['devs'] as unknown }
  let lies: Lies = {}
  let secretSeen = ''
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, issuer)
    const send = (body: object, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (pathname === '/.well-known/openid-configuration')
      return send({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/me`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['EdDSA'],
        scopes_supported: ['openid', 'profile'],
      })
    if (pathname === '/jwks')
      return send({ keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'EdDSA', use: 'sig' }] })
    if (pathname === '/me') return send({ sub: account.sub, preferred_username: account.name, groups: account.groups })
    let text = ''
    for await (const part of request) text += part
    const given = new URLSearchParams(text)
    secretSeen = given.get('client_secret') ?? ''
    const code = codes.get(given.get('code') ?? '')
    const verifier = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url')
    if (!code || code.challenge !== verifier) return send({ error: 'invalid_grant' }, 400)
    codes.delete(given.get('code')!)
    const key = lies.signedBy === 'stranger' ? strange.privateKey : own.privateKey
    const jwt = new SignJWT({ nonce: lies.nonce ?? code.nonce })
      .setProtectedHeader({ alg: 'EdDSA', kid: 'k' })
      .setIssuer(lies.iss ?? issuer)
      .setAudience(lies.aud ?? 'fleet')
      .setSubject(code.sub)
      .setIssuedAt()
      .setExpirationTime(Math.floor(Date.now() / 1000) + (lies.exp ?? 60))
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    const signed = await jwt.sign(key)
    const id_token = lies.alg === 'none' ? `${none}.${signed.split('.')[1]}.` : signed
    return send({ access_token: 'at', token_type: 'Bearer', id_token })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  /** As if the person signed in there: what is added to our address. */
  const allow = (url: string): string => {
    const asked = new URL(url).searchParams
    const code = `code-${codes.size}-${Math.random()}`
    codes.set(code, {
      ...{ nonce: asked.get('nonce')!, challenge: asked.get('code_challenge')!, sub: account.sub },
    })
    return new URLSearchParams({ code, state: asked.get('state')! }).toString()
  }
  return {
    issuer,
    account,
    allow,
    secret: () => secretSeen,
    lie: (told: Lies) => {
      lies = told
    },
  }
}

async function aHome(more: NodeJS.ProcessEnv = {}) {
  const provider = await aProvider()
  vi.stubEnv('FLEET_OIDC_CLIENT_SECRET', 'the-client-secret')
  onTestFinished(() => void vi.unstubAllEnvs())
  const running = await aServer(TOYS, {
    environment: {
      FLEET_OIDC_ISSUER: provider.issuer,
      FLEET_OIDC_CLIENT_ID: 'fleet',
      FLEET_OIDC_NAME: 'Acme & <Co>',
      FLEET_OIDC_GROUPS: 'devs=worker@website,leads=team-lead@website,admins=owner,lost=owner@nowhere',
      ...more,
    },
  })
  const { fleet, server } = running
  const now = fleet.now()
  const website = { id: 'id-website', name: 'website', path: '/tmp/website', base_branch: 'main', worktree: 'none' }
  const value = Project.parse({ ...website, created_at: now, updated_at: now })
  await fleet.store.commit({ changes: [{ put: 'projects', value, expects: 'absent' }] })
  const post = (path: string, body: object, headers: object = { origin: server.url }) =>
    raw(server.url, 'POST', path, { 'content-type': 'application/json', ...headers }, body)
  const begin = async () => {
    const made = pair()
    const { json, status } = await post('/sign-in/provider', { key: made.key })
    const finish = (search: string, by = made) => {
      const state = new URLSearchParams(search).get('state')
      const signature = by.sign(['fleet-provider', fleet.home.id, state, search].join('\n'))
      return post('/sign-in/provider/finish', { search, signature })
    }
    return { url: json.url as string, status, finish }
  }
  const signIn = async () => {
    const { url, finish } = await begin()
    return finish(provider.allow(url))
  }
  const personOf = async (device: string) => {
    const { principal_id } = (await fleet.store.get('devices', device))!.value
    return (await fleet.store.get('principals', principal_id!))!.value
  }
  return { ...running, provider, post, begin, signIn, personOf }
}

test('a person signs in with the provider, and their groups are their roles at each sign-in', async () => {
  const { provider, begin, signIn, personOf, fleet, server } = await aHome()
  const { url } = await begin()
  const asked = Object.fromEntries(new URL(url).searchParams)
  expect(asked).toMatchObject({
    response_type: 'code',
    client_id: 'fleet',
    redirect_uri: `${server.url}/sign-in/provider`,
    scope: 'openid profile',
    code_challenge_method: 'S256',
  })
  const first = await signIn()
  expect(first.status).toBe(200)
  expect(provider.secret()).toBe('the-client-secret')
  const ada = await personOf(first.json.device)
  expect(ada).toMatchObject({
    ...{ kind: 'person', name: 'ada', grants: [{ role: 'worker', project_id: 'id-website' }] },
    provider: { issuer: provider.issuer, subject: 'u-1' },
  })
  // The provider renames her and moves her to another group. She stays the same person.
  Object.assign(provider.account, { name: 'ada-b', groups: ['leads', 'unknown', 'lost'] })
  const second = await personOf((await signIn()).json.device)
  expect(second).toMatchObject({ id: ada.id, grants: [{ role: 'team-lead', project_id: 'id-website' }] })
  for (const groups of [['unknown'], [], undefined, { admins: true }, 'lost']) {
    provider.account.groups = groups
    const { status, json } = await signIn()
    expect([status, json.error.message]).toEqual([403, 'None of your groups has a role in this fleet.'])
    expect((await fleet.store.get('principals', ada.id))!.value.grants).toEqual([])
  }
  provider.account.groups = ['admins']
  await endPrincipal(fleet, ASK, ada.id)
  expect((await signIn()).status).toBe(403)
})

test('nobody becomes somebody else by a name, and strangers without a group leave no record', async () => {
  const { provider, signIn, personOf, fleet } = await aHome()
  const invited = await addPrincipal(fleet, ASK, {
    ...{ kind: 'person', name: 'ada', grants: [{ role: 'owner', project_id: null }] },
  })
  const person = await personOf((await signIn()).json.device)
  expect(person).toMatchObject({ name: 'ada 2', grants: [{ role: 'worker' }] })
  expect(person.id).not.toBe(invited.id)
  // Nor by one that only looks the same.
  Object.assign(provider.account, { sub: 'u-3', name: 'a\u200bd\u00ada\u2060' })
  expect((await personOf((await signIn()).json.device)).name).toBe('ada 3')
  const before = (await fleet.store.find('principals', { index: 'created', limit: 10 })).items.length
  // A project that is gone is not another one whose id begins like its name.
  const { value } = (await fleet.store.get('projects', 'id-website'))!
  const alike = { ...value, id: 'nowhere-else', name: 'another' }
  await fleet.store.commit({ changes: [{ put: 'projects', value: alike, expects: 'absent' }] })
  for (const groups of [[], ['lost']]) {
    Object.assign(provider.account, { sub: 'u-2', groups })
    expect((await signIn()).status).toBe(403)
  }
  expect((await fleet.store.find('principals', { index: 'created', limit: 10 })).items.length).toBe(before)
})

test('whoever has left the provider is out everywhere after a while, whatever they made meanwhile', async () => {
  const { signIn, personOf, fleet, ask, provider } = await aHome({ FLEET_OIDC_AGAIN: '24h' })
  const person = await personOf((await signIn()).json.device)
  const { token } = await makeToken(fleet, ASK, person, { name: 'for ever', grants: null, expires_at: null })
  const status = async () => (await ask('GET', '/api/toys/bear', { token })).status
  const later = (days: number) => vi.setSystemTime(Date.now() + days * 86_400_000)
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  expect(await status()).not.toBe(401)
  later(0.9)
  expect(await status()).not.toBe(401)
  await signIn()
  later(0.9)
  expect(await status()).not.toBe(401)
  later(0.2)
  expect(await status()).toBe(401)
  const lapsed = (await fleet.store.get('principals', person.id))!.value
  const browser = (await fleet.store.find('devices', { index: 'signed_in', newestFirst: true, limit: 1 })).items[0]!
  expect(await standingOf(fleet, { device: browser.value.id })).toBe('out')
  // No group any more: they are told so, and stay out.
  Object.assign(provider.account, { groups: [] })
  expect([(await signIn()).status, await status()]).toEqual([403, 401])
  Object.assign(provider.account, { groups: ['devs'] })
  expect([(await signIn()).status, lapsed.ended_at]).toEqual([200, null])
  expect(await status()).not.toBe(401)
})

const LIES: Record<string, Lies> = {
  'another nonce': { nonce: 'another' },
  'another issuer': { iss: 'https://evil.example' },
  'another audience': { aud: 'another-client' },
  'an end that has passed': { exp: -600 },
  'the signature of a stranger': { signedBy: 'stranger' },
  'alg: none': { alg: 'none' },
}

test.each(Object.entries(LIES))('an answer of the provider with %s signs nobody in', async (_, lies) => {
  const { provider, signIn, fleet } = await aHome()
  provider.lie(lies)
  expect((await signIn()).status).toBe(401)
  expect((await fleet.store.find('devices', { index: 'signed_in', limit: 10 })).items).toEqual([])
  provider.lie({})
  expect((await signIn()).status).toBe(200)
})

test('only the browser that began finishes, once, with its own state', async () => {
  const { provider, begin, post, server, log } = await aHome()
  const [mine, theirs] = [await begin(), await begin()]
  const search = provider.allow(mine.url)
  // A link with the code of somebody else, opened in another browser.
  expect((await mine.finish(search, pair())).status).toBe(401)
  // Another state, with the code for mine.
  const swapped = new URLSearchParams(search)
  swapped.set('state', new URL(theirs.url).searchParams.get('state')!)
  expect((await theirs.finish(swapped.toString())).status).toBe(401)
  swapped.set('state', 'unknown')
  expect((await mine.finish(swapped.toString())).status).toBe(401)
  const again = await begin()
  const answered = provider.allow(again.url)
  expect((await again.finish(answered)).status).toBe(200)
  expect((await again.finish(answered)).status).toBe(401)
  expect((await (await begin()).finish('error=access_denied&state=x')).status).toBe(401)
  // Another site neither begins nor finishes.
  for (const path of ['/sign-in/provider', '/sign-in/provider/finish'])
    for (const headers of [{ origin: 'https://evil.example' }, {}])
      expect((await post(path, { key: pair().key, search, signature: 'x' }, headers)).status, path).toBe(403)
  const page = await raw(server.url, 'GET', `/sign-in/provider?${search}`, { 'sec-fetch-site': 'cross-site' })
  expect([page.status, page.headers['x-frame-options']]).toEqual([200, 'DENY'])
  for (const secret of [new URLSearchParams(search).get('code')!, 'the-client-secret'])
    expect(log()).not.toContain(secret)
})

test('the page names the provider, and a fleet with the provider only takes no password', async () => {
  const { post, server, fleet, ask, signIn, personOf } = await aHome({ FLEET_SIGN_IN_WITH: 'provider' })
  const { text } = await raw(server.url, 'GET', '/sign-in', {})
  expect(text).toContain('data-provider="Acme &#38; &#60;Co&#62;" data-passwords="off"')
  const ada = await addPrincipal(fleet, ASK, { kind: 'person', name: 'Ada', grants: [] })
  const password = 'correct horse battery'
  await setPassword(fleet, ASK, ada.id, { password, current: undefined, isSelf: false })
  const { status, json } = await post('/sign-in', { name: 'Ada', password, key: pair().key })
  expect([status, json.error.message]).toEqual([403, 'People sign in here with Acme & <Co>, not with a password.'])
  // Nor the link or the JWT of an invitation, which no provider vouches for.
  const invite = async ({ id, epoch }: { id: string; epoch: number }) => {
    const until = { expiresMs: Date.parse(fleet.now()) + 60_000, principal: { id, epoch } }
    const url = await deviceUrl(fleet.keys, server.url, { id: newId(), name: '', ...until })
    return new URL(url).searchParams.get('token')!
  }
  const invitation = await invite(ada)
  expect((await post('/sign-in', { token: invitation, key: pair().key })).status).toBe(403)
  expect((await ask('POST', '/auth', { token: invitation, body: { handle: 'scout' } })).status).toBe(403)
  expect((await fleet.store.find('devices', { index: 'signed_in', limit: 10 })).items).toEqual([])
  // Whom the provider knows can bring another browser.
  const known = await personOf((await signIn()).json.device)
  expect((await post('/sign-in', { token: await invite(known), key: pair().key })).status).toBe(200)
  // The way back in is the machine itself.
  const token = new URL(await server.signInUrl()).searchParams.get('token')
  expect((await post('/sign-in', { token, key: pair().key })).status).toBe(200)
  expect((await ask('GET', '/health')).status).toBe(200)
})

test('a provider that is away, or at an address that is not encrypted, is said in words', async () => {
  const away = await aHome({ FLEET_OIDC_ISSUER: 'http://127.0.0.1:1' })
  expect((await away.post('/sign-in/provider', { key: pair().key })).json.error.message).toContain('cannot be reached')
  const open = await aHome({ FLEET_OIDC_ISSUER: 'http://sso.example.com' })
  expect((await open.post('/sign-in/provider', { key: pair().key })).json.error.message).toContain('https')
  const none = await aServer(TOYS)
  const asked = { 'content-type': 'application/json', origin: none.server.url }
  expect((await raw(none.server.url, 'POST', '/sign-in/provider', asked, { key: pair().key })).status).toBe(403)
})
