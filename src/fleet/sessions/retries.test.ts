import { expect, test } from 'vitest'
import { claude } from '../../agents/claude/adapter.ts'
import { codex } from '../../agents/codex/adapter.ts'
import type { Agent, Digest } from '../../agents/index.ts'
import { shell } from '../../agents/shell.ts'
import { afterTry } from './retries.ts'

const now = '2026-11-16T14:00:00.000Z'
const retry = (more: object = {}): Digest['retry'] => ({ type: 'retry', attempt: 1, of: 5, why: 'busy', ...more })
const after = (agent: Agent, told: Digest['retry'], before: Parameters<typeof afterTry>[1] = null) =>
  afterTry(agent, before, told, { now, parkAfter: 300 })

test('a try is told once, and its end', () => {
  const told = after(claude, retry({ status: 429, wait_seconds: 5 }))
  expect(told).toMatchObject({ retrying: { status: 429, next_at: '2026-11-16T14:00:05.000Z' } })
  const { retrying } = told as { retrying: NonNullable<Parameters<typeof afterTry>[1]> }
  expect(after(claude, retry({ status: 429, wait_seconds: 5 }), retrying)).toBeNull()
  expect(after(claude, null, retrying)).toEqual({ retrying: null })
  expect(after(claude, null)).toBeNull()
})

test('an hour of waiting ends the session as rate limited until then; one that cannot go on waits', () => {
  const hour = retry({ status: 429, wait_seconds: 3600 })
  expect(after(codex, hour)).toMatchObject({ stop: { outcome: 'rate_limited', until: '2026-11-16T15:00:00.000Z' } })
  expect(after(shell, hour)).toMatchObject({ retrying: { attempt: 1 } })
})

test('one that is not let in ends with what to do', () => {
  const refused = (agent: Agent, status: number) => after(agent, retry({ attempt: 2, status }))
  const reason = expect.stringMatching(/^Claude Code is not signed in\. Sign in: run claude/)
  expect(refused(claude, 401)).toEqual({ stop: { outcome: 'failed', reason } })
  expect(refused(codex, 403)).toMatchObject({
    stop: { reason: expect.stringMatching(/does not let Codex in \(403\): busy Sign in: run codex login/) },
  })
  expect(refused(shell, 401)).toMatchObject({ stop: { reason: expect.stringContaining('Sign in with its own') } })
})
