import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { aRepository } from '../../git/testkit.ts'
import { fleet } from '../testing.ts'

const AGENTS = { agents: [{ name: 'claude', title: 'Claude Code', engine: 'cli', installed: true, signed_in: true }] }
const MADE = { id: 'abcdefghijkl', name: 'repo', path: '/somewhere/repo' }

async function aProject() {
  const repo = await aRepository()
  onTestFinished(() => repo.remove())
  writeFileSync(join(repo.path, 'package.json'), '{"scripts":{"test":"node --test"}}')
  writeFileSync(join(repo.path, '.gitignore'), '.env\nnode_modules\n')
  writeFileSync(join(repo.path, '.env'), 'KEY=1')
  return repo.path
}
const homeIn = (cwd: string) => ({ FLEET_HOME: join(cwd, '..', 'home') })
const wanted = {
  agent: 'claude',
  checks: [{ name: 'test', command: 'npm run test' }],
  copy_files: ['.env'],
}

test('a repository becomes a project with what was seen in it', async () => {
  const cwd = await aProject()
  const answers = { list_agents: AGENTS, list_projects: { projects: [] }, create_project: MADE }
  const { code, out, asked } = await fleet(['init', '--yes'], { cwd, env: homeIn(cwd), answers })
  expect(code).toBe(0)
  expect(out).toMatch(/npm run test/)
  expect(existsSync(join(cwd, '../home/fleet.toml'))).toBe(true)
  expect(asked.at(-1)).toEqual({ operation: 'create_project', input: { path: cwd, ...wanted } })
})

test('without a yes nothing happens', async () => {
  const cwd = await aProject()
  const answers = { list_agents: AGENTS, list_projects: { projects: [] }, create_project: MADE }
  const silent = await fleet(['init'], { cwd, env: homeIn(cwd), answers })
  expect(silent.err).toContain('was not changed')
  const refused = await fleet(['init'], { cwd, env: homeIn(cwd), answers, terminal: true, stdin: 'n\n' })
  expect(refused.err).toContain('Apply these settings?')
  for (const { asked } of [silent, refused])
    expect(asked.map(each => each.operation)).toEqual(['list_agents', 'list_projects'])
  const agreed = await fleet(['init'], { cwd, env: homeIn(cwd), answers, terminal: true, stdin: '\n' })
  expect(agreed.asked.at(-1)?.operation).toBe('create_project')
})

test('settings that are there are replaced only when asked, and either is said', async () => {
  const cwd = await aProject()
  const project = { ...MADE, agent: 'codex', setup_command: null, checks: [], copy_files: ['.env'] }
  const answers = { list_agents: AGENTS, list_projects: { projects: [project] }, update_project: project }
  const { checks } = wanted
  const kept = await fleet(['init', '-y'], { cwd, env: homeIn(cwd), answers })
  expect(kept.out).toMatch(/claude {2}\(not applied: it stays codex; --replace applies it\)/)
  expect(kept.asked.at(-1)).toEqual({ operation: 'update_project', input: { project_id: MADE.id, checks } })
  const forced = await fleet(['init', '-y', '--replace'], { cwd, env: homeIn(cwd), answers })
  expect(forced.out).toMatch(/claude {2}\(instead of codex\)/)
  expect(forced.asked.at(-1)?.input).toEqual({ project_id: MADE.id, agent: 'claude', checks })
})

test('without changes nothing is asked, and existing settings are not reported as missing', async () => {
  const cwd = await aProject()
  const project = { ...MADE, ...wanted, setup_command: null }
  const answers = { list_agents: AGENTS, list_projects: { projects: [project] } }
  const asTyped = { cwd, env: homeIn(cwd), answers, terminal: true, stdin: 'n\n' }
  const settled = await fleet(['init'], asTyped)
  expect(settled.err).not.toContain('Apply these settings?')
  expect(settled.out).toContain('No changes for project repo')
  rmSync(join(cwd, 'package.json'))
  expect((await fleet(['init'], asTyped)).err).not.toContain('Nothing says how it is checked')
})
