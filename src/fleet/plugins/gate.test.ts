import { expect, test } from 'vitest'
import type { Mission } from '../../domain/records/mission.ts'
import { aMission, aProject, aSession } from '../../domain/samples.testkit.ts'
import type { Hook, Verdict } from '../../plugins/contract.ts'
import { aFleet } from '../fleet.testkit.ts'
import { aDesk } from '../reactor.testkit.ts'
import { change, commitsOf, keep, meanwhile, read } from '../records.testkit.ts'
import { current, put } from '../records.ts'
import { DispatchGate, objectionToLanding } from './gate.ts'
import type { RunningPlugins } from './running.ts'

type Says = (input: { mission: { title: string } }) => object | undefined | Promise<object | undefined>
type Hooks = Partial<Record<Hook, Says>>

/** A queued mission, plugins with these hooks, and the gate that asks them. */
async function aGate(plugins: Record<string, Hooks>, more: Partial<Mission> = {}) {
  const fleet = aFleet()
  await keep(fleet, 'projects', aProject())
  await keep(fleet, 'missions', aMission({ status: 'queued', ...more }))
  const heard: string[] = []
  const blamed: string[] = []
  const host = {
    listening: (hook: Hook) => Object.keys(plugins).filter(name => plugins[name]![hook]),
    hear: async (name: string, hook: Hook, input: Parameters<Says>[0], answer: { parse(said: unknown): Verdict }) => {
      heard.push(`${name} ${hook}`)
      return answer.parse(await plugins[name]![hook]!(input))
    },
    askAs: async (name: string, _: string, { mission_id, ...fields }: Partial<Mission> & { mission_id: string }) => {
      if ('nonsense' in fields) throw new Error('There is no field nonsense.')
      const { value, version } = await current(fleet, 'missions', mission_id)
      const event = {
        kind: 'mission_updated' as const,
        time: fleet.now(),
        actor: `plugin:${name}`,
        mission_id,
        data: {},
      }
      await fleet.store.commit({ changes: [put('missions', { ...value, ...fields }, version)], events: [event] })
    },
    blame: (name: string, what: string) => blamed.push(`${name}: ${what}`),
  }
  fleet.plugins.host = host as unknown as RunningPlugins
  const work: Promise<unknown>[] = []
  const passes: number[] = []
  const goOn = (_: string, going: Promise<unknown>) => void work.push(going)
  const gate = new DispatchGate(fleet, { ...aDesk(), goOn, passIn: ms => void passes.push(ms) })
  const lets = async () => gate.lets(await current(fleet, 'missions', 'm1'))
  const answered = async () => {
    while (work.length) await work.shift()
  }
  return { fleet, gate, heard, blamed, passes, lets, answered, mission: () => read(fleet, 'missions', 'm1') }
}

test('where nobody wants to be asked, it starts at once', async () => {
  const { lets, heard } = await aGate({ one: { pre_land: () => undefined } })
  expect(await lets()).toBe(true)
  expect(heard).toEqual([])
})

test('it waits until everybody was asked, once, and dispatch looks again then', async () => {
  const { lets, heard, answered, passes } = await aGate({ one: { pre_dispatch: () => undefined } })
  expect([await lets(), await lets()]).toEqual([false, false])
  await answered()
  expect(passes).toEqual([0])
  expect(await lets()).toBe(true)
  expect(heard).toEqual(['one pre_dispatch'])
})

test('a mission that was changed since, or starts over, is asked about again', async () => {
  const { fleet, gate, lets, heard, answered } = await aGate({ one: { pre_dispatch: () => undefined } })
  await lets()
  await answered()
  await change(fleet, 'missions', 'm1', { title: 'another' })
  expect(await lets()).toBe(false)
  await answered()
  expect(await lets()).toBe(true)
  gate.forget('m1')
  expect(await lets()).toBe(false)
  await answered()
  expect(heard).toHaveLength(3)
})

test.each<[string, object, Partial<Mission>, Mission['status']]>([
  ['refuses', { refuse: 'Not on Fridays.' }, {}, 'needs_input'],
  ['refuses for good', { refuse: 'Not on Fridays.', status: 'failed' }, {}, 'failed'],
  ['refuses a planner', { refuse: 'Not on Fridays.' }, { planning: 'plan1' }, 'failed'],
])('a plugin that %s is named with its reason', async (_, verdict, more, status) => {
  const { lets, answered, mission } = await aGate({ one: { pre_dispatch: () => verdict } }, more)
  await lets()
  await answered()
  expect(await mission()).toMatchObject({
    status,
    status_reason: { code: 'plugin_refused', text: 'The plugin one refuses: Not on Fridays.' },
  })
})

test('a refusal of what has become something else since is not written', async () => {
  const { fleet, lets, answered, mission } = await aGate({ one: { pre_dispatch: () => ({ refuse: 'No.' }) } })
  meanwhile(fleet, () => change(fleet, 'missions', 'm1', { title: 'another' }))
  await lets()
  await answered()
  expect(await mission()).toMatchObject({ status: 'queued', title: 'another' })
  expect(await lets()).toBe(false)
})

test('a planner is asked about as a plan first, and then like any mission', async () => {
  const both: Hooks = { pre_plan: () => undefined, pre_dispatch: () => undefined }
  const { lets, answered, heard } = await aGate({ one: both, two: both }, { planning: 'plan1' })
  await lets()
  await answered()
  expect(heard).toEqual(['one pre_plan', 'two pre_plan', 'one pre_dispatch', 'two pre_dispatch'])
})

test('what one plugin changes the next one sees, and then it starts as it is', async () => {
  const seen: string[] = []
  const { lets, answered, mission } = await aGate({
    one: { pre_dispatch: () => ({ change: { title: 'better' } }) },
    two: { pre_dispatch: ({ mission: { title } }) => void seen.push(title) },
  })
  await lets()
  await answered()
  expect(seen).toEqual(['better'])
  expect((await mission()).title).toBe('better')
  expect(await lets()).toBe(true)
})

test('a change that is not possible is its fault, and the mission starts all the same', async () => {
  const { lets, answered, blamed } = await aGate({ one: { pre_dispatch: () => ({ change: { nonsense: 1 } }) } })
  await lets()
  await answered()
  expect(blamed).toEqual(['one: pre_dispatch wants a change that is not possible: There is no field nonsense.'])
  expect(await lets()).toBe(true)
})

test('what a person changes while a plugin thinks stands, and it is asked about that', async () => {
  const { fleet, lets, answered, mission } = await aGate({
    one: {
      pre_dispatch: async ({ mission: { title } }) => {
        if (title === 'a mission') await change(fleet, 'missions', 'm1', { title: 'as a person wants' })
        return title === 'a mission' ? { change: { title: 'as the plugin wants' } } : undefined
      },
    },
  })
  await lets()
  await answered()
  expect((await mission()).title).toBe('as a person wants')
  expect(await lets()).toBe(false)
  await answered()
  expect(await lets()).toBe(true)
})

test('when asking fails there is another try, a little later', async () => {
  const { fleet, lets, answered, passes } = await aGate({ one: { pre_dispatch: () => undefined } })
  fleet.blobs.read = async () => {
    throw new Error('The disk does not answer.')
  }
  await lets()
  await expect(answered()).rejects.toThrow('The disk does not answer.')
  expect(passes).toEqual([1000])
})

test('the first plugin that refuses a landing is named, and nothing is written here', async () => {
  const plugins = {
    one: { pre_land: () => undefined },
    two: { pre_land: () => ({ refuse: 'It is too large.' }) },
    three: { pre_land: () => ({ refuse: 'Nor do I.' }) },
  }
  const { fleet, heard, mission } = await aGate(plugins)
  const about = { mission: await mission(), project: aProject(), session: aSession() }
  expect(await commitsOf(fleet, () => objectionToLanding(fleet, about))).toBe(0)
  expect(await objectionToLanding(fleet, about)).toMatchObject({
    text: 'The plugin two refuses: It is too large.',
    try: 'fleet land m1',
  })
  expect(heard).not.toContain('three pre_land')
})

test('without plugins at work nobody objects', async () => {
  const fleet = aFleet()
  const about = { mission: aMission(), project: aProject(), session: aSession() }
  expect(await objectionToLanding(fleet, about)).toBeUndefined()
  expect(new DispatchGate(fleet, aDesk()).lets({ value: aMission(), version: 'v' as never })).toBe(true)
})
