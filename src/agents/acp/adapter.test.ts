import { expect, test } from 'vitest'
import { CLAUDE_ACP } from '../../../test/agents/acp-agents.ts'
import { aRequest, aWorkspace } from '../../../test/agents/drive.ts'
import type { AgentEvent, Digest, LaunchRequest } from '../contract.ts'
import { emptyDigest, fold } from '../digest.ts'
import { acpAgent } from './adapter.ts'

const workspace = aWorkspace()
workspace.remove()
const { asks: _, ...SILENT } = CLAUDE_ACP
const silent = acpAgent({ ...SILENT, resume: false, fork: false })
const asking = acpAgent({ ...CLAUDE_ACP, asks: { arguments: ['--ask'], set: { MODE: 'careful' } } })
const request = (more: Partial<LaunchRequest> = {}) => aRequest(workspace, more)

test('an agent that is not declared to ask runs only under full', () => {
  expect(silent.can).toMatchObject({ presets: ['full'], approvals: false, resume: false, fork: false })
  expect(silent.launch(request()).argv).toEqual(['claude-agent-acp'])
  const hint = expect.objectContaining({ hint: expect.stringContaining('"asks" in agents.json') })
  expect(() => silent.launch(request({ preset: 'review' }))).toThrow(hint)
  expect(() => silent.launch(request({ approvals: 'ask' }))).toThrow(hint)
  expect(() => silent.launch(request({ resumes: 'x' }))).toThrow(/cannot continue an earlier conversation/)
  expect(() => silent.launch(request({ resumes: 'x', forks: true }))).toThrow(/cannot continue a copy/)
  expect(() => asking.launch(request({ allowedTools: ['Read'] }))).toThrow(/list of tools/)
})

test('the settings that make it ask are used under every other preset', () => {
  const full = asking.launch(request())
  const review = asking.launch(request({ preset: 'review' }))
  expect([full.argv.at(-1), full.env.MODE]).toEqual(['claude-agent-acp', undefined])
  expect([review.argv.at(-1), review.env.MODE]).toEqual(['--ask', 'careful'])
})

test('only what is named reaches it, and no prompt stands in its arguments', () => {
  const environment = { ...workspace.environment, SECRET: 'canary' }
  const launch = asking.launch(request({ prompt: 'canary prompt', environment }))
  expect(JSON.stringify(launch)).not.toContain('canary')
  expect(launch.env.ANTHROPIC_API_KEY).toBe('test-key')
})

const ended = (...events: AgentEvent[]): Digest => fold(emptyDigest(), events)
const result = (reason: string | null, text = ''): AgentEvent => ({
  type: 'result',
  ok: reason === null,
  text,
  reason,
})
const limit: AgentEvent = { type: 'rate_limit', until: null, text: 'Too many.' }

test.each<[string, Digest, number | null, string, RegExp]>([
  ['a finished turn', ended(result(null)), 0, 'completed', /finished/],
  ['a finished turn of one that had to be ended', ended(result(null)), 143, 'completed', /finished/],
  ['nobody knows how', ended(result(null)), null, 'lost', /without anyone recording/],
  [
    'exit 0 without a result',
    ended({ type: 'raw', text: 'usage: agent' }),
    0,
    'failed',
    /without a result.*usage: agent/,
  ],
  ['killed', ended(), 137, 'failed', /signal 9/],
  ['a rate limit', ended(limit, result('rate_limit')), 0, 'rate_limited', /Too many/],
  ['no key', ended(result('not_signed_in')), 0, 'failed', /not signed in/],
  ['forbidden', ended(result('forbidden', 'No.')), 0, 'failed', /does not let .* in \(403\): No\. Sign in/],
  ['too long', ended(result('max_tokens')), 0, 'limited', /tokens/],
  ['too many turns', ended(result('max_turn_requests')), 0, 'limited', /turns/],
  ['cancelled', ended(result('cancelled')), 0, 'failed', /cancelled/],
  ['a refusal', ended(result('refusal')), 0, 'failed', /refused/],
  ['any other error', ended(result('error_-32603', 'Broken.')), 0, 'failed', /^Broken\.$/],
])('%s', (_what, digest, code, outcome, reason) => {
  expect(asking.outcome(digest, { code })).toMatchObject({ outcome, reason: expect.stringMatching(reason) })
})
