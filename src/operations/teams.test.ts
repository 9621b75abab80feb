import { expect, test } from 'vitest'
import { aMission, aSession } from '../domain/samples.testkit.ts'
import { OPERATIONS } from './index.ts'
import type { Caller } from './operation.ts'
import { type JsonSchema, jsonSchema } from './shape.ts'
import { twoTeams } from './teams.testkit.ts'

const setOf = ({ mcp }: (typeof OPERATIONS)[number]) => (typeof mcp === 'object' ? mcp.set : mcp)
const OF_TEAMS = OPERATIONS.filter(operation => setOf(operation) === 'teams' && operation.agentMay)

/** Fields of which one is required. */
const ONE_OF: Record<string, object> = {
  blackboard_archive: { post_ids: ['sample'] },
  list_mail: { between: ['sample', 'sample'] },
}

/** Something of the right shape for each required field. */
function sampleOf({ required = [], properties = {} }: JsonSchema): Record<string, unknown> {
  return Object.fromEntries(required.map(name => [name, exampleOf(properties[name]!)]))
}

function exampleOf({ type, enum: choices, items, anyOf, minimum, ...rest }: JsonSchema): unknown {
  if (Array.isArray(choices)) return choices[0]
  if (anyOf) return exampleOf((anyOf as JsonSchema[])[0]!)
  if (type === 'array') return [exampleOf(items as JsonSchema)]
  if (type === 'object') return sampleOf(rest as JsonSchema)
  if (type === 'number' || type === 'integer') return minimum ?? 1
  return type === 'boolean' ? true : 'sample'
}

test('an agent that belongs to no team gets nothing from any team', async () => {
  const { ask, save } = await twoTeams()
  await save('missions', aMission({ id: 'plain', project_id: 'p1' }))
  await save('sessions', aSession({ id: 's-plain', mission_id: 'plain', project_id: 'p1', status: 'running' }))
  const caller: Caller = { kind: 'session', session_id: 's-plain', mission_id: 'plain', project_id: 'p1' }
  expect(OF_TEAMS.length).toBeGreaterThan(20)
  for (const operation of OF_TEAMS) {
    const input = { ...sampleOf(jsonSchema(operation.input, 'input')), ...ONE_OF[operation.name] }
    await expect(ask(caller, operation.name, input), operation.name).rejects.toThrow(
      /Your mission belongs to no team|There is no (checkpoint|message)/,
    )
  }
})

test('a person who left a team is in it again once they write, and the last one stays', async () => {
  const { ask, owner, one } = await twoTeams()
  const ada = { kind: 'person', id: 'ada', name: 'Ada', limit: null } as const
  const caller = { ...ada, grants: [{ role: 'team-lead' as const, project_id: 'p1' }] }
  const dismiss = (member: string) => ask(owner, 'dismiss_member', { team_id: one.id, member })
  const write = () => ask<{ id: string; deliveries: { to: string }[] }>(caller, 'send_mail', { to: 'bob', body: 'x' })
  await expect(dismiss('operator')).rejects.toThrow('operator is the only person in the team alpha')
  await write()
  await dismiss('Ada')
  const { id } = await write()
  expect(await ask(one.bob, 'reply_mail', { mail_id: id, body: 'y' })).toMatchObject({ deliveries: [{ to: 'Ada' }] })
  expect(await ask(caller, 'read_mail', { team_id: one.id })).toMatchObject({ messages: [{ body: 'y' }] })
  const handles = async () =>
    (await ask<{ members: { handle: string }[] }>(owner, 'get_team', { team_id: one.id })).members.map(
      ({ handle }) => handle,
    )
  expect((await handles()).filter(handle => handle === 'Ada')).toHaveLength(1)
  await dismiss('operator')
  await expect(dismiss('Ada')).rejects.toThrow('only person')
})

test('agents that were dismissed are gone, and a new one with the name of one is not', async () => {
  const { ask, owner, one } = await twoTeams()
  const gone = async () =>
    (await ask<{ gone: { handle: string; dismissed_at: string }[] }>(owner, 'get_team', { team_id: one.id })).gone
  expect(await gone()).toEqual([])
  for (const member of ['bob', 'lea']) await ask(owner, 'dismiss_member', { team_id: one.id, member })
  await ask(owner, 'add_member', { team_id: one.id, handle: 'bob', agent: 'shell', charter: 'true' })
  const left = { id: expect.any(String), dismissed_at: expect.any(String) }
  // The clock of this test stands still.
  expect((await gone()).toSorted((a, b) => a.handle.localeCompare(b.handle))).toEqual([
    { ...left, handle: 'bob', role: 'worker' },
    { ...left, handle: 'lea', role: 'team-lead' },
  ])
})
