import { expect, test } from 'vitest'
import { aServer } from '../server/server.testkit.ts'
import { OPERATIONS } from './index.ts'

test.each([['/api/events?after=garbage'], ['/api/events/stream?after=garbage']])(
  '%s: what is no cursor is refused under its own name',
  async path => {
    const { ask } = await aServer(OPERATIONS)
    const { status, json } = await ask('GET', path)
    expect([status, json.error.field]).toEqual([400, 'after'])
  },
)

test.each([['garbage'], ['1:garbage'], ['x:0-0-0']])(
  'a session is not followed from %s, which is no place in it',
  async after => {
    const { ask, session } = await aServer(OPERATIONS)
    await session('ended')
    const path = '/api/sessions/session-ended/stream'
    const refused = await ask('GET', path, { headers: { 'last-event-id': after } })
    expect([refused.status, refused.json?.error?.field]).toEqual([400, 'after'])
    expect((await ask('GET', `${path}?after=1:0-0-0`)).status).toBe(200)
  },
)

test.each([
  ['/api/missions/zz', 'fleet list'],
  ['/api/projects/zz', 'fleet project list'],
  ['/api/sessions/zz', undefined],
  ['/api/reports/zz', undefined],
])('%s: the hint, if any, is a command that exists', async (path, hint) => {
  const { ask } = await aServer(OPERATIONS)
  const { status, json } = await ask('GET', path)
  expect([status, json.error.try]).toEqual([404, hint])
})

test.each([['status=nonsense'], ['status=done,nonsense']])(
  'a status that is none is refused with those there are: %s',
  async query => {
    const { ask } = await aServer(OPERATIONS)
    const { status, json } = await ask('GET', `/api/missions?${query}`)
    expect([status, json.error.field]).toEqual([400, expect.stringMatching(/^status/)])
    expect(json.error.message).toContain('needs_input')
  },
)
