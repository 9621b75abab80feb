import { expect, test } from 'vitest'
import { AGENTS, type Agent, emptyDigest } from '../../agents/index.ts'
import { modelsIn } from '../../config/prices.ts'
import type { Fleet } from '../fleet.ts'
import { knowledgeFor, requireBudget, unheldBudget } from './budget-rules.ts'

const agents = { models: { of: (agent: Agent) => agent.models } }
const fleet = { models: modelsIn('/nowhere'), agents } as unknown as Fleet
const named = (name: string): Agent => AGENTS.find(agent => agent.name === name)!
const asked = (name: string, model: string | null = null) =>
  requireBudget(fleet, named(name), { maxBudgetUsd: 1, model })

test('a budget is refused where nobody can hold the agent to it, and only then', () => {
  for (const name of ['shell', 'claude', 'codex', 'opencode']) expect(() => asked(name)).not.toThrow()
  expect(() => asked('codex', 'terra')).not.toThrow()
  expect(() => asked('codex', 'no-such-model')).toThrow(/no price for the model no-such-model/)
  expect(() => asked('gemini')).not.toThrow()
  expect(() => asked('agy')).toThrow(/does not report its cost/)
  for (const { name } of AGENTS) expect(() => requireBudget(fleet, named(name), noBudget), name).not.toThrow()
})

const noBudget = { maxBudgetUsd: null, model: 'no-such-model' }

test('a model that is known only once the agent works is judged then', () => {
  const unheld = (model: string | null, output_tokens = 0, asked: string | null = null) => {
    const digest = emptyDigest()
    return unheldBudget(fleet, named('codex'), asked, { ...digest, model, usage: { ...digest.usage, output_tokens } })
  }
  expect(unheld(null)).toBeNull()
  expect(unheld('gpt-5.5', 9)).toBeNull()
  expect(unheld(null, 9, 'terra')).toBeNull()
  expect(unheld('new-model')).toContain('new-model')
  expect(unheld(null, 9)).toContain('does not say which model')
})

test("a window that our table does not know is that of the client's own set-up", () => {
  const set = { ...named('opencode'), windowOf: (model: string | null) => (model === 'mine/one' ? 1000 : null) }
  const known = (asked: string | null, told: string | null = null) => knowledgeFor(fleet, set, asked).windowOf(told)
  expect([known('mine/one'), known(null, 'mine/one'), known('mine/two'), known(null)]).toEqual([1000, 1000, null, null])
  expect(knowledgeFor(fleet, named('codex'), 'gpt-5.5').windowOf(null)).toBe(272_000)
})
