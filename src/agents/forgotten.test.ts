import { expect, test } from 'vitest'
import { LINER } from '../../test/agents/stand-ins.ts'
import { AcpDeclaration, acpAgent } from './acp/adapter.ts'
import { claude } from './claude/adapter.ts'
import { codex } from './codex/adapter.ts'
import type { AgentEvent } from './contract.ts'
import { CustomDeclaration, customAgent } from './custom/adapter.ts'
import { emptyDigest, fold } from './digest.ts'
import { gemini } from './gemini/adapter.ts'
import { opencode } from './opencode/adapter.ts'

const acp = acpAgent(AcpDeclaration.parse({ name: 'any', kind: 'acp', command: ['any'], resume: true }))
const custom = customAgent(CustomDeclaration.parse(LINER))

const BEGUN: AgentEvent = { type: 'started', conversation: 'c', model: null }
const failed = (reason: string): AgentEvent => ({ type: 'result', ok: false, text: 'Why.', reason })

test.each([
  [claude, [failed('error_during_execution')], 1, true],
  [claude, [BEGUN, failed('error_during_execution')], 1, false],
  [claude, [failed('http_401')], 1, false],
  [codex, [failed('refused')], 0, true],
  [codex, [BEGUN, failed('refused')], 0, false],
  [gemini, [], 42, true],
  [gemini, [], 41, false],
  [gemini, [], 127, false],
  [opencode, [], 1, true],
  [opencode, [], 127, false],
  [opencode, [BEGUN], 1, false],
  [acp, [failed('error_-32603')], 0, true],
  [acp, [failed('not_signed_in')], 0, false],
  [acp, [BEGUN, failed('error_-32603')], 0, false],
  [custom, [], 1, true],
  [custom, [failed('x')], 1, true],
  [custom, [], 127, false],
  [custom, [BEGUN], 1, false],
] as const)(
  '%#: a conversation that the client does not have is told from other failures',
  (agent, events, code, is) => {
    const ending = agent.outcome(fold(emptyDigest(), events), { code })
    expect(ending.outcome).toBe('failed')
    expect(ending.forgotten ?? false, `${agent.name}: ${ending.reason}`).toBe(is)
  },
)
