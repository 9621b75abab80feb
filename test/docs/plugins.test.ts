import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { PluginThread } from '../../src/plugins/thread.ts'
import { NODE, ROOT } from '../kit/fleet.ts'
import { blocksOf, PAGES } from './pages.ts'

const GUIDE = PAGES.find(page => page.path === 'docs/guides/plugins.md')!
const EXAMPLE = blocksOf(GUIDE).find(block => block.info === 'ts')!.text
// test/fleet/plugins/plugin-agents.test.ts tests what it does.
const AGENT = blocksOf(PAGES.find(page => page.path === 'docs/guides/agents-as-code.md')!).find(
  block => block.info === 'ts',
)!.text

/** Plugins of a stranger, with only our package, as npm installs it. */
function compiled(plugins: Record<string, string>): { folder: string; problems: string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-example-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules/flotilla'))
  symlinkSync(join(ROOT, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  for (const [name, code] of Object.entries(plugins)) writeFileSync(join(folder, `${name}.ts`), code)
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, noEmit: true, types: ['node'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  try {
    execFileSync(NODE, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'], { cwd: folder, encoding: 'utf8' })
    return { folder, problems: '' }
  } catch (error) {
    return { folder, problems: (error as { stdout: string }).stdout }
  }
}

test('the examples in the guides compile against flotilla/plugin, and do what they say', async () => {
  const { folder, problems } = compiled({ 'house-rules': EXAMPLE, tinker: AGENT })
  const file = join(folder, 'house-rules.ts')
  expect(problems).toBe('')
  const asked: unknown[] = []
  const ask = async (...all: unknown[]) => asked.push(all) && { missions: [1, 2] }
  const around = { settings: {}, environment: {}, startMs: 10_000, log() {}, ended() {} }
  const thread = await PluginThread.start({ file, ask, ...around })
  onTestFinished(() => thread.end())
  const before = (detailed_prompt: string) =>
    thread.call('hooks', 'pre_dispatch', { mission: { detailed_prompt, tags: ['a'] } }, 5000)
  expect(await before('tell a Secret')).toEqual({ refuse: 'It speaks of secrets.' })
  expect(await before('work')).toEqual({ change: { max_budget_usd: 5, tags: ['a', 'checked'] } })
  expect(await thread.call('tools', 'waiting', { tag: 'x' }, 5000)).toEqual({ waiting: 2 })
  expect(asked).toEqual([['list_missions', { status: 'needs_input', tag: 'x' }, undefined]])
})

test('the types refuse what is none', () => {
  const wrong: Record<string, [code: string, word: string]> = {
    'hook nobody knows': [EXAMPLE.replace('post_fail', 'post_failure'), 'post_failure'],
    'budget that is no number': [EXAMPLE.replace('max_budget_usd: 5', 'max_budget_usd: "five"'), 'max_budget_usd'],
    'field a mission has not': [EXAMPLE.replace('mission.tags', 'mission.colour'), 'colour'],
    'event nobody knows': [AGENT.replace("type: 'raw', text: line", "type: 'song', text: line"), 'song'],
    'something no agent can': [AGENT.replace('resume: true', 'fly: true'), 'fly'],
    'agent that cannot be read': [AGENT.replace(/^ {2}read: .*$/m, ''), "'read'"],
  }
  const { problems } = compiled(Object.fromEntries(Object.entries(wrong).map(([name, [code]]) => [name, code])))
  for (const [name, [, word]] of Object.entries(wrong)) {
    const said = problems.split(/^(?=\S)/m).filter(problem => problem.startsWith(name))
    expect(said.join(), name).toContain(word)
  }
})
