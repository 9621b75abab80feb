import { expect, onTestFinished, test } from 'vitest'
import type { AuditEntry } from '../domain/records/audit.ts'
import type { Grant } from '../domain/records/principal.ts'
import { addPrincipal, lookUpPrincipal } from '../fleet/people/principals.ts'
import { makeToken } from '../fleet/people/tokens.ts'
import { askAsPlugin } from '../operations/ask.ts'
import { OPERATIONS } from '../operations/index.ts'
import { FOREIGN, fill, OWN } from '../operations/two-projects.testkit.ts'
import { deviceUrl } from '../platform/tokens.ts'
import { aBrowser, tokenIn } from './browser.testkit.ts'
import { mcpClient } from './mcp/client.testkit.ts'
import { outside } from './mcp/outside.ts'
import { aServer } from './server.testkit.ts'
import { serve } from './server.ts'
import { aReader } from './topics.testkit.ts'

const ASK = { operation: 'test', actor: 'person' }

/** A server with two projects, and people with roles in them. */
async function aTeam() {
  const { fleet } = await aServer([])
  const server = await serve(fleet, OPERATIONS, { port: 0, say: () => {} }, [outside(fleet)])
  onTestFinished(() => server.close())
  await fill(fleet, OWN)
  await fill(fleet, FOREIGN)
  const { items } = await fleet.store.find('audit', { index: 'at', limit: 10 })
  const samples = items.map(({ value, version }) => ({ remove: 'audit' as const, id: value.id, expects: version }))
  await fleet.store.commit({ changes: samples })
  const owner = await fleet.keys.ownerToken()
  const enter = async (name: string, ...grants: Grant[]) => {
    const person = await addPrincipal(fleet, ASK, { kind: 'person', name, grants })
    return (await makeToken(fleet, ASK, person, { name: 'test', grants: null, expires_at: null })).token
  }
  const ask = async (token: string, method: string, path: string, body?: object, headers = {}) => {
    const json = body && { 'content-type': 'application/json' }
    const answer = await fetch(new URL(path, server.url), {
      ...{ method, body: body && JSON.stringify(body) },
      headers: { authorization: `Bearer ${token}`, ...json, ...headers },
    })
    // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
    return { status: answer.status, json: (await answer.json()) as any }
  }
  const entries = async (query = '', token = owner) => {
    await fleet.refusals.flush()
    return (await ask(token, 'GET', `/api/audit?limit=500${query}`)).json.entries
  }
  return { fleet, url: server.url, owner, enter, ask, entries }
}

test('a command and a refusal have who, how, from where, what and how it went; never what was sent', async () => {
  const { fleet, url, owner, enter, ask, entries } = await aTeam()
  const ada = await enter('Ada', { role: 'worker', project_id: OWN })
  const comment = { body: 'my-secret-words' }
  await ask(ada, 'POST', `/api/missions/${OWN}-review/comments`, comment)
  await ask(ada, 'POST', `/api/missions/${OWN}-review/land`, { candidate: 'my-secret-commit' })
  await ask(ada, 'GET', `/api/missions/${FOREIGN}-review`)
  await ask(ada, 'GET', '/api/missions/my-secret-mission')
  await ask(owner, 'DELETE', '/api/tokens/flt_my-secret-token')
  await ask(owner, 'POST', '/api/pause', {}, { 'user-agent': 'fleet' })
  const mcp = await mcpClient(`${url}/mcp?tools=missions,control,system`, ada)
  await mcp.call('list_people').catch(() => {})
  await mcp.close()
  const socket = aReader(url, { token: ada })
  socket.say({ type: 'subscribe', topics: [`session:${OWN}-ended`, `project:${FOREIGN}`, 'nonsense'] })
  await socket.hears({ type: 'refused', topic: 'nonsense' })
  await askAsPlugin(fleet, 'chat', 'unpause', {})

  const by = { kind: 'person', name: 'Ada' }
  const own = { project_id: OWN, mission_id: `${OWN}-review` }
  const seen = await entries()
  const find = (operation: string) => seen.find((each: { operation: string }) => each.operation === operation)
  expect(find('comment_mission')).toMatchObject({
    ...{ principal: by, way: 'rest', address: '127.0.0.1', outcome: 'done', code: null, count: 1, ...own },
    ...{ touched: [expect.stringMatching(/^comments\//)], token_id: expect.any(String) },
  })
  expect(find('land_mission')).toMatchObject({
    ...{ principal: by, outcome: 'refused', code: 'forbidden', ...own, touched: [`missions/${OWN}-review`] },
  })
  // What she may not see: the entry says what it was.
  expect(find('get_mission')).toMatchObject({ principal: by, code: 'not_found', project_id: FOREIGN })
  expect(find('revoke_token')).toMatchObject({ principal: { kind: 'owner', id: null }, code: 'not_found', touched: [] })
  expect(find('pause')).toMatchObject({ way: 'terminal', outcome: 'done' })
  expect(find('unpause')).toMatchObject({ principal: { kind: 'plugin', id: 'chat' }, way: 'plugin', address: null })
  expect(find('list_people')).toMatchObject({ principal: by, way: 'mcp', code: 'forbidden' })
  const subscribed = seen.filter(({ operation }: { operation: string }) => operation === 'subscribe')
  expect(subscribed.map(({ code, way }: { code: string; way: string }) => [code, way]).toSorted()).toEqual([
    ['forbidden', 'websocket'],
    ['not_found', 'websocket'],
  ])
  expect(JSON.stringify(seen)).not.toContain('my-secret')
  // Looking at things is nobody's business.
  expect(find('list_audit')).toBeUndefined()
})

test('who signs in and out, exchanges a credential or lets a terminal in has an entry for it', async () => {
  const { fleet, url, enter, ask, entries } = await aTeam()
  const ada = await enter('Ada', { role: 'worker', project_id: OWN })
  const { id, epoch } = (await lookUpPrincipal(fleet, 'Ada')).value
  const link = { id: 'link1', name: '', expiresMs: Date.now() + 60_000, principal: { id, epoch } }
  const { browser } = await aBrowser(url, tokenIn(await deviceUrl(fleet.keys, url, link)))
  await ask(ada, 'POST', '/auth', { handle: 'scout', teamName: OWN, agentType: 'worker' })
  await ask(ada, 'POST', '/auth', { handle: 'scout', teamName: OWN, agentType: 'team-lead' })
  const { user_code } = (await ask(ada, 'POST', '/auth/device', { client_name: 'laptop' })).json
  await browser.ask('POST', '/auth/device/decide', { body: { user_code, allow: true } })
  await browser.ask('POST', '/sign-out')
  const found: AuditEntry[] = await entries()
  const by = { kind: 'person', id, name: 'Ada' }
  const told = found.map(({ operation, principal, way, address, outcome, touched }) => {
    expect([principal, address]).toEqual([by, '127.0.0.1'])
    return [operation, way, outcome, touched.map(each => each.split('/')[0]).join()]
  })
  expect(told.toSorted()).toEqual([
    ['decide_terminal', 'page', 'done', ''],
    ['exchange_token', 'rest', 'done', 'tokens'],
    ['exchange_token', 'rest', 'refused', ''],
    ['sign_in', 'page', 'done', 'devices'],
    ['sign_out', 'page', 'done', 'devices'],
  ])
})

test('filters, pages, and a cursor of somebody else', async () => {
  const { owner, enter, ask, entries } = await aTeam()
  const ada = await enter('Ada', { role: 'team-lead', project_id: OWN })
  for (let i = 0; i < 7; i++) await ask(ada, 'POST', `/api/missions/${OWN}-review/comments`, { body: `${i}` })
  for (let i = 0; i < 3; i++) await ask(ada, 'POST', '/api/people', { name: 'Eve', grants: [] })
  await ask(owner, 'POST', '/api/pause', {})
  expect(await entries('&by=Ada')).toHaveLength(8)
  expect(await entries('&by=owner')).toMatchObject([{ operation: 'pause' }])
  expect(await entries('&outcome=refused')).toMatchObject([{ operation: 'invite_person', count: 3 }])
  expect(await entries(`&project_id=${OWN}&operation=comment_mission&way=rest`)).toHaveLength(7)
  expect(await entries('&way=page')).toEqual([])
  expect(await entries('&until=2026-01-01T00:00:00Z')).toEqual([])
  expect((await ask(owner, 'GET', '/api/audit?by=Nobody')).status).toBe(400)

  const pages: string[] = []
  let cursor: string | undefined
  do {
    const more = cursor ? `&cursor=${cursor}` : ''
    const { json } = await ask(ada, 'GET', `/api/audit?limit=3&outcome=done${more}`)
    pages.push(...json.entries.map(({ id }: { id: string }) => id))
    cursor = json.cursor
  } while (cursor)
  expect(new Set(pages).size).toBe(7)
  const { json } = await ask(owner, 'GET', '/api/audit?limit=2')
  for (const forged of [json.cursor, 'x', 'AAAA', `${json.cursor}x`])
    expect((await ask(ada, 'GET', `/api/audit?cursor=${encodeURIComponent(forged)}`)).status).toBe(400)
})

test('a lead sees entries of their own project only, and whoever has no right sees none', async () => {
  const { owner, enter, ask, entries } = await aTeam()
  const ada = await enter('Ada', { role: 'team-lead', project_id: OWN })
  const bob = await enter('Bob', { role: 'monitor', project_id: null })
  for (const project of [OWN, FOREIGN])
    await ask(owner, 'POST', `/api/missions/${project}-review/comments`, { body: 'x' })
  await ask(owner, 'POST', '/api/pause', {})
  const seen = await entries('', ada)
  expect(seen).toMatchObject([{ operation: 'comment_mission', project_id: OWN }])
  expect((await ask(ada, 'GET', '/api/audit')).json.strangers).toBeNull()
  expect((await ask(bob, 'GET', '/api/audit')).status).toBe(403)
})

test('what is asked about something of another project is noted as if that did not exist', async () => {
  const { enter, ask, entries } = await aTeam()
  const asked = async (name: string, foreign: string) => {
    const ada = await enter(name, { role: 'team-lead', project_id: OWN })
    const team_id = `${OWN}-team`
    // The first letters of an id would be told as the whole of it.
    await ask(ada, 'POST', `/api/teams/${team_id}/members`, { handle: 'x', swarm_id: `${foreign}-sw` })
    await ask(ada, 'GET', `/api/sessions?project_id=${OWN}&mission_id=${foreign}-rev`)
    await ask(ada, 'GET', `/api/events?project_id=${foreign}&mission_id=${OWN}-review`)
    await ask(ada, 'POST', '/api/checkpoints/load', { team_id, checkpoint_id: `${foreign}-check` })
    const seen: AuditEntry[] = await entries('', ada)
    return seen
      .filter(({ principal }) => principal.name === name)
      .map(({ operation, project_id, mission_id, touched, code }) => ({
        ...{ operation, project_id, mission_id, touched, code },
      }))
  }
  const told = await asked('Ada', FOREIGN)
  expect(JSON.stringify(told)).not.toContain(FOREIGN)
  expect(told).toEqual(await asked('Eve', 'nothing-at-all'))
  expect(told.length).toBeGreaterThan(2)
})

test('strangers are counted and not stored', async () => {
  const { owner, ask, entries, url } = await aTeam()
  for (let i = 0; i < 4; i++) expect((await ask(`nobody-${i}`, 'POST', '/api/pause', {})).status).toBe(401)
  expect(await aReader(url, { token: 'nobody' }).over).toBe(401)
  expect(await entries()).toEqual([])
  expect((await ask(owner, 'GET', '/api/audit')).json.strangers).toBe(5)
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${owner}` } })
  expect(await metrics.text()).toMatch(/^fleet_strangers_total 5$/m)
})

test('a flood of refusals and of too many requests is a few entries', async () => {
  const { enter, ask, entries } = await aTeam()
  const ada = await enter('Ada', { role: 'worker', project_id: OWN })
  let sent = 0
  for (let isTooMany = false; !isTooMany; sent += 100) {
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => ask(ada, 'POST', `/api/missions/${OWN}-review/land`, {})),
    )
    isTooMany = answers.some(({ status }) => status === 429)
  }
  const seen = (await entries('&outcome=refused')) as { code: string; count: number }[]
  expect(seen.length).toBeLessThan(10)
  expect(seen.reduce((sum, { count }) => sum + count, 0)).toBe(sent)
  expect([...new Set(seen.map(({ code }) => code))].toSorted()).toEqual(['forbidden', 'too_many'])
})
