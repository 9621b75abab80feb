import { expect, test } from 'vitest'
import { Forbidden, type Refusal } from '../domain/errors.ts'
import { Device } from '../domain/records/device.ts'
import { PluginRecord } from '../domain/records/plugin.ts'
import type { Grant, Role } from '../domain/records/principal.ts'
import { aMission, aProject, NOW } from '../domain/samples.testkit.ts'
import { fleetState } from '../fleet/records.ts'
import { aBench } from '../fleet/workshop.testkit.ts'
import { askOf } from './ask.ts'
import { authorize } from './authorize.ts'
import { operationNamed } from './index.ts'
import type { Caller, Principal } from './operation.ts'
import { authorizeTopic } from './topics.ts'
import { aPrincipal } from './two-projects.testkit.ts'

const in1 = (role: Role): Grant[] => [{ role, project_id: 'p1' }]

/** Two projects, and how somebody asks. */
async function aWorld() {
  const bench = aBench()
  await bench.save(
    'projects',
    aProject({ id: 'p1', name: 'one' }),
    aProject({ id: 'p2', name: 'secret-plans', path: '/two' }),
  )
  const ask = <T>(caller: Caller, name: string, input: object = {}) =>
    askOf(bench.fleet, { caller, signal: AbortSignal.timeout(5000) })<T>(name, input)
  return { ...bench, ask }
}

test('whoever may only review sends work back as it is, and does not change how it is done', async () => {
  const { fleet, save } = await aWorld()
  await save('missions', aMission({ id: 'm1', project_id: 'p1', status: 'review' }))
  const sends = (role: Role, settings: object) =>
    authorize(
      operationNamed('send_back_mission')!,
      { fleet, caller: aPrincipal(in1(role)) },
      { mission_id: 'm1', message: 'once more', ...settings },
    )
  await sends('merger', {})
  const changes = [{ agent: 'shell' }, { tool_preset: 'full' }, { allowed_tools: ['Bash'] }, { max_budget_usd: 1000 }]
  for (const settings of changes) {
    await expect(sends('merger', settings), JSON.stringify(settings)).rejects.toThrow('missions.run')
    await sends('coordinator', settings)
  }
})

test('a token with less than its person has nothing to do with the browsers and the messages of that person', async () => {
  const { ask, save } = await aWorld()
  const key = { kind: 'shared' as const, value: 'a'.repeat(43) }
  const device = Device.parse({
    ...{
      id: 'browser1',
      name: 'her phone',
      user_agent: 'x',
      signed_in_at: NOW,
      expires_at: '2999-01-01T00:00:00.000Z',
    },
    ...{ key, principal_id: 'ada' },
  })
  await save('devices', device)
  const whole = aPrincipal(in1('team-lead'))
  const limited: Principal[] = [
    aPrincipal(in1('team-lead'), { limit: in1('monitor'), token: 't1' }),
    aPrincipal(in1('team-lead'), { kind: 'service', limit: in1('worker'), token: 't2', forAgent: true, team: 'x' }),
  ]
  expect(await ask(whole, 'list_devices')).toMatchObject({ devices: [{ id: 'browser1' }] })
  for (const caller of limited) {
    expect(await ask(caller, 'list_devices'), caller.kind).toEqual({ devices: [] })
    await expect(ask(caller, 'sign_out_device', { device_id: 'browser1' }), caller.kind).rejects.toThrow()
    await expect(ask(caller, 'get_notification_settings'), caller.kind).rejects.toThrow(Forbidden)
  }
  expect(await ask(whole, 'sign_out_device', { device_id: 'browser' })).toEqual({ device_id: 'browser1' })
})

test('who may not change settings sees no names of projects and groups in them, and no reason with a piece of the file', async () => {
  const { fleet, ask } = await aWorld()
  const settings = { ...fleet.settings, oidcGroups: ['web-team=team-lead@secret-plans', 'admins=owner'] }
  Object.defineProperty(fleet.configuration, 'settings', { value: settings })
  Object.defineProperty(fleet.configuration, 'fault', { value: new Error('fleet.toml: [secret-plans] is wrong') })
  const seen = async (grants: Grant[]) =>
    JSON.stringify([await ask(aPrincipal(grants), 'get_settings'), await ask(aPrincipal(grants), 'system_status')])
  for (const role of ['team-lead', 'worker', 'monitor'] as const)
    for (const project_id of ['p1', null])
      expect(await seen([{ role, project_id }]), `${role} ${project_id}`).not.toMatch(/secret-plans|web-team/)
  expect(await seen([{ role: 'owner', project_id: null }])).toMatch(/secret-plans/)
})

test('how often the work of others failed is not told', async () => {
  const { fleet, ask } = await aWorld()
  const { value, expects } = await fleetState(fleet)
  const next = { ...value, fault_counts: { sessions: 7 } }
  await fleet.store.commit({ changes: [{ put: 'fleet', value: next, expects }] })
  const counts = async (project_id: string | null) =>
    (await ask<{ fault_counts: object }>(aPrincipal([{ role: 'monitor', project_id }]), 'system_status')).fault_counts
  expect(await counts(null)).toEqual({ sessions: 7 })
  expect(await counts('p1')).toEqual({})
})

test('events about people, tokens, browsers and settings are for who may see these', async () => {
  const { fleet, ask } = await aWorld()
  const of = { time: NOW, data: { name: 'the-secret-name', changed: { oidc_groups: { from: [], to: ['x'] } } } }
  const kinds = ['principal_added', 'token_made', 'device_signed_in', 'settings_changed', 'plugin_fault'] as const
  await fleet.store.commit({
    changes: [],
    events: [
      ...kinds.map(kind => ({ ...of, kind, actor: 'person' })),
      { ...of, kind: 'device_signed_out', actor: 'person:ada' },
      { ...of, kind: 'paused', actor: 'person', data: {} },
    ],
  })
  const told = async (role: Role) => {
    const caller = aPrincipal([{ role, project_id: null }])
    const { events } = await ask<{ events: { kind: string }[] }>(caller, 'list_events')
    const topic = await authorizeTopic({ fleet, caller }, 'fleet')
    const followed: string[] = []
    const beginning = (await fleet.store.events({ limit: 1 })).events[0]!.cursor
    for await (const { kind } of topic.follow(beginning, AbortSignal.timeout(5000))) {
      followed.push(kind)
      if (kind === 'paused') break
    }
    const listed = events.map(({ kind }) => kind)
    // The first event is where it was followed from.
    expect(followed).toEqual(listed.filter(kind => kind !== 'principal_added'))
    return listed
  }
  for (const role of ['worker', 'coordinator', 'merger', 'monitor'] as const)
    expect(await told(role), role).toEqual(['device_signed_out', 'paused'])
  const people = ['principal_added', 'token_made', 'device_signed_in', 'device_signed_out', 'paused']
  expect(await told('team-lead')).toEqual(people)
  expect(await told('owner')).toEqual([...kinds, 'device_signed_out', 'paused'])
})

test('how plugins are set, and what went wrong with them, is for who manages plugins', async () => {
  const { save, ask } = await aWorld()
  interface Shown {
    plugins: { name: string; file: string | null; settings: unknown[]; last_fault: unknown; reason: string | null }[]
  }
  const fault = { at: NOW, text: 'cannot tell "The secret plan"' }
  const owner = aPrincipal([{ role: 'owner', project_id: null }])
  const { plugins } = await ask<Shown>(owner, 'list_plugins')
  const { name } = plugins.find(({ settings }) => settings.length)!
  const record = { id: name, enabled: false, reason: 'It failed at "The secret plan".', last_fault: fault }
  await save('plugins', PluginRecord.parse({ ...record, updated_at: NOW }))
  const seen = async (grants: Grant[]) =>
    (await ask<Shown>(aPrincipal(grants), 'list_plugins')).plugins.find(each => each.name === name)!
  expect(await seen([{ role: 'owner', project_id: null }])).toMatchObject({ last_fault: fault, reason: record.reason })
  for (const role of ['team-lead', 'worker', 'monitor'] as const)
    for (const project_id of ['p1', null]) {
      const shown = await seen([{ role, project_id }])
      expect(shown).toMatchObject({ file: null, settings: [], last_fault: null, reason: 'The fleet switched it off.' })
      expect(JSON.stringify(shown)).not.toContain('secret')
    }
})

test('the policy of a team grants no script to somebody who may start nothing', async () => {
  const { ask } = await aWorld()
  const team = { project_id: 'p1', name: 'alpha', spawning: 'grant' }
  await ask({ kind: 'owner' }, 'create_team', team)
  const asks = async (caller: Caller, agent: string) =>
    (
      await ask<{ state: string }>(caller, 'spawn_request', {
        ...{ team_id: 'alpha', agent_type: 'worker', agent, task: 'cat /root/secret' },
      })
    ).state
  const agentOf = aPrincipal(in1('team-lead'), { id: 'bob', kind: 'service', limit: in1('worker'), forAgent: true })
  expect(await asks(aPrincipal(in1('worker')), 'shell')).toBe('requested')
  expect(await asks(agentOf, 'shell')).toBe('requested')
  expect(await asks(aPrincipal(in1('coordinator'), { id: 'cleo' }), 'shell')).toBe('spawned')
})

test('an agent with a JWT lands nothing that waits for a person, and lets nothing land by itself', async () => {
  const { ask, save } = await aWorld()
  await save('projects', aProject({ id: 'p3', name: 'three', path: '/three', landing: 'auto' }))
  const of = { status: 'review' as const, result: null }
  await save('missions', aMission({ ...of, id: 'waits', project_id: 'p1' }))
  await save('missions', aMission({ ...of, id: 'free', project_id: 'p3' }))
  await save('missions', aMission({ ...of, id: 'held', project_id: 'p3', landing: 'review' }))
  const grants: Grant[] = [{ role: 'team-lead', project_id: null }]
  const agent = aPrincipal(grants, { kind: 'service', limit: grants, token: 't', forAgent: true })
  const refusal = async (caller: Caller, name: string, input: object) =>
    (await ask(caller, name, input).catch((error: Refusal) => error)) as Refusal
  for (const mission_id of ['waits', 'held']) {
    const merges = { mission_id, expected: 'abcdef0' }
    expect((await refusal(agent, 'land_mission', { mission_id })).message).toContain('An agent lands only')
    expect((await refusal(agent, 'merge_pull_request', merges)).message).toContain('An agent lands only')
  }
  // Why these are refused has nothing to do with who asks: there is no candidate.
  for (const [caller, mission_id] of [
    [agent, 'free'],
    [aPrincipal(grants), 'waits'],
  ] as const)
    expect((await refusal(caller, 'land_mission', { mission_id })).code, mission_id).not.toBe('forbidden')
  const made = { project_id: 'p1', title: 'x', prompt: 'x', agent: 'shell', landing: 'auto' }
  expect((await refusal(agent, 'create_mission', made)).code).toBe('forbidden')
  expect((await refusal(agent, 'update_mission', { mission_id: 'waits', landing: 'auto' })).code).toBe('forbidden')
  expect((await refusal(agent, 'update_project', { project_id: 'p1', landing: 'auto' })).code).toBe('forbidden')
  // Without a policy of its own, work is under that of its project.
  for (const name of ['update_mission', 'resume_mission'])
    expect((await refusal(agent, name, { mission_id: 'held', landing: null })).code, name).toBe('forbidden')
  expect((await refusal(agent, 'update_mission', { mission_id: 'waits', landing: null })).code).not.toBe('forbidden')
  expect((await refusal(agent, 'update_project', { project_id: 'p1', agents_may_land: true })).code).toBe('forbidden')
  expect(await ask(aPrincipal(grants), 'create_mission', made)).toMatchObject({ landing: 'auto' })
  await ask(aPrincipal(grants), 'update_project', { project_id: 'p1', agents_may_land: true })
  expect((await refusal(agent, 'land_mission', { mission_id: 'waits' })).code).not.toBe('forbidden')
})

test('whoever may not land makes nothing of a mission that lands by itself', async () => {
  const { fleet, ask, save } = await aWorld()
  const settings = { project_id: 'p1', landing: 'auto' as const, otherwise: null, status: 'done' as const }
  await save('missions', aMission({ ...settings, id: 'lands' }), aMission({ ...settings, id: 'kept', landing: null }))
  const coordinator = aPrincipal(in1('coordinator'))
  const refusal = async (caller: Caller, name: string, input: object) =>
    ((await ask(caller, name, input).catch((error: Refusal) => error)) as Refusal).code
  for (const [name, more] of [
    ['fork_mission', { message: 'do something else' }],
    ['reopen_mission', { message: 'do something else' }],
    ['send_back_mission', { message: 'do something else' }],
    ['generate_next', {}],
    ['schedule_mission', { cron: '0 5 * * *', time_zone: 'UTC' }],
    ['update_mission', { prompt: 'do something else' }],
  ] as const) {
    expect(await refusal(coordinator, name, { mission_id: 'lands', ...more }), name).toBe('forbidden')
    expect(await refusal(coordinator, name, { mission_id: 'kept', ...more }), name).not.toBe('forbidden')
    expect(await refusal(aPrincipal(in1('team-lead')), name, { mission_id: 'lands', ...more }), name).not.toBe(
      'forbidden',
    )
  }
  // It may be made to wait for somebody who lands it.
  const waits = { mission_id: 'lands', message: 'x', landing: 'review' }
  expect(await refusal(coordinator, 'fork_mission', waits)).not.toBe('forbidden')
  expect((await fleet.store.get('missions', 'lands'))!.value.landing).toBe('auto')
})
