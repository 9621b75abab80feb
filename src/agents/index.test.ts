import { expect, test } from 'vitest'
import { NotFound } from '../domain/errors.ts'
import { TOOL_PRESETS } from '../domain/project.ts'
import { AGENTS, agentNamed, models, toolPresets } from './index.ts'

test('an agent is found by its name; an unknown one is refused with those there are', () => {
  for (const agent of AGENTS) expect(agentNamed(agent.name)).toBe(agent)
  const refused = () => agentNamed('gpt')
  expect(refused).toThrow(NotFound)
  expect(refused).toThrow(expect.objectContaining({ hint: 'Use one of: shell, claude.' }))
})

test('every preset is offered with the agents that can be held to it', () => {
  const offers = Object.fromEntries(toolPresets().map(({ name, agents }) => [name, agents]))
  expect(Object.keys(offers).sort()).toEqual([...TOOL_PRESETS].sort())
  expect(offers).toMatchObject({ full: ['shell', 'claude'], review: ['claude'] })
})

test('models are named with their agent', () => {
  expect(models()).toContainEqual({ agent: 'claude', name: expect.stringContaining('opus'), alias: 'opus' })
})
