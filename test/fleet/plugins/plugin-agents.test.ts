import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { STAND_INS } from '../../agents/stand-ins.ts'
import { blocksOf, PAGES } from '../../docs/pages.ts'
import { eventually, type TestFleet } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

/** The example from the guide. */
const TINKER = blocksOf(PAGES.find(page => page.path === 'docs/guides/agents-as-code.md')!).find(
  block => block.info === 'ts',
)!.text

interface Plugin {
  enabled: boolean
  running: boolean
  reason: string | null
  last_fault: { text: string } | null
  agents: { name: string; kind: string }[]
}

function addPlugin(fleet: TestFleet, name: string, code: string): void {
  mkdirSync(join(fleet.root, 'home/plugins'), { recursive: true })
  writeFileSync(join(fleet.root, 'home/plugins', name), code)
}

async function plugin(fleet: TestFleet, name: string): Promise<Plugin | undefined> {
  const { plugins } = (await (await fleet.http('/api/plugins')).json()) as { plugins: (Plugin & { name: string })[] }
  return plugins.find(each => each.name === name)
}

async function withTinker(): Promise<Scene> {
  const scene = await aScene({ start: false, env: { PATH: `${STAND_INS}:${process.env.PATH}` } })
  addPlugin(scene.fleet, 'tinker.ts', TINKER)
  await scene.fleet.start()
  return scene
}

/** An agent whose client is a shell script, with these parts. */
const coded = (name: string, parts: string): string => `
  export default { agents: [{
    kind: 'code', name: '${name}', can: { presets: ['full'] },
    detect: async () => ({ installed: true }),
    launch: ({ script, directory, environment }) => ({
      argv: ['sh', directory + '/script'], env: { PATH: environment.PATH }, files: { script }, stdin: 'none' }),
    read: (text, stream) => (stream === 'stdout' ? [{ type: 'text', text }] : []),
    outcome: (_, { code }) => ({ outcome: code === 0 ? 'completed' : 'failed', reason: 'exit ' + code }),
    ${parts}
  }] }`

test('the example of the guide is an agent like any other: listed, planned with, spoken to, and its work lands', async () => {
  const { fleet, repo, project, gate } = await withTinker()
  expect(await plugin(fleet, 'tinker')).toMatchObject({ running: true, agents: [{ name: 'tinker', kind: 'code' }] })
  const listed = (await (await fleet.http('/api/agents')).json()) as { agents: { name: string }[] }
  expect(listed.agents).toContainEqual(
    expect.objectContaining({
      name: 'tinker',
      plugin: 'tinker',
      installed: true,
      path: join(STAND_INS, 'tinker'),
      can: expect.objectContaining({ resume: true, adopted: true, fork: false, presets: ['full', 'review'] }),
    }),
  )
  const held = gate('turn')
  const { id } = await fleet.mission(project, `do: ${held.wait}; echo hello >hello.txt`, { agent: 'tinker' })
  await eventually('it is at work', () => held.reached())
  const { session_id } = await fleet.show(id)
  await fleet.call('say_to_mission', { mission_id: id, text: 'do: echo more >more.txt' })
  // If it came after the turn, the next session would be told.
  const sent = join(fleet.fleet.home.session(session_id!), 'agent-1/sent')
  await eventually('it has been sent', () => readFileSync(sent, 'utf8').includes('more.txt'))
  held.open()
  const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
  expect(mission).toMatchObject({ status: 'done', result: 'landed' })
  expect(mission.sessions[0]).toMatchObject({ outcome: 'completed', usage: { output_tokens: 14, turns: 2 } })
  expect(await repo.readOn('main', 'hello.txt')).toBe('hello')
  expect(await repo.readOn('main', 'more.txt')).toBe('more')

  const agents = await fleet.fleetCommand(['agents'])
  expect(agents.stdout + agents.stderr).toContain('tinker: code of the plugin tinker, which is trusted')
  const plugins = await fleet.fleetCommand(['plugin', 'list'])
  expect(plugins.stdout + plugins.stderr).toContain('trusted to run as you: tinker (its own code)')
  const plan = { prompt: 'p', project_id: project.id, agent: 'shell' }
  await expect(fleet.call('plan_project', plan)).rejects.toMatchObject({ hint: expect.stringContaining('tinker') })
  const log = await fleet.fleetCommand(['logs', session_id!])
  expect(log.stdout).toContain('> echo more')
})

test('a server killed with the agent at work takes it up, without anyone having read a line meanwhile', async () => {
  const { fleet, repo, project, gate } = await withTinker()
  const held = gate('work')
  const { id } = await fleet.mission(project, `do: ${held.wait}; echo after >after.txt`, { agent: 'tinker' })
  await eventually('it is at work', () => held.reached())
  await fleet.kill()
  held.open()
  await fleet.start()
  const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
  expect(mission).toMatchObject({ status: 'done', result: 'landed', sessions: [{ outcome: 'completed' }] })
  expect(await repo.readOn('main', 'after.txt')).toBe('after')
})

/** What an adapter may do wrong, and the reason that its session gives. */
const FAULTY: Record<string, [part: string, reason: string]> = {
  'throws-at-launch': ['launch() { throw new Error("Not on a Sunday.") }', 'Not on a Sunday.'],
  'launches-nonsense': ['launch: () => ({ argv: [] })', 'launch gave an invalid answer: argv'],
  'writes-over-a-file-of-ours': [
    'launch: () => ({ argv: ["true"], env: {}, files: { exit: "0" }, stdin: "none" })',
    'files.exit',
  ],
  'throws-at-a-line': ['read() { throw new Error("What is this?") }', 'What is this?'],
  'reads-nonsense': ['read: () => [{ type: "song" }]', 'read gave an invalid answer'],
  'reads-what-is-no-data': ['read: text => [{ type: "raw", text, n: 1n }]', 'BigInt'],
  'hangs-at-a-line': ['read() { for (;;); }', 'read did not answer within 2 seconds'],
  'exits-at-a-line': ['read() { process.exit(0) }', 'It ended its thread'],
  'throws-at-the-end': ['outcome() { throw new Error("How would I know?") }', 'How would I know?'],
  'ends-in-nonsense': ['outcome: () => ({ outcome: "fine" })', 'outcome gave an invalid answer: outcome'],
  'makes-promises': ['outcome: async () => ({ outcome: "completed", reason: "x" })', 'outcome gave an invalid answer'],
  'cannot-begin-to-talk': [
    `launch: () => ({ argv: ['cat'], env: {}, files: {}, stdin: 'fifo' }), dialogue: { begin() { throw new Error('Shy.') }, step: s => s, due: () => [], isOver: () => true, say() {} }`,
    'Shy.',
  ],
  'loses-the-thread-of-a-talk': [
    `launch: () => ({ argv: ['cat'], env: { PATH: process.env.PATH }, files: {}, stdin: 'fifo' }), dialogue: { begin: () => ({}), step() { throw new Error('Where was I?') }, due: () => [{ id: 'a', line: 'b' }], isOver: () => false, say() {} }`,
    'Where was I?',
  ],
}

test('a faulty adapter fails its session with the reason, and harms nothing else', async () => {
  const { fleet, project } = await aScene({ start: false })
  for (const [name, [part]] of Object.entries(FAULTY)) addPlugin(fleet, `${name}.mjs`, coded(name, part))
  addPlugin(fleet, 'good.mjs', coded('good', ''))
  await fleet.start()
  const missions = await Promise.all(
    Object.keys(FAULTY).map(agent =>
      fleet.mission(project, 'echo a line; echo x >x.txt', { agent, title: agent, max_retries: 0 }),
    ),
  )
  const good = await fleet.mission(project, 'echo y >y.txt', { agent: 'good' })
  for (const { id, title } of missions) {
    const [, reason] = FAULTY[title]!
    const { status, sessions } = await fleet.until(id, 'done', 'failed', 'needs_input')
    const said = `The agent ${title}, code of the plugin ${title}, failed: `
    expect([title, status, sessions[0]!.outcome]).toEqual([title, 'failed', 'failed'])
    expect(sessions[0]!.outcome_reason).toContain(said)
    expect(sessions[0]!.outcome_reason).toContain(reason)
    expect(fleet.processes(sessions[0]!.id)).toEqual([])
    const last_fault = { text: expect.stringContaining(reason) }
    expect(await plugin(fleet, title)).toMatchObject({ enabled: true, last_fault })
  }
  expect(await fleet.until(good.id, 'done', 'failed')).toMatchObject({ status: 'done', result: 'landed' })
  // The output is still shown as it was printed.
  const unread = (await fleet.show(missions.find(({ title }) => title === 'reads-nonsense')!.id)).sessions[0]!
  const log = await fleet.fleetCommand(['logs', unread.id])
  expect([log.code, log.stdout]).toEqual([0, expect.stringContaining('a line')])
  expect((await (await fleet.http('/health')).json()) as object).toMatchObject({ status: 'ok' })
})

test('an adapter that cannot be one keeps its plugin from starting', async () => {
  const { fleet } = await aScene({ start: false })
  const unfit: Record<string, [code: string, reason: string]> = {
    taken: [coded('claude', ''), '"claude" has the name of another agent'],
    empty: [`export default { agents: [{ kind: 'code', name: 'odd' }] }`, 'is not a function'],
    boasting: [coded('odd', 'can: { interrupt: true },'), 'interrupt: needs the function dialogue.interrupt'],
    unknown: [coded('odd', 'can: { fly: true },'), 'Unrecognized key: "fly"'],
  }
  for (const [name, [code]] of Object.entries(unfit)) addPlugin(fleet, `${name}.mjs`, code)
  await fleet.start()
  for (const [name, [, reason]] of Object.entries(unfit))
    expect(await plugin(fleet, name)).toMatchObject({ enabled: false, reason: expect.stringContaining(reason) })
})

test('one that hangs again and again is switched off, and the server goes on', async () => {
  const { fleet, project } = await aScene({ start: false })
  addPlugin(fleet, 'odd.mjs', coded('odd', 'outcome() { for (;;); }'))
  await fleet.start()
  for (let n = 0; n < 3; n++) {
    const { id } = await fleet.mission(project, 'true', { agent: 'odd', max_retries: 0 })
    await fleet.until(id, 'failed')
  }
  await eventually('it is switched off', async () => (await plugin(fleet, 'odd'))?.enabled === false)
  expect((await plugin(fleet, 'odd'))?.reason).toContain('That was 3 times.')
  await expect(fleet.mission(project, 'true', { agent: 'odd' })).rejects.toThrow('There is no agent "odd"')
})

test('reloaded in the middle of a session it is read by the new code; switched off, the session says so', async () => {
  const { fleet, project, gate } = await aScene({ start: false })
  const how = (word: string) =>
    coded('odd', `outcome: ({ lastText }) => ({ outcome: 'completed', reason: '${word} ' + lastText }),`)
  addPlugin(fleet, 'odd.mjs', how('old'))
  await fleet.start()
  const [first, second] = [gate('first'), gate('second')]
  const going = await fleet.mission(project, `echo one; ${first.wait}; echo two; echo x >x.txt`, { agent: 'odd' })
  await eventually('it is at work', () => first.reached())
  addPlugin(fleet, 'odd.mjs', how('new'))
  expect((await fleet.fleetCommand(['plugin', 'reload', 'odd'])).stdout).toContain('running')
  first.open()
  expect((await fleet.until(going.id, 'done', 'failed')).sessions[0]!.outcome_reason).toBe('new two')

  const stranded = await fleet.mission(project, `echo one; echo half >half.txt; ${second.wait}; echo two`, {
    ...{ agent: 'odd', max_retries: 0 },
  })
  await eventually('it is at work', () => second.reached())
  await fleet.fleetCommand(['plugin', 'disable', 'odd'])
  expect(
    (await fleet.call<{ agents: { name: string }[] }>('list_agents')).agents.map(({ name }) => name),
  ).not.toContain('odd')
  second.open()
  const mission = await fleet.until(stranded.id, 'done', 'failed', 'needs_input')
  expect(mission).toMatchObject({ status: 'failed', sessions: [{ outcome: 'failed' }] })
  expect(mission.sessions[0]!.outcome_reason).toContain('The plugin odd is switched off')
  expect(existsSync(join(fleet.root, 'home/plugin-agents.json'))).toBe(false)

  await fleet.fleetCommand(['plugin', 'enable', 'odd'])
  await fleet.call('retry_mission', { mission_id: stranded.id })
  expect(await fleet.until(stranded.id, 'done', 'failed')).toMatchObject({ status: 'done' })

  rmSync(join(fleet.root, 'home/plugins/odd.mjs'))
  await fleet.fleetCommand(['plugin', 'reload'])
  const log = await fleet.fleetCommand(['logs', mission.sessions[0]!.id])
  expect(log.stdout).toContain('two')
  expect(readFileSync(join(fleet.root, 'home/logs/server.log'), 'utf8')).not.toContain('uncaught')
})
