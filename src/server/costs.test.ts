import { expect, test } from 'vitest'
import type { Role } from '../domain/records/principal.ts'
import { addPrincipal } from '../fleet/people/principals.ts'
import { makeToken } from '../fleet/people/tokens.ts'
import { OPERATIONS } from '../operations/index.ts'
import { fill, OWN, saveCounts } from '../operations/two-projects.testkit.ts'
import { aServer } from './server.testkit.ts'
import { aReader } from './topics.testkit.ts'

const ASK = { operation: 'test', actor: 'person' }
const COST = 7.7733

/** Everything that reaches somebody with a role in the project, by every way, about a session that cost something. */
async function everythingTold(role: Role): Promise<Record<string, string>> {
  const { fleet, server, ask } = await aServer(OPERATIONS)
  await fill(fleet, OWN)
  await saveCounts(fleet, OWN)
  const { value, version } = (await fleet.store.get('sessions', `${OWN}-ended`))!
  const dear = { ...value, usage: { ...value.usage, cost_usd: COST } }
  await fleet.store.commit({ changes: [{ put: 'sessions', value: dear, expects: version }] })
  const person = await addPrincipal(fleet, ASK, { kind: 'person', name: 'Ada', grants: [{ role, project_id: OWN }] })
  const { token } = await makeToken(fleet, ASK, person, { name: 'test', grants: null, expires_at: null })

  const reader = aReader(server.url, { token })
  const topics = [`project:${OWN}`, 'claude-fleet']
  reader.say({ type: 'subscribe', topics })
  await reader.hears({ type: 'subscribed' })
  const stream = await fetch(`${server.url}/api/events/stream`, { headers: { authorization: `Bearer ${token}` } })
  const about = { project_id: OWN, mission_id: `${OWN}-review`, session_id: `${OWN}-ended` }
  const data = { outcome: 'completed', usage: dear.usage, spent_usd: COST }
  const event = { kind: 'session_ended', time: fleet.now(), actor: 'fleet', ...about, data } as const
  await fleet.store.commit({ changes: [], events: [event] })
  await reader.hears({ type: 'event', topic: `project:${OWN}`, kind: 'session_ended' })
  let streamed = ''
  for await (const part of stream.body!) {
    streamed += Buffer.from(part).toString()
    if (streamed.includes('session_ended') && streamed.endsWith('\n\n')) break
  }
  const read = async (path: string) => (await ask('GET', path, { token })).text
  return {
    mission: await read(`/api/missions/${OWN}-review`),
    sessions: await read('/api/sessions'),
    events: await read('/api/events'),
    overview: await read('/api/overview'),
    metrics: await read('/metrics'),
    'metrics in JSON': await read('/metrics/json'),
    stream: streamed,
    socket: JSON.stringify(reader.heard),
  }
}

test('what something cost reaches nobody without the right to see it, by no way', async () => {
  const [worker, lead] = [await everythingTold('worker'), await everythingTold('team-lead')]
  const tellers = (told: Record<string, string>) => Object.keys(told).filter(way => told[way]!.includes(String(COST)))
  expect(tellers(worker)).toEqual([])
  expect(worker.stream).toContain('"cost_usd":0')
  for (const way of ['mission', 'sessions', 'events', 'stream', 'socket']) expect(tellers(lead), way).toContain(way)
})
