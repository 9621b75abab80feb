import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LINER, STAND_INS } from '../../agents/stand-ins.ts'
import { eventually, type TestFleet } from '../../kit/fleet.ts'
import { aPlanner, planOf } from '../../kit/planner.ts'
import { aScene } from '../../kit/scene.ts'
import { aWorker } from '../../kit/worker.ts'

interface Listed {
  name: string
  enabled: boolean
  running: boolean
  reason: string | null
  faults: number
  agents: { name: string; kind: string }[]
  last_fault: { text: string } | null
}

function addPlugin(fleet: TestFleet, name: string, code: string): void {
  mkdirSync(join(fleet.root, 'home/plugins'), { recursive: true })
  writeFileSync(join(fleet.root, 'home/plugins', name), code)
}

async function listed(fleet: TestFleet): Promise<Record<string, Listed>> {
  const { plugins } = (await (await fleet.http('/api/plugins')).json()) as { plugins: Listed[] }
  return Object.fromEntries(plugins.map(each => [each.name, each]))
}

const linesIn = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [])

/** Appends its events to a file. */
const diary = (file: string, hooks: string): string => `
  import { appendFileSync, existsSync } from 'node:fs'
  const write = (hook: string, told: { event: { kind: string }; mission: { title: string } | null }) =>
    appendFileSync(${JSON.stringify(file)}, \`\${hook} \${told.event.kind} \${told.mission?.title}\\n\`)
  export default { hooks: { ${hooks} } }`

test('hooks change, refuse and are told; tools appear in every surface', async () => {
  const { fleet, project } = await aScene({ start: false })
  const file = join(fleet.root, 'diary')
  addPlugin(
    fleet,
    'diary.ts',
    diary(file, `post_complete: t => write('complete', t), post_fail: t => write('fail', t)`),
  )
  addPlugin(
    fleet,
    'policy.ts',
    `import type { Plugin } from 'flotilla/plugin'
    export default {
      description: 'Looks after the rest.',
      hooks: {
        pre_dispatch: ({ mission, project, reason }) => {
          if (mission.title === 'ask me') return { refuse: 'not today' }
          if (mission.title === 'never') return { refuse: 'not ever', status: 'failed' }
          if (mission.title === 'odd') return { change: { agent: 'nobody' } }
          return { change: { detailed_prompt: mission.detailed_prompt + '\\ndo: echo ' + project.name + reason + ' > added.txt', tags: ['seen'] } }
        },
        pre_land: ({ mission, commit }) => (mission.title === 'look' && commit ? { refuse: 'look at it first' } : undefined),
      },
      tools: {
        count: {
          summary: 'How many missions there are',
          input: { type: 'object', properties: { extra: { type: 'integer' } }, required: ['extra'] },
          read_only: true,
          run: async ({ extra }: { extra: number }, fleet) =>
            ({ missions: (await fleet.call<{ missions: unknown[] }>('list_missions')).missions.length + extra }),
        },
      },
    } satisfies Plugin`,
  )
  // Clients would see this as list_missions, which is the name of one of the fleet's own tools.
  addPlugin(fleet, 'list.mjs', `export default { tools: { missions: { summary: 'Others', run: () => 'mine' } } }`)
  await fleet.start()
  aWorker(fleet)
  const make = (title: string, more: object = {}) =>
    fleet.mission(project, 'do: echo a > a.txt', { title, agent: 'worker', ...more })
  const plain = await make('plain')
  expect(await fleet.until(plain.id, 'done', 'failed')).toMatchObject({ status: 'done', tags: ['seen'] })
  expect((await fleet.show(plain.id)).detailed_prompt).toContain('do: echo testfirst > added.txt')
  const updated = (await fleet.events()).find(event => event.kind === 'mission_updated')
  expect(updated).toMatchObject({ actor: 'plugin:policy', mission_id: plain.id })

  const asked = await make('ask me')
  expect(await fleet.until(asked.id, 'needs_input')).toMatchObject({
    status_reason: { code: 'plugin_refused', text: 'The plugin policy refuses: not today' },
    sessions: [],
  })
  const never = await make('never')
  expect((await fleet.until(never.id, 'failed')).status_reason?.text).toContain('not ever')
  const odd = await fleet.mission(project, 'do: echo b > b.txt', { title: 'odd', agent: 'worker' })
  await fleet.until(odd.id, 'done')
  await eventually('the odd change is reported', async () =>
    (await listed(fleet)).policy?.last_fault?.text.includes('a change that is not possible'),
  )

  const look = await fleet.mission(project, 'do: echo c > c.txt', { title: 'look', agent: 'worker' })
  expect((await fleet.until(look.id, 'review')).status_reason).toMatchObject({
    code: 'plugin_refused',
    text: 'The plugin policy refuses: look at it first',
  })
  await fleet.land(look.id)
  expect((await fleet.until(look.id, 'done')).landed).toMatchObject({
    forced: { by: 'person', past: 'The plugin policy refuses: look at it first' },
  })

  await eventually(
    'the diary',
    () => linesIn(file).length >= 4,
    () => linesIn(file).join('\n'),
  )
  expect(linesIn(file).sort()).toEqual([
    'complete landed look',
    'complete landed odd',
    'complete landed plain',
    'fail failed never',
  ])

  const command = await fleet.fleetCommand(['call', 'policy.count', '{"extra": 3}', '--json'])
  expect(JSON.parse(command.stdout)).toEqual({ result: { missions: 8 } })
  const wrong = await fleet.http('/api/plugins/policy/tools/count', { method: 'POST', body: '{"input":{"extra":"x"}}' })
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('extra')])
  const mcp = async (method: string, params: object = {}) => {
    const response = await fleet.http('/mcp', {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return ((await response.json()) as { result: Record<string, never[]> }).result
  }
  const { tools } = await mcp('tools/list')
  expect(tools).toContainEqual(
    expect.objectContaining({
      name: 'policy_count',
      inputSchema: expect.objectContaining({ required: ['extra'] }),
      annotations: { readOnlyHint: true },
    }),
  )
  const names = tools!.map(({ name }) => name as string)
  expect(new Set(names).size).toBe(names.length)
  const namesake = await mcp('tools/call', { name: 'plugin_list_missions', arguments: {} })
  expect(namesake.content).toEqual([{ type: 'text', text: 'mine' }])
  const { content } = await mcp('tools/call', { name: 'policy_count', arguments: { extra: 0 } })
  expect(content).toEqual([{ type: 'text', text: '{"missions":5}' }])
})

test('plugins that throw, hang, exit or talk nonsense are reported, switched off in the end, and harm nothing', async () => {
  const { fleet, project } = await aScene({ start: false, env: { FLEET_PLUGIN_TIMEOUT: '2' } })
  const hook = (name: string, body: string) => `export default { hooks: { async ${name}() { ${body} } } }`
  addPlugin(fleet, 'broken.ts', 'export default {{')
  addPlugin(fleet, 'sleeper.mjs', 'await new Promise(() => {})')
  addPlugin(fleet, 'hangs.mjs', hook('pre_dispatch', 'while (true) {}'))
  addPlugin(fleet, 'exits.mjs', hook('on_event', 'process.exit(1)'))
  addPlugin(fleet, 'throws.mjs', hook('on_event', 'throw new Error("I am no good")'))
  addPlugin(fleet, 'nonsense.mjs', hook('pre_dispatch', 'return { change: 7, more: [] }'))
  addPlugin(fleet, 'leaves.mjs', 'export default { start() { setTimeout(() => process.exit(0)) } }')
  const flood = '(await import("node:worker_threads")).parentPort'
  addPlugin(
    fleet,
    'floods.mjs',
    hook(
      'on_event',
      `const port = ${flood}; for (let n = 0; n < 1e5; n++) port.postMessage({ kind: "log", text: "x" })`,
    ),
  )
  addPlugin(fleet, 'weird.js', hook('pre_land', 'return "no"'))
  await fleet.start()
  expect(await listed(fleet)).toMatchObject({
    broken: { enabled: false, running: false, reason: expect.stringContaining('Unexpected token') },
    sleeper: { enabled: false, reason: expect.stringContaining('did not start within 6 seconds') },
    hangs: { enabled: true, running: true },
    webhook: { enabled: false, running: false, reason: null },
  })
  for (const title of ['one', 'two', 'three']) {
    const mission = await fleet.mission(project, `echo ${title} > ${title}.txt`, { title })
    await fleet.until(mission.id, 'done')
  }
  await eventually(
    'the worst are switched off',
    async () => {
      const now = await listed(fleet)
      return ['hangs', 'exits', 'leaves', 'floods'].every(name => !now[name]?.enabled)
    },
    async () => JSON.stringify(await listed(fleet)),
  )
  expect(await listed(fleet)).toMatchObject({
    hangs: { running: false, reason: expect.stringContaining('pre_dispatch did not answer within 2 seconds') },
    exits: { running: false, reason: expect.stringContaining('exit code 1') },
    leaves: { running: false, reason: expect.stringContaining('exit code 0') },
    floods: { running: false, reason: 'It flooded the fleet with messages. That was 3 times.' },
    throws: { running: true, last_fault: { text: 'on_event: I am no good' } },
    nonsense: { running: true, last_fault: { text: expect.stringContaining('pre_dispatch gave an invalid answer') } },
    weird: { running: true, last_fault: { text: expect.stringContaining('pre_land gave an invalid answer') } },
  })
  const faults = (await fleet.events()).filter(event => event.kind === 'plugin_fault')
  expect(new Set(faults.map(event => event.data.plugin))).toEqual(
    new Set(['hangs', 'exits', 'leaves', 'floods', 'throws', 'nonsense', 'weird']),
  )
  // It fails at every event, but is reported once.
  expect(faults.filter(event => event.data.plugin === 'throws')).toHaveLength(1)
  const { stdout } = await fleet.fleetCommand(['plugin', 'list'])
  expect(stdout).toContain('nonsense')
  expect(readFileSync(join(fleet.root, 'home/logs/server.log'), 'utf8')).toContain('I am no good')
  expect((await (await fleet.http('/health')).json()) as object).toMatchObject({ status: 'ok' })
})

test('switched on and off for good, reloaded, and told at least once across kill -9', async () => {
  const { fleet, project } = await aScene({ start: false })
  const file = join(fleet.root, 'diary')
  // The first server is killed while the hook runs, so the hook never finishes there.
  const gate = join(fleet.root, 'gate')
  const slow = `post_complete: async t => {
    appendFileSync(${JSON.stringify(`${gate}.here`)}, '')
    if (!existsSync(${JSON.stringify(gate)})) await new Promise(() => {})
    write('complete', t)
  }`
  addPlugin(fleet, 'diary.ts', diary(file, slow))
  addPlugin(fleet, 'other.mjs', 'export default { hooks: { pre_dispatch: () => ({ refuse: "no" }) } }')
  await fleet.start()
  const off = await fleet.fleetCommand(['plugin', 'disable', 'other'])
  expect(off).toMatchObject({ code: 0, stdout: expect.stringContaining('off') })
  const first = await fleet.mission(project, 'echo 1 > 1.txt', { title: 'first' })
  await fleet.until(first.id, 'done')
  await eventually('the plugin hears of it', () => existsSync(`${gate}.here`))
  await fleet.kill()
  expect(linesIn(file)).toEqual([])
  writeFileSync(gate, '')
  await fleet.start()
  expect(await listed(fleet)).toMatchObject({ other: { enabled: false, running: false }, diary: { running: true } })
  const second = await fleet.mission(project, 'echo 2 > 2.txt', { title: 'second' })
  await fleet.until(second.id, 'done')
  await eventually('both are told', () =>
    ['first', 'second'].every(title => linesIn(file).includes(`complete landed ${title}`)),
  )

  addPlugin(fleet, 'diary.ts', 'throw new Error("torn out")')
  const torn = await fleet.fleetCommand(['plugin', 'reload', 'diary'])
  expect(torn.stdout + torn.stderr).toContain('switched off: torn out')
  addPlugin(fleet, 'diary.ts', diary(file, `post_complete: t => write('again', t)`))
  expect((await fleet.fleetCommand(['plugin', 'reload', 'diary'])).stdout).toContain('running')
  expect((await fleet.fleetCommand(['plugin', 'enable', 'other'])).stdout).toContain('running')
  const third = await fleet.mission(project, 'echo 3 > 3.txt', { title: 'third' })
  await fleet.until(third.id, 'needs_input')
  await fleet.fleetCommand(['plugin', 'disable', 'other'])
  await fleet.call('retry_mission', { mission_id: third.id })
  await fleet.until(third.id, 'done')
  await eventually('the mended one is told', () => linesIn(file).includes('again landed third'))
  expect((await fleet.events()).filter(event => event.kind === 'plugin_enabled')).toHaveLength(2)
  expect((await fleet.fleetCommand(['plugin', 'enable', 'nobody'])).code).toBe(4)
  rmSync(join(fleet.root, 'home/plugins/diary.ts'))
  expect((await fleet.fleetCommand(['plugin', 'reload'])).stdout).not.toContain('diary')
  await expect(fleet.call('reload_plugins', { plugin: 'diary' })).rejects.toThrow('There is no plugin "diary"')
})

test('a server that stops while a plugin is asked decides nothing; the next one asks again', async () => {
  const { fleet, project } = await aScene({ start: false })
  const gate = join(fleet.root, 'gate')
  const wait = `appendFileSync(${JSON.stringify(`${gate}.here`)}, 'x'); if (!existsSync(${JSON.stringify(gate)})) for (;;);`
  const hooks = `pre_land() { ${wait} return { refuse: 'no' } }, on_event() {}`
  addPlugin(fleet, 'slow.ts', diary(join(fleet.root, 'diary'), hooks))
  await fleet.start({ env: { FLEET_PLUGIN_TIMEOUT: '600' } })
  const mission = await fleet.mission(project, 'echo a > a.txt')
  await eventually('it is asked', () => existsSync(`${gate}.here`))
  await fleet.stop()
  expect((await fleet.show(mission.id)).status).toBe('landing')
  writeFileSync(gate, '')
  await fleet.start()
  expect((await fleet.until(mission.id, 'review', 'done')).status_reason?.code).toBe('plugin_refused')
  expect(readFileSync(`${gate}.here`, 'utf8')).toBe('xx')
})

test('a plugin is not told of what it did itself: answering every event is no loop', async () => {
  const { fleet, project } = await aScene({ start: false })
  const comment = `async ({ event, mission }, fleet) => {
    if (mission) await fleet.call('comment_mission', { mission_id: mission.id, body: event.kind + ' by ' + event.actor })
  }`
  addPlugin(fleet, 'echo.mjs', `export default { hooks: { on_event: ${comment} } }`)
  await fleet.start()
  const { id } = await fleet.mission(project, 'echo a > a.txt')
  await fleet.until(id, 'done')
  const { id: other } = await fleet.mission(project, 'echo b > b.txt', { auto_dispatch: false })
  await fleet.call('comment_mission', { mission_id: other, body: 'a person says so' })
  const bodies = async (mission_id: string) =>
    (await fleet.call<{ comments: { body: string }[] }>('list_comments', { mission_id })).comments.map(c => c.body)
  await eventually('it has seen the last of it', async () => (await bodies(other)).includes('commented by person'))
  expect((await bodies(id)).filter(body => body.startsWith('landed'))).toEqual(['landed by fleet'])
  expect([...(await bodies(id)), ...(await bodies(other))].filter(body => body.includes('plugin:'))).toEqual([])
  expect((await listed(fleet)).echo).toMatchObject({ running: true, faults: 0 })
})

test('a package named in the configuration brings an agent; a name that is taken keeps a plugin from starting', async () => {
  const { fleet, repo, project } = await aScene({ start: false })
  const folder = join(fleet.root, 'home/plugins/node_modules/@some/liner-plugin')
  mkdirSync(join(folder, 'lib'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"type": "module", "exports": {".": {"import": "./lib/main.js"}}}')
  writeFileSync(join(folder, 'lib/main.js'), `export default { agents: [${JSON.stringify(LINER)}] }`)
  addPlugin(fleet, 'copy.mjs', `export default { agents: [${JSON.stringify({ ...LINER, name: 'shell' })}] }`)
  await fleet.start({
    env: { FLEET_PLUGINS: '@some/liner-plugin,/nowhere/x.js', PATH: `${STAND_INS}:${process.env.PATH}` },
  })
  expect(await listed(fleet)).toMatchObject({
    'some-liner-plugin': { running: true, agents: [{ name: 'liner', kind: 'custom' }] },
    x: { enabled: false, reason: 'There is nothing to run at /nowhere/x.js.' },
    copy: { enabled: false, reason: expect.stringContaining('"shell" has the name of another agent') },
  })
  // Created by this process, which runs no plugins: every process of the home knows the agent.
  const { id } = await fleet.mission(project, 'do: echo hello >hello.txt', { agent: 'liner' })
  expect(await fleet.until(id, 'done', 'failed')).toMatchObject({ status: 'done' })
  expect(await repo.readOn('main', 'hello.txt')).toBe('hello')
  await fleet.fleetCommand(['plugin', 'disable', 'some-liner-plugin'])
  await expect(fleet.mission(project, 'do: true', { agent: 'liner' })).rejects.toThrow('There is no agent "liner"')
})

test('a plan may be refused or changed before it is worked out, and is told of after', async () => {
  const { fleet, project } = await aScene({ start: false })
  const file = join(fleet.root, 'diary')
  aPlanner(fleet).says(planOf({ key: 'a', script: 'true' }))
  addPlugin(
    fleet,
    'plans.ts',
    diary(
      file,
      `pre_plan: ({ mission }) => mission.title.includes('war') ? { refuse: 'only peace' } : { change: { tags: ['planned'] } },
      post_plan: t => write('plan', t)`,
    ),
  )
  await fleet.start()
  const plan = (prompt: string) =>
    fleet.call<{ id: string; mission_id: string }>('plan_project', { prompt, project_id: project.id, agent: 'planner' })
  const until = (id: string, status: string) =>
    eventually(`the plan ${status}`, async () => {
      const found = await fleet.call<{ status: string; reason?: unknown }>('get_plan', { plan_id: id })
      return found.status === status ? found : undefined
    })
  const war = await plan('war')
  expect(JSON.stringify(await until(war.id, 'failed'))).toContain('only peace')
  const peace = await plan('peace')
  await until(peace.id, 'proposed')
  expect((await fleet.show(peace.mission_id)).tags).toEqual(['planned'])
  await eventually('both are told', () => linesIn(file).length === 2)
  expect(linesIn(file)).toEqual(['plan plan_failed Plan: war', 'plan plan_proposed Plan: peace'])
})
