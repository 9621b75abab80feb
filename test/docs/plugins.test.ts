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

/** A plugin of a stranger: nothing of ours but the package, as npm installs it. */
function aPlugin(code: string): { file: string; problems: string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-example-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules/flotilla'))
  const file = join(folder, 'house-rules.ts')
  writeFileSync(file, code)
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true, noEmit: true, types: [] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  try {
    execFileSync(NODE, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' })
    return { file, problems: '' }
  } catch (error) {
    return { file, problems: (error as { stdout: string }).stdout }
  }
}

test('the example in the guide compiles against flotilla/plugin, and does what it says', async () => {
  const { file, problems } = aPlugin(EXAMPLE)
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

test.each([
  ['a hook nobody knows', EXAMPLE.replace('post_fail', 'post_failure'), 'post_failure'],
  ['a budget that is no number', EXAMPLE.replace('max_budget_usd: 5', 'max_budget_usd: "five"'), 'max_budget_usd'],
  ['a field a mission has not', EXAMPLE.replace('mission.tags', 'mission.colour'), 'colour'],
])('the types refuse %s', (_, code, word) => {
  expect(aPlugin(code).problems).toContain(word)
})
