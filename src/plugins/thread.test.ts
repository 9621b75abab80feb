import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type PluginFault, PluginThread, type ThreadOptions } from './thread.ts'

/** For code that hangs, and for code that is only slow on a busy machine. */
const SHORT_MS = 1000
const LONG_MS = 30_000

/** A plugin in its own thread, and its messages. */
async function started(code: string, options: Partial<ThreadOptions> & { extension?: string } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-plugin-'))
  const file = join(folder, `plugin.${options.extension ?? 'mjs'}`)
  writeFileSync(file, code)
  const faults: PluginFault[] = []
  const logged: string[] = []
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const thread = await PluginThread.start({
    file,
    settings: {},
    environment: {},
    startMs: LONG_MS,
    ask: async () => null,
    log: text => logged.push(text),
    ended: fault => faults.push(fault),
    ...options,
  })
  onTestFinished(() => thread.end())
  const hook = (name: string, input: unknown = {}) => thread.call('hooks', name, input, LONG_MS)
  return { thread, hook, faults, logged }
}

test('a plugin written in TypeScript is loaded, called, and asks the fleet', async () => {
  const asked: unknown[] = []
  const { thread, hook, logged } = await started(
    `interface Wide { n: number }
    export default {
      description: 'doubles',
      hooks: { on_event: async ({ n }: Wide, fleet) => ({ twice: n * 2, said: await fleet.call('hello', { n }, { key: 'k' }), at: fleet.settings.at }) },
      tools: { shout: { summary: 'loudly', input: { type: 'object' }, run: ({ text }, fleet) => (fleet.log('shouts'), text.toUpperCase()) } },
    }`,
    {
      extension: 'ts',
      settings: { at: 'home' },
      ask: async (...all) => {
        asked.push(all)
        return { hi: true }
      },
    },
  )
  expect(thread.manifest).toMatchObject({ description: 'doubles', hooks: ['on_event'], tools: [{ name: 'shout' }] })
  expect(await hook('on_event', { n: 4 })).toEqual({ twice: 8, said: { hi: true }, at: 'home' })
  expect(asked).toEqual([['hello', { n: 4 }, 'k']])
  expect(await thread.call('tools', 'shout', { text: 'a' }, LONG_MS)).toBe('A')
  expect(logged).toEqual(['shouts'])
})

test('what throws, or answers what nobody can read, is told and may go on', async () => {
  const { hook, faults } = await started(`export default { hooks: {
    pre_land() { throw new Error('no luck') },
    pre_plan() { return { circle() {}, big: 1n } },
    post_fail() { return 'x'.repeat(2000000) },
    on_event() { return 'fine' },
  } }`)
  await expect(hook('pre_land')).rejects.toMatchObject({ message: 'no luck', ended: false })
  await expect(hook('pre_plan')).rejects.toMatchObject({ ended: false })
  await expect(hook('post_fail')).rejects.toMatchObject({ message: expect.stringContaining('at most'), ended: false })
  expect(await hook('on_event')).toBe('fine')
  expect(faults).toEqual([])
})

test.each([
  ['hangs', 'while (true) {}', 'did not answer within 1 seconds'],
  ['waits for ever', 'await new Promise(() => {})', 'did not answer within 1 seconds'],
  ['exits', 'process.exit(0)', 'ended its thread (exit code 0)'],
  ['throws where nobody catches', 'setTimeout(() => { throw new Error("late") }); await new Promise(() => {})', 'late'],
  ['eats memory', 'const all = []; for (;;) all.push(new Array(1e5).fill(all.length))', 'used more than 256 MB'],
  [
    'floods',
    'const { parentPort } = await import("node:worker_threads"); for (let n = 0; n < 1e5; n++) parentPort.postMessage({ kind: "log", text: "x" })',
    'flooded',
  ],
  [
    'says nonsense to the fleet',
    '(await import("node:worker_threads")).parentPort.postMessage("hello"); await new Promise(() => {})',
    'is not valid',
  ],
])('one that %s is ended and reported, and this process goes on', async (_, body, reason) => {
  const { thread, faults } = await started(`export default { hooks: { async on_event() { ${body} } } }`)
  await expect(
    thread.call('hooks', 'on_event', {}, reason.startsWith('did not') ? SHORT_MS : LONG_MS),
  ).rejects.toMatchObject({
    message: expect.stringContaining(reason),
    ended: true,
  })
  expect(faults).toHaveLength(1)
  await expect(thread.call('hooks', 'on_event', {}, LONG_MS)).rejects.toMatchObject({ ended: true })
})

test.each([
  ['is no program', 'export default {{', 'Unexpected token'],
  ['exports nothing', 'export const plugin = {}', 'default export is not a plugin'],
  ['throws at once', 'throw new Error("never")', 'never'],
  ['does not start', 'export default { start() { throw new Error("no url") } }', 'no url'],
  ['never starts', 'await new Promise(() => {}); export default {}', 'did not start within'],
  ['loops', 'while (true) {}', 'did not start within'],
  ['exits', 'process.exit(3)', 'exit code 3'],
  ['has a hook nobody knows', 'export default { hooks: { pre_launch() {} } }', 'is not valid: manifest.hooks'],
  ['has a tool without a summary', 'export default { tools: { a: { run() {} } } }', 'is not valid: manifest.tools'],
])('one that %s does not start, and says why', async (_, code, reason) => {
  const startMs = reason.startsWith('did not start') ? SHORT_MS : LONG_MS
  await expect(started(code, { startMs })).rejects.toThrow(reason)
})
