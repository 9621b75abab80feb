import { expect, test } from 'vitest'
import { NO_USAGE } from '../records/session.ts'
import { addSession, atLeast, endedIn, NO_TOTALS, OTHER_AGENT } from './totals.ts'

const used = (cost_usd: number) => ({ ...NO_USAGE, cost_usd })
const totals = () => structuredClone(NO_TOTALS)

test('an end counts if its event has everything; one of an earlier version does not', () => {
  const data = { outcome: 'failed', agent: 'codex', usage: used(2) }
  expect(endedIn({ kind: 'session_ended', data })).toEqual({ agent: 'codex', outcome: 'failed', usage: used(2) })
  expect(endedIn({ kind: 'session_ended', data: { outcome: 'failed' } })).toBeUndefined()
  expect(endedIn({ kind: 'session_ended', data: { ...data, outcome: 'made up' } })).toBeUndefined()
  expect(endedIn({ kind: 'session_running', data })).toBeUndefined()
  expect(endedIn({ kind: 'session_ended', data: { ...data, usage: 'much' } })).toMatchObject({ usage: NO_USAGE })
})

test('sessions add up by agent and outcome', () => {
  const sum = totals()
  for (const outcome of ['completed', 'completed', 'failed'])
    addSession(sum, { agent: 'claude', outcome, usage: used(1) })
  expect(sum).toEqual({ sessions: { claude: { completed: 2, failed: 1 } }, usage: { claude: used(3) }, restarts: 0 })
})

test('however many agents there were, there is a bound to the series', () => {
  const sum = totals()
  for (let i = 0; i < 1000; i++) addSession(sum, { agent: `agent-${i}`, outcome: 'completed', usage: used(1) })
  expect(Object.keys(sum.sessions).length).toBeLessThanOrEqual(41)
  expect(sum.sessions[OTHER_AGENT]!.completed).toBe(960)
})

test('totals never decrease when they are counted again and records are gone', () => {
  const before = totals()
  const after = totals()
  before.restarts = 2
  after.restarts = 1
  for (let i = 0; i < 3; i++) addSession(before, { agent: 'shell', outcome: 'completed', usage: used(1) })
  addSession(after, { agent: 'shell', outcome: 'completed', usage: used(1) })
  addSession(after, { agent: 'codex', outcome: 'lost', usage: used(5) })
  expect(atLeast(after, before)).toEqual({
    sessions: { shell: { completed: 3 }, codex: { lost: 1 } },
    usage: { shell: used(3), codex: used(5) },
    restarts: 2,
  })
})
