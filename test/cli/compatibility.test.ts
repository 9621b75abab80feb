import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { run as program } from '../../src/cli/program.ts'
import { configurationOf } from '../../src/config/configuration.ts'
import type { SettingName } from '../../src/config/settings.ts'
import { keyOf } from '../../src/config/sources.ts'
import { storeOf } from '../../src/config/store.ts'
import { questionFile } from '../../src/fleet/missions/notes.ts'
import { eventually, ROOT } from '../kit/fleet.ts'
import { call, twice } from '../kit/inside.ts'
import { ledger } from '../kit/known.ts'
import { aScene } from '../kit/scene.ts'

const isOfTheStore = (name: string): boolean => /^(STORAGE_BACKEND|DATABASE_URL|POSTGRESQL_\w+)$/.test(name)

test('every variable and key of other tools that is kept sets what it set there', async () => {
  const { fleet } = await aScene({ start: false })
  const file = join(fleet.fleet.home.path, 'fleet.toml')
  const { names, call, forgotten } = ledger(undefined, 'variable', 'key')
  const samples: Record<string, string> = {
    jwt_expires_in: '3600',
    default_agent: 'codex',
    claude_engine: 'sdk',
    allowed_repos: '/srv',
  }
  for (const { name, kind, ours } of names.filter(each => !isOfTheStore(each.name) && each.from !== 'CAFleet')) {
    const sample = samples[ours!] ?? (/model|dir|cmd/.test(ours!) ? 'something' : '7')
    writeFileSync(file, kind === 'key' ? `${name} = ${/^\d+$/.test(sample) ? sample : JSON.stringify(sample)}\n` : '')
    const { settings, origins } = configurationOf(fleet.fleet.home.path, kind === 'key' ? {} : { [name]: sample })
    const set = (Object.keys(origins) as SettingName[]).filter(each => origins[each] !== 'default')
    expect(set.map(keyOf)).toEqual([ours])
    expect(String(settings[set[0]!])).toBe(sample)
    call(name)
  }
  const url = 'postgresql://u@h/d'
  const said = { STORAGE_BACKEND: 'postgresql', POSTGRESQL_SCHEMA: 's', POSTGRESQL_POOL_SIZE: '3' }
  for (const name of ['DATABASE_URL', 'POSTGRESQL_URL']) {
    const chosen = storeOf({ path: fleet.root, storeFile: join(fleet.root, 'store.db') }, { ...said, [name]: url })
    expect(chosen).toMatchObject({ engine: 'postgresql', url, schema: 's', poolSize: 3 })
    call(name, ...Object.keys(said))
  }
  // Those of CAFleet are for its commands.
  expect(forgotten().filter(name => !name.startsWith('CAFLEET_'))).toEqual([])
  writeFileSync(file, '')
  const shown = await fleet.fleetCommand(['config', 'show', '--json'], { env: { FLEET_DEFAULT_EXECUTOR: 'codex' } })
  expect(JSON.parse(shown.stdout).settings).toContainEqual(
    expect.objectContaining({ key: 'default_agent', value: 'codex', origin: 'environment' }),
  )
})

test('every command, variable and file that agents and people of the beads supervisor know is there', async () => {
  const { fleet, repo, project } = await aScene()
  const variables = ledger('fleet (beads supervisor)', 'agent variable')
  const print = variables.names.map(({ name }) => `echo "${name}=$${name}"`)
  const notes = [
    'echo first > "$FLEET_TASK_DIR/PLAN.md"',
    'echo known > "$FLEET_TASK_DIR/KNOWLEDGE.md"',
    'echo kept > "$FLEET_ARTIFACT_DIR/it"',
  ]
  const { id } = await fleet.mission(project, [...print, ...notes, 'echo x > x'].join('\n'))
  const asker = await fleet.mission(
    project,
    twice([call('ask_human', { question: 'Why?', wait_seconds: 0 })], ['echo y > y']),
  )
  await fleet.until(id, 'done')
  const commands = ledger('fleet (beads supervisor)', 'command')
  const files = ledger('fleet (beads supervisor)', 'file')
  const env = { PATH: `${join(ROOT, 'test/fixtures/beads')}:${process.env.PATH}`, BD_STAND_IN: fleet.root }
  // Only commands that change files around them run in their own process. The others are the same program, and there
  // are many.
  const start = async (name: string, ...args: string[]): Promise<string> => {
    commands.call(name)
    const { code, stdout, stderr } = await fleet.fleetCommand(args, { cwd: repo.path, env })
    expect(code, `${name}: ${stderr}`).toBe(0)
    return stdout
  }
  const run = async (...args: string[]): Promise<string> => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
    const around = { HOME: fleet.root, FLEET_HOME: fleet.fleet.home.path, PATH: process.env.PATH }
    const code = await program(args, { streams: { stdin, stdout, stderr, env: around, cwd: repo.path } })
    expect(code, `${args.join(' ')}: ${stderr.read() ?? ''}`).toBe(0)
    return String(stdout.read() ?? '')
  }
  const type = (name: string, ...args: string[]): Promise<string> => {
    commands.call(name)
    return run(...args)
  }
  const looks = async () => {
    const log = await type('fleet task <id> log', 'task', id, 'log')
    for (const { name } of variables.names) {
      expect(log).toMatch(new RegExp(`${name}=.*${id}`))
      variables.call(name)
    }
    expect(await type('fleet task <id> plan', 'task', id, 'plan')).toBe('first\n')
    files.call('plan and status')
    expect(await type('fleet task <id> knowledge', 'task', id, 'knowledge')).toBe('known\n')
    files.call('knowledge')
    expect(JSON.parse(await run('task', id, 'artifacts', '--json'))).toMatchObject({
      artifacts: { files: [{ path: 'it' }] },
    })
    files.call('artifacts')
    expect(await type('fleet show <id> [--json]', 'show', id)).toContain('(default)')
    expect(JSON.parse(await run('show', id, '--json'))).toMatchObject({ id })
  }
  const answers = async () => {
    const asked = questionFile(fleet.fleet, asker.id)
    await eventually('the question', () => existsSync(asked) && readFileSync(asked, 'utf8').includes('> Why?'))
    await run('answer', asker.id, 'because')
    await fleet.until(asker.id, 'done', 'failed')
    expect(readFileSync(asked, 'utf8')).toMatch(/## A: .*\n\n> because/)
    expect(await run('task', asker.id, 'questions')).toContain('because')
    files.call('questions (## Q: and ## A:)')
  }
  const lists = async () => {
    await type('fleet ready [--limit]', 'ready', '--limit', '3')
    await type('fleet tasks [--limit]', 'tasks', '--limit', '3')
    await type('fleet log [N]', 'log', '5')
    expect(await start('fleet bd <args…>', 'bd', 'create', 'a bead', '--coder', 'claude')).toContain('bd-')
  }
  await Promise.all([looks(), answers(), lists()])
  await start('fleet init [--force]', 'init', '--force')
  await start('fleet config set k=v…', 'config', 'set', 'max_concurrent=3', 'coder=claude', 'model=sonnet')
  expect(await type('fleet config show [--raw]', 'config', 'show', '--raw')).toContain('max_concurrent = 3')
  for (const each of [commands, variables, files]) expect(each.forgotten()).toEqual([])
})
