import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { PLUGIN_AGENTS_FILE } from '../../plugins/adapters.ts'
import { Refused } from '../../plugins/contract.ts'
import type { Source } from '../../plugins/finding.ts'
import { aFleet } from '../fleet.testkit.ts'
import { eventsOf, read } from '../records.testkit.ts'
import { keepPluginAgents, requireFreeNames } from './agents.ts'
import { PluginHost } from './host.ts'
import { notePlugin, recordOf, sourcesOf, switchPlugin } from './records.ts'

/** The plugins of a home at work, each in a thread of its own. */
async function aHost(plugins: Record<string, string>) {
  const fleet = aFleet()
  mkdirSync(join(fleet.home.path, 'plugins'))
  for (const [name, code] of Object.entries(plugins))
    writeFileSync(join(fleet.home.path, 'plugins', `${name}.mjs`), `export default ${code}`)
  const off = Promise.withResolvers<void>()
  const host = new PluginHost(fleet, {
    ask: async (plugin, operation, input) => ({ plugin, operation, input }),
    onFault: what => what.endsWith('is switched off') && off.resolve(),
    log: () => {},
  })
  onTestFinished(() => host.stop())
  await host.start()
  const source = (name: string): Source => sourcesOf(fleet).find(each => each.name === name)!
  return { fleet, host, source, isOff: off.promise, record: (name: string) => recordOf(fleet, source(name)) }
}

const ANSWERS = `{
  hooks: { pre_land: ({ n }) => n === 1 ? { refuse: 'No.' } : n === 2 ? { maybe: true } : n === 3 ? boom() : undefined },
  tools: { twice: { summary: 'doubles', input: { type: 'object', properties: { n: { type: 'number' } } }, run: ({ n }) => n * 2 } },
}`

test('a plugin says what it has against something; one that throws or answers nonsense has said nothing', async () => {
  const { host, record } = await aHost({ one: ANSWERS })
  expect(host.listening('pre_land')).toEqual(['one'])
  const hear = (n: number) => host.hear('one', 'pre_land', { n }, Refused)
  expect(await hear(0)).toBeUndefined()
  expect(await hear(1)).toEqual({ refuse: 'No.' })
  expect(await hear(2)).toBeUndefined()
  expect(host.seat('one')).toMatchObject({
    faults: 1,
    last: { text: expect.stringContaining('gave an invalid answer') },
  })
  expect(await hear(3)).toBeUndefined()
  expect(host.seat('one')).toMatchObject({ faults: 2, last: { text: expect.stringContaining('boom is not defined') } })
  expect((await record('one')).enabled).toBe(true)
})

test('its tools can be called; what is not there is refused', async () => {
  const { host, source } = await aHost({ one: ANSWERS })
  expect(await host.callTool('one', 'twice', { n: 4 })).toBe(8)
  await expect(host.callTool('one', 'thrice', {})).rejects.toThrow('There is no tool of the plugin one "thrice".')
  await expect(host.callTool('two', 'twice', {})).rejects.toThrow('The plugin two is not running.')
  await host.shut(source('one'))
  await expect(host.callTool('one', 'twice', {})).rejects.toThrow('The plugin one is not running.')
  expect(host.tools).toEqual([])
})

test('one that does not start is switched off with its reason, and the others are at work', async () => {
  const { fleet, host, record } = await aHost({
    bad: `{ start() { throw new Error('I need a token.') } }`,
    good: `{ hooks: { pre_land: () => undefined } }`,
  })
  expect(host.listening('pre_land')).toEqual(['good'])
  expect(await record('bad')).toMatchObject({ enabled: false, reason: expect.stringContaining('I need a token.') })
  const [event] = (await eventsOf(fleet)).filter(({ kind }) => kind === 'plugin_disabled')
  expect(event).toMatchObject({ actor: 'fleet', data: { plugin: 'bad' } })
})

test('one whose thread ends gets another, and the third time it is switched off', async () => {
  const { host, isOff, record } = await aHost({ one: `{ hooks: { pre_land: ({ go }) => go && process.exit(1) } }` })
  const ends = () => host.hear('one', 'pre_land', { go: true }, Refused)
  await ends()
  // The next call waits for the new thread.
  expect(await host.hear('one', 'pre_land', {}, Refused)).toBeUndefined()
  expect(host.listening('pre_land')).toEqual(['one'])
  await ends()
  await ends()
  await isOff
  expect(host.listening('pre_land')).toEqual([])
  await expect.poll(() => record('one')).toMatchObject({ enabled: false })
  expect((await record('one')).reason).toMatch(/That was 3 times\.$/)
})

test('two plugins with an agent of the same name: the second is told so', () => {
  const fleet = aFleet()
  const agents = [{ kind: 'acp' as const, name: 'tinker', command: ['tinker'] }] as never
  const other = { plugin: 'one', file: '/one', reading: 'r', agents }
  expect(() => requireFreeNames(fleet, agents, [])).not.toThrow()
  expect(() => requireFreeNames(fleet, agents, [other])).toThrow('Its agent "tinker" has the name of another agent.')
  const builtIn = [{ kind: 'acp' as const, name: 'claude', command: ['x'] }] as never
  expect(() => requireFreeNames(fleet, builtIn, [])).toThrow('Its agent "claude" has the name of another agent.')
})

test('the agents of plugins are in a file while there are any, and it is written only when they change', () => {
  const { home } = aFleet()
  const file = join(home.path, PLUGIN_AGENTS_FILE)
  const agents = [{ kind: 'acp' as const, name: 'tinker', command: ['tinker'] }] as never
  const bringer = { plugin: 'one', file: '/one', reading: 'r', agents }
  keepPluginAgents(home.path, [])
  expect(existsSync(file)).toBe(false)
  keepPluginAgents(home.path, [bringer])
  const { ino } = statSync(file)
  keepPluginAgents(home.path, [bringer])
  expect(statSync(file).ino).toBe(ino)
  keepPluginAgents(home.path, [])
  expect(existsSync(file)).toBe(false)
})

const SOURCE: Source = { name: 'one', file: '/one.mjs', problem: undefined, origin: 'home' }

test('what two note about a plugin at once is both there', async () => {
  const fleet = aFleet()
  const fault = () => notePlugin(fleet, SOURCE, ({ faults }) => ({ faults: faults + 1 }))
  await Promise.all([fault(), fault(), notePlugin(fleet, SOURCE, () => ({ reason: 'so' }))])
  expect(await read(fleet, 'plugins', 'one')).toMatchObject({ faults: 2, reason: 'so', enabled: true })
})

test('switched on again it hears what happens from then on, not what it missed', async () => {
  const fleet = aFleet()
  const by = { actor: 'person' }
  const { cursor } = await switchPlugin(fleet, SOURCE, true, by)
  expect((await switchPlugin(fleet, SOURCE, false, { ...by, reason: 'too loud' })).cursor).toBe(cursor)
  expect(await read(fleet, 'plugins', 'one')).toMatchObject({ enabled: false, reason: 'too loud' })
  const tail = await fleet.store.tail()
  const on = await switchPlugin(fleet, SOURCE, true, by)
  expect(on).toMatchObject({ enabled: true, reason: null, cursor: tail })
  expect(on.cursor).not.toBe(cursor)
})

test('what comes with the fleet works once somebody wants it, everything else from the beginning', async () => {
  const fleet = aFleet()
  expect((await recordOf(fleet, { ...SOURCE, origin: 'shipped' })).enabled).toBe(false)
  for (const origin of ['home', 'configured'] as const)
    expect((await recordOf(fleet, { ...SOURCE, origin })).enabled).toBe(true)
})
