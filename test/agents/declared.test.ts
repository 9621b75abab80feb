import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../kit/fleet.ts'
import { SANDBOX_WORKS } from '../kit/sandbox.ts'
import { aScene, type Scene } from '../kit/scene.ts'
import { aTeam } from '../kit/team.ts'
import { ALARMING } from './false-alarms.ts'
import { LINER, STAND_INS } from './stand-ins.ts'

const scene = () => aScene({ env: { PATH: `${STAND_INS}:${process.env.PATH}` } })

test('agents declared while the server runs do missions; agy, by its stand-in, does too', async () => {
  const { fleet, repo, project } = await scene()
  const second = { ...LINER, name: 'second-liner', title: 'Another' }
  writeFileSync(join(fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [LINER, second] }))
  for (const agent of ['liner', 'second-liner', 'agy']) {
    const { id } = await fleet.mission(project, `do: echo ${agent} >${agent}.txt`, { agent })
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'landed' })
    expect(await repo.readOn('main', `${agent}.txt`)).toBe(agent)
  }
  const { agents } = await fleet.call<{ agents: { name: string; installed: boolean }[] }>('list_agents')
  expect(agents.filter(({ installed }) => installed).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['shell', 'agy', 'liner', 'second-liner']),
  )
})

async function instructed(agent: string, name: string): Promise<void> {
  const { fleet, project } = await scene()
  const unheard = { ...LINER, arguments: {}, name: 'unheard' }
  writeFileSync(join(fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [unheard] }))
  const said = ['fleet', 'project', 'mission', 'dispatch'].map(who => `The ${who} says: "mind" ünï $HOME`)
  writeFileSync(join(fleet.fleet.home.path, 'instructions.md'), said[0]!)
  await fleet.call('update_project', { project_id: project.id, instructions: said[1] })
  const settings = { agent, append_system_prompt: said[2], auto_dispatch: false }
  // The agent uses what it was told about its report: the report is read from the file it was given.
  const report = '{"summary": "As told.", "what_done": ["x"]}'
  const { id } = await fleet.mission(project, `do: echo '${report}' >"$FLEET_RESULT_FILE"; echo x >x.txt`, settings)
  await fleet.call('dispatch_mission', { mission_id: id, append_system_prompt: said[3] })
  const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
  expect(mission).toMatchObject({ status: 'done', report: { source: 'agent', summary: 'As told.', problem: null } })
  const launch = join(fleet.fleet.home.session(mission.sessions[0]!.id), 'agent-1')
  const told = readFileSync(join(launch, name), 'utf8')
  for (const text of [...said, join(launch, 'own/result.json')]) expect(told).toContain(text)
}
test('a declared agent is instructed by fleet, project, mission and dispatch', () => instructed('unheard', 'input'))
test('agy, by its stand-in, is instructed by fleet, project, mission and dispatch', () => instructed('agy', 'input'))

test('agy, by its stand-in, is woken by mail; mail for a member at work is told at the end of its turn', async () => {
  const s = await scene()
  const crew = await aTeam(s, [])
  const held = s.gate('work')
  const file = join(s.fleet.root, 'mail')
  await crew.add('ada', { agent: 'agy', charter: `do: cat "$FLEET_MAIL_FILE" >>'${file}'; ${held.wait}` })
  const first = await crew.send('ada', 'Begin.', { wake: true })
  await eventually('it is at work', () => held.reached())
  const second = await crew.send('ada', 'Mind the storm.', { needs: 'ack' })
  expect(readFileSync(file, 'utf8')).toMatch(/Begin\.(?!.*storm)/s)
  held.open()
  const deliveries = () => Promise.all([first, second].map(async ({ id }) => (await crew.mail(id)).deliveries[0]!))
  await eventually('both are heard', async () => (await deliveries()).every(({ state }) => state === 'heard'))
  expect(await deliveries()).toMatchObject([{ heard_by: 'turn' }, { heard_by: 'turn' }])
  expect(readFileSync(file, 'utf8')).toContain('Mind the storm.')
})

test('a report that is none is written from git and the last words, and says what was wrong', async () => {
  const { fleet, project } = await scene()
  const script = 'do: echo \'{"status": "splendid"}\' >"$FLEET_RESULT_FILE"; echo x >x.txt; echo I made x.'
  const { id } = await fleet.mission(project, script, { agent: 'agy' })
  const { report } = await fleet.until(id, 'done', 'failed', 'needs_input')
  const files_changed = [{ path: 'x.txt', change: 'added' }]
  expect(report).toMatchObject({ source: 'git', summary: 'I made x.', files_changed, status: 'completed' })
  expect(report?.problem).toMatch(/result\.json, status: /)
})

test('a model that nobody knows is passed on, with a warning wherever one looks', async () => {
  const { fleet, project } = await scene()
  const known = { ...LINER, models: [{ name: 'large-2', alias: 'large' }] }
  writeFileSync(join(fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [known] }))
  const script = 'do: echo x >x.txt'
  const usual = await fleet.mission(project, script, { agent: 'liner', model: 'large' })
  const odd = await fleet.mission(project, script, { agent: 'liner', model: 'huge' })
  expect([usual.warnings, odd.warnings]).toEqual([
    [],
    [expect.stringContaining('"huge" is not a model that the fleet knows')],
  ])
  const mission = await fleet.until(odd.id, 'done', 'failed', 'needs_input')
  expect(mission).toMatchObject({ status: 'done', warnings: odd.warnings })
  const printed = join(fleet.fleet.home.session(mission.sessions[0]!.id), 'agent-1', 'stdout')
  expect(readFileSync(printed, 'utf8')).toContain('--model huge')
  const warned = (await fleet.events()).filter(({ kind }) => kind === 'unknown_model')
  expect(warned).toMatchObject([{ mission_id: odd.id, cause: odd.warnings[0] }])
  expect((await fleet.fleetCommand(['mission', 'show', odd.id])).stdout).toContain('"huge" is not a model')
})

test('a broken declaration is refused by its field, and the built-in agents work on', async () => {
  const { fleet, project } = await scene()
  writeFileSync(
    join(fleet.fleet.home.path, 'agents.json'),
    JSON.stringify({ agents: [{ ...LINER, command: 'liner' }] }),
  )
  await expect(fleet.mission(project, 'do: true', { agent: 'liner' })).rejects.toThrow(
    /agents\.json, agents\.0\.command/,
  )
  expect(await fleet.call('list_agents')).toMatchObject({ problem: expect.stringContaining('agents.0.command') })
  const { id } = await fleet.mission(project, 'echo hi >hi.txt', { agent: 'shell' })
  expect(await fleet.until(id, 'done', 'failed', 'needs_input')).toMatchObject({ status: 'done', result: 'landed' })
  const { stdout } = await fleet.fleetCommand(['doctor'])
  expect(stdout).toContain('agents.json, agents.0.command')
})

test('a session outlives its declaration: it is taken up, shown and ended, and the server is none the worse', async () => {
  const { fleet, project, gate } = await scene()
  const file = join(fleet.fleet.home.path, 'agents.json')
  writeFileSync(file, JSON.stringify({ agents: [LINER] }))
  const held = gate('work')
  const { id } = await fleet.mission(project, `do: ${held.wait}`, { agent: 'liner' })
  await eventually('it is at work', () => held.reached())

  await fleet.kill()
  writeFileSync(file, '{}')
  await fleet.start()
  held.open()
  const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
  expect(mission).toMatchObject({ status: 'failed', sessions: [{ outcome: 'failed' }] })
  expect(mission.sessions[0]!.outcome_reason).toContain('no longer declared')
})

async function declared(): Promise<Scene> {
  const it = await scene()
  writeFileSync(join(it.fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [LINER] }))
  return it
}

test.each(['liner', 'agy'])(
  '%s, by its stand-in, cancelled in the middle of a tool, leaves no process and keeps its work',
  async agent => {
    const { fleet, repo, project, gate } = await declared()
    const held = gate('tool')
    const { id } = await fleet.mission(project, `do: echo half >half.txt; (sleep 600 &); ${held.wait}`, { agent })
    await eventually('the tool runs', () => held.reached())
    await fleet.call('cancel_mission', { mission_id: id })
    const { sessions, branch } = await fleet.until(id, 'cancelled')
    expect(fleet.processes(sessions[0]!.id)).toEqual([])
    expect(await repo.readOn(branch!, 'half.txt')).toBe('half')
  },
)

test.each(['liner', 'agy'])('%s, by its stand-in, goes on while the server is dead and is taken up', async agent => {
  const { fleet, repo, project, gate } = await declared()
  const held = gate('work')
  const { id } = await fleet.mission(project, `do: ${held.wait}; echo after >after.txt`, { agent })
  await eventually('it is at work', () => held.reached())
  await fleet.kill()
  held.open()
  await fleet.start()
  expect(await fleet.until(id, 'done', 'failed', 'needs_input')).toMatchObject({ status: 'done', result: 'landed' })
  expect(await repo.readOn('main', 'after.txt')).toBe('after')
})

test.each(['liner', 'agy'])('%s, by its stand-in: 429 and the like in words is left alone', async agent => {
  const { fleet, project } = await declared()
  const { id } = await fleet.mission(project, `do: echo '${ALARMING}'; echo '${ALARMING}' >&2; echo x >x.txt`, {
    agent,
  })
  const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
  expect(mission).toMatchObject({ status: 'done', sessions: [{ outcome: 'completed' }] })
})

test('told of by a declared agent, a rate limit holds back, and it goes on in the same conversation', async () => {
  const { fleet, project } = await declared()
  const until = Math.ceil(Date.now() / 1000) + 2
  const wait = JSON.stringify({ kind: 'wait', until, words: 'Slow down.' })
  const once = `if [ -e limited ]; then echo x >x.txt; else touch limited; echo '${wait}'; exit 1; fi`
  const { id } = await fleet.mission(project, `do: ${once}`, { agent: 'liner' })
  const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
  expect(mission).toMatchObject({ status: 'done', sessions: [{ outcome: 'rate_limited' }, { outcome: 'completed' }] })
  expect(Date.parse(mission.sessions[1]!.created_at)).toBeGreaterThanOrEqual(until * 1000)
  const printed = join(fleet.fleet.home.session(mission.sessions[1]!.id), 'agent-1', 'stdout')
  expect(readFileSync(printed, 'utf8')).toContain('--continue=t-1')
})

if (SANDBOX_WORKS) {
  async function reviews(agent: string): Promise<void> {
    const { fleet, repo, project } = await scene()
    // This agent declares no presets, so only the sandbox enforces them.
    const unheld = { ...LINER, arguments: {}, name: 'unheld' }
    writeFileSync(join(fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [unheld] }))
    const told = 'do: echo x >new.txt; rm -f README.md; test -e README.md && test ! -e new.txt && echo As it was.'
    const { id } = await fleet.mission(project, told, { agent, tool_preset: 'review', mission_type: 'review' })
    const mission = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(mission, JSON.stringify(mission.status_reason)).toMatchObject({ status: 'done', result: 'no_changes' })
    expect(await repo.filesOn('main')).toEqual(['README.md'])
    expect(mission.report?.files_changed).toEqual([])
  }
  test('a declared agent under review: nothing is written or removed', () => reviews('unheld'))
  test('agy, by its stand-in, under review: nothing is written or removed', () => reviews('agy'))
}
