import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aScene } from './kit/scene.ts'

const AGENT = { detailed_prompt: 'Do it.', title: 'a mission', auto_dispatch: true }

test.each([
  ['a budget nobody can hold it to', { agent: 'agy', max_budget_usd: 1 }, /cannot be held to a budget/],
  ['a preset its client cannot hold', { agent: 'codex', tool_preset: 'test' }, /cannot be held to the preset test/],
  ['a preset its client cannot hold', { agent: 'opencode', tool_preset: 'test' }, /without making new ones/],
  ['a list of tools', { agent: 'codex', allowed_tools: ['Read'] }, /cannot be held to a list of tools/],
  ['a tool that is none', { agent: 'claude', allowed_tools: ['Bash(a)(b)'] }, /is no tool/],
  ['an effort it does not know', { agent: 'gemini', effort: 'high' }, /cannot be told to think/],
  ['approvals it cannot ask for', { agent: 'opencode', approvals: 'ask' }, /cannot ask a person/],
  ['turns that nobody counts', { agent: 'agy', max_turns: 3 }, /cannot be held to a limit of turns/],
])('%s is refused where it is asked for: %j', async (_what, settings, why) => {
  const { fleet, project } = await aScene({ start: false })
  const create = (more: object) =>
    fleet.call<{ id: string }>('create_mission', { project_id: project.id, ...AGENT, ...more })
  await expect(create(settings)).rejects.toThrow(why)
  expect(await fleet.call('list_missions')).toMatchObject({ missions: [] })

  const { agent, ...limits } = settings
  const { id } = await create({ agent, auto_dispatch: false })
  await expect(fleet.call('update_mission', { mission_id: id, ...limits })).rejects.toThrow(why)
  expect(await fleet.show(id)).toMatchObject({ status: 'draft', sessions: [] })
})

test('an agent that is not installed is not started, and its mission says how to get it', async () => {
  const { fleet, project } = await aScene({ start: false })
  const bin = join(fleet.root, 'bin')
  mkdirSync(bin)
  for (const program of ['git', 'sh'])
    symlinkSync(execFileSync('which', [program], { encoding: 'utf8' }).trim(), join(bin, program))
  await fleet.start({ env: { PATH: `${bin}:/bin` } })
  const { id } = await fleet.mission(project, 'Do it.', { agent: 'gemini' })
  const mission = await fleet.until(id, 'failed', 'done', 'review')
  expect(mission).toMatchObject({ status: 'failed', status_reason: { code: 'dispatch_failed' }, sessions: [] })
  expect(mission.status_reason!.text).toContain(
    'Gemini CLI is not installed. Install Gemini CLI: npm install -g @google/gemini-cli',
  )
})
