import { expect, test } from 'vitest'
import type { Grant } from '../domain/records/principal.ts'
import { aProject } from '../domain/samples.testkit.ts'
import { addPrincipal, endPrincipal, setGrants, signOutEverywhere } from '../fleet/people/principals.ts'
import { makeToken, revokeToken } from '../fleet/people/tokens.ts'
import { put } from '../fleet/records.ts'
import { OPERATIONS } from '../operations/index.ts'
import { aServer } from './server.testkit.ts'

const USED = OPERATIONS.filter(({ name }) => ['create_team', 'join_team', 'read_mail'].includes(name))
const ASK = { operation: 'test', actor: 'person' }
const LEADS = [{ role: 'team-lead' as const, project_id: 'p1' }]

/** A team, and somebody who may lead it. */
async function aTeam() {
  const running = await aServer(USED)
  const { fleet, ask } = running
  await fleet.store.commit({ changes: [put('projects', aProject({ id: 'p1', name: 'one' }), 'absent')] })
  const { json: team } = await ask('POST', '/api/teams', { body: { project_id: 'p1', name: 'alpha' } })
  const enter = async (name: string, expires_at: string | null = null, grants: Grant[] = LEADS) => {
    const person = await addPrincipal(fleet, ASK, { kind: 'person', name, grants })
    const { token, record } = await makeToken(fleet, ASK, person, { name: 'test', grants: null, expires_at })
    return { id: person.id, token, tokenId: record.id }
  }
  const joins = (token: string | undefined, handle: string, hours?: number) =>
    ask('POST', `/api/teams/${team.id}/join`, { ...(token && { token }), body: { handle, role: 'team-lead', hours } })
  const reads = async (token: string) => (await ask('POST', '/api/mail/read', { token, body: {} })).status
  return { ...running, team: team.id as string, enter, joins, reads }
}

test('a session in a team ends with whoever let it in: the person, their token, their role', async () => {
  const { fleet, enter, joins, reads } = await aTeam()
  const ends = {
    Ada: ({ id }) => endPrincipal(fleet, ASK, id),
    Bob: ({ id }) => signOutEverywhere(fleet, ASK, id),
    Cleo: ({ tokenId }) => revokeToken(fleet, ASK, tokenId),
    Dora: ({ id }) => setGrants(fleet, ASK, id, [{ role: 'worker', project_id: 'p1' }]),
  } satisfies Record<string, (who: { id: string; tokenId: string }) => Promise<unknown>>
  for (const [name, end] of Object.entries(ends)) {
    const who = await enter(name)
    const { status, json } = await joins(who.token, name.toLowerCase())
    expect(status, name).toBe(200)
    expect(await reads(json.token), name).toBe(200)
    await end(who)
    expect(await reads(json.token), name).toBe(401)
  }
  const { json } = await joins(undefined, 'mine')
  expect(await reads(json.token)).toBe(200)
})

test('it has no token for longer than whoever lets it in', async () => {
  const { fleet, enter, joins } = await aTeam()
  const { token } = await enter('Ada', new Date(Date.parse(fleet.now()) + 3600_000).toISOString())
  expect((await joins(token, 'eve', 2)).status).toBe(403)
  expect((await joins(token, 'eve', 0.5)).status).toBe(200)
})

test('whoever leads that team only lets a session in, and one of another team does not', async () => {
  const { ask, team, enter, joins, reads } = await aTeam()
  const lead = (team_id: string): Grant[] => [{ role: 'team-lead', project_id: 'p1', team_id }]
  const { json: other } = await ask('POST', '/api/teams', { body: { project_id: 'p1', name: 'beta' } })
  const { json } = await joins((await enter('Ada', null, lead(team))).token, 'eve')
  expect(await reads(json.token)).toBe(200)
  expect((await joins((await enter('Bob', null, lead(other.id))).token, 'mallory')).status).toBe(404)
})
