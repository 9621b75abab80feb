import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { InvalidInput, NotFound } from '../domain/errors.ts'
import { TOOL_PRESETS } from '../domain/records/project.ts'
import { AGENTS, agentsOf, doubtAbout, toolPresets } from './index.ts'

function aHome(declared?: unknown): { path: string; declare(what: unknown): void } {
  const path = mkdtempSync(join(tmpdir(), 'flotilla-agents-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  const declare = (what: unknown) =>
    writeFileSync(join(path, 'agents.json'), typeof what === 'string' ? what : JSON.stringify(what))
  if (declared !== undefined) declare(declared)
  return { path, declare }
}
const ACP = { name: 'mine', kind: 'acp', command: ['mine', '--acp'] }
const CUSTOM = { name: 'yours', kind: 'custom', command: ['yours', '{prompt_file}'] }

test('an agent is found by its name; an unknown one is refused with those there are', () => {
  const agents = agentsOf(aHome().path)
  for (const agent of AGENTS) expect(agents.named(agent.name)).toBe(agent)
  const refused = () => agents.named('gpt')
  expect(refused).toThrow(NotFound)
  expect(refused).toThrow(
    expect.objectContaining({ hint: `Use one of: ${AGENTS.map(({ name }) => name).join(', ')}.` }),
  )
})

test('every preset is offered with the agents that can be held to it', () => {
  const offers = Object.fromEntries(toolPresets(AGENTS).map(({ name, agents }) => [name, agents]))
  expect(Object.keys(offers).sort()).toEqual([...TOOL_PRESETS].sort())
  expect(offers.full).toEqual(expect.arrayContaining(['shell', 'claude']))
  expect(offers.review).toContain('claude')
  expect(offers.review).not.toContain('shell')
})

test('models are those built in and those the client told, short names stay, and a broken memory is none', async () => {
  const home = aHome()
  const claude = agentsOf(home.path).named('claude')
  const codex = { ...agentsOf(home.path).named('codex'), listModels: async () => ['gpt-9', 'gpt-5.5'] }
  const mute = { ...claude, listModels: () => Promise.reject(new Error('not today')) }
  const { models } = agentsOf(home.path)
  expect(models.of(claude)).toContainEqual({ name: expect.stringContaining('opus'), alias: 'opus' })
  expect(models.of(codex)).not.toContainEqual({ name: 'gpt-9' })

  await models.refresh([codex, mute], {}, '2030-01-01T00:00:00.000Z')
  const told = agentsOf(home.path).models
  expect(told.of(codex)).toEqual([...codex.models, { name: 'gpt-9' }])
  expect([told.askedAt(codex), told.askedAt(mute)]).toEqual(['2030-01-01T00:00:00.000Z', undefined])
  expect(told.of(mute)).toEqual(claude.models)

  writeFileSync(join(home.path, 'models.json'), '{"codex": 7}')
  expect(agentsOf(home.path).models.of(codex)).toEqual(codex.models)
})

test('a name nobody knows is doubted; an alias, no name and an agent without names are not', () => {
  const known = [{ name: 'large-2', alias: 'large' }]
  expect(doubtAbout(known, 'liner', 'huge')).toMatch(/"huge" is not a model that the fleet knows of liner.*passed on/)
  for (const model of ['large-2', 'large', null]) expect(doubtAbout(known, 'liner', model)).toBeUndefined()
  expect(doubtAbout([], 'liner', 'huge')).toBeUndefined()
})

test('declared agents stand beside the built-in ones, and are read again when their file changes', () => {
  const home = aHome({ agents: [ACP] })
  const agents = agentsOf(home.path)
  expect(agents.all.map(({ name }) => name)).toEqual([...AGENTS.map(({ name }) => name), 'mine'])
  expect(agents.named('mine')).toBe(agents.named('mine'))
  home.declare({ agents: [ACP, CUSTOM] })
  expect(agents.named('yours').title).toBe('yours')
  expect(agents.fault).toBeNull()
})

test.each([
  ['no JSON', '{"agents": [', /agents\.json, it is not JSON/],
  ['an unknown kind', { agents: [{ ...ACP, kind: 'magic' }] }, /agents\.0\.kind/],
  ['a command that is a line', { agents: [ACP, { ...CUSTOM, command: 'yours' }] }, /agents\.1\.command/],
  ['an empty command', { agents: [{ ...ACP, command: [] }] }, /agents\.0\.command/],
  ['a field that is misspelt', { agents: [{ ...ACP, enviroment: {} }] }, /agents\.0.*enviroment/],
  ['a name that breaks out', { agents: [{ ...ACP, name: '../x' }] }, /agents\.0\.name/],
  ['a name that is taken', { agents: [ACP, { ...CUSTOM, name: 'claude' }] }, /agents\.1\.name.*"claude"/],
  ['a name given twice', { agents: [ACP, { ...CUSTOM, name: 'mine' }] }, /agents\.1\.name.*"mine"/],
  ['no place for the prompt', { agents: [{ ...CUSTOM, command: ['yours'] }] }, /agents\.0\.command.*prompt_file/],
  ['a rule for no event', { agents: [{ ...CUSTOM, events: [{ event: 'party' }] }] }, /agents\.0\.events\.0\.event/],
])('%s is refused by its field, and the built-in agents are as before', (_what, declared, sentence) => {
  const agents = agentsOf(aHome(declared).path)
  expect(agents.all).toEqual(AGENTS)
  expect(agents.named('claude').name).toBe('claude')
  expect(agents.fault?.message).toMatch(sentence)
  expect(agents.fault?.message).toContain('agents.json')
  expect(() => agents.named('mine')).toThrow(InvalidInput)
})

test('a session whose agent is no longer declared is still read, and nothing new is started with it', () => {
  const gone = agentsOf(aHome().path).ofSession('mine')
  expect(gone.read('{"x":1}', 'stdout')).toEqual([{ type: 'raw', text: '{"x":1}' }])
  expect(() => gone.launch({} as never)).toThrow(NotFound)
})
