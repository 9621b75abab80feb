import { expect, test } from 'vitest'
import { Refusal } from '../domain/errors.ts'
import type { Grant, Role } from '../domain/records/principal.ts'
import { aMission, NOW } from '../domain/samples.testkit.ts'
import { aFleet } from '../fleet/fleet.testkit.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { addPrincipal } from '../fleet/people/principals.ts'
import { keep } from '../fleet/records.testkit.ts'
import { placeIn } from './aliases/shared.ts'
import { askOf } from './ask.ts'
import { authorize } from './authorize.ts'
import { OPERATIONS } from './index.ts'
import type { Operation, Principal, Query } from './operation.ts'
import { parseInput, routeOf } from './shape.ts'
import { addTeam, aPrincipal, FOREIGN, fill, OWN, refsOf, saveCounts } from './two-projects.testkit.ts'

/**
 * Whoever may see one project gets the same answers as in a fleet in which nothing else exists. These are the only
 * exceptions, and what they show of the whole machine.
 */
const SHARED: Readonly<Record<string, string>> = {
  system_status: 'free disk, capacity and the state of the server',
  list_agents: 'the programs on the machine',
}

const queries = OPERATIONS.filter(({ kind }) => kind === 'query') as Query[]
const ada = aPrincipal([{ role: 'team-lead', project_id: OWN }])

async function aWorld(...projects: string[]): Promise<Fleet> {
  const fleet = aFleet({ now: () => NOW })
  for (const project of projects) await fill(fleet, project)
  await saveCounts(fleet, ...projects)
  return fleet
}

/** Every query, about her project, about the other one, and about nothing in particular. */
function questions(): { operation: Query; about: string; input: Record<string, unknown> }[] {
  // Those that wait would only take long.
  const quick = queries.filter(({ name }) => !name.startsWith('wait_for_'))
  return quick.flatMap(operation => {
    const fields = Object.keys(operation.input.shape)
    const named = fields.filter(field => field in refsOf(OWN))
    const required = named.filter(field => !operation.input.shape[field]!.safeParse(undefined).success)
    const with_ = (project: string, which: string[]) =>
      Object.fromEntries(which.map(field => [field, refsOf(project)[field]]))
    return [
      { operation, about: 'nothing', input: with_(OWN, required) },
      ...(named.length ? [OWN, FOREIGN].map(about => ({ operation, about, input: with_(about, named) })) : []),
      // One thing after the other, because the first that is not found ends it.
      ...named.map(field => ({
        operation,
        about: `${field} of another project`,
        input: { ...with_(OWN, required), [field]: refsOf(FOREIGN)[field] },
      })),
    ]
  })
}

async function answer(
  fleet: Fleet,
  operation: Query,
  input: Record<string, unknown>,
  caller: Principal = ada,
): Promise<unknown> {
  const more = { text: 'review', cron: '0 5 * * *', path: 'a.txt', side: 'new', from: 1, count: 1, template: 't' }
  const fields = Object.keys(operation.input.shape)
  const missing = Object.entries(more).filter(([field]) => fields.includes(field) && input[field] === undefined)
  const usable = missing.filter(([field]) => !operation.input.shape[field]!.safeParse(undefined).success)
  try {
    const read = parseInput(operation, { ...input, ...Object.fromEntries(usable) })
    const seen = await authorize(operation, { fleet, caller }, read)
    const context = { fleet: seen, caller, signal: AbortSignal.timeout(20_000) }
    return operation.output.parse(await operation.run(context, read))
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.code, message: error.message }
    throw error
  }
}

/** Cursors are sealed with the keys of a home, push messages signed with them, and paths are those of a test. */
const comparable = (fleet: Fleet, value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, each) =>
      ['cursor', 'start', 'public_key'].includes(key) ? undefined : each,
    ).replaceAll(fleet.home.path, '<home>'),
  )

test('every answer is that of a fleet in which the other project does not exist', async () => {
  const [both, alone] = [await aWorld(OWN, FOREIGN), await aWorld(OWN)]
  const wrong: string[] = []
  let compared = 0
  for (const { operation, about, input } of questions()) {
    if (operation.name in SHARED) continue
    const [here, there] = [await answer(both, operation, input), await answer(alone, operation, input)]
    const [one, other] = [comparable(both, here), comparable(alone, there)]
    compared++
    if (JSON.stringify(one) !== JSON.stringify(other))
      wrong.push(`${operation.name} (${about}): ${JSON.stringify(one)} instead of ${JSON.stringify(other)}`)
  }
  console.log(`compared ${compared} answers of ${queries.length} queries`)
  expect(wrong).toEqual([])
  expect(compared).toBeGreaterThan(150)
})

const inOneTeam = { role: 'team-lead', project_id: OWN, team_id: `${OWN}-team` } as const

test.each([
  ['a token for one team', aPrincipal(ada.grants as Grant[], { team: `${OWN}-team`, forAgent: true })],
  ['somebody with a role in one team', aPrincipal([inOneTeam])],
])('to %s, the other teams of its project do not exist', async (_, speaker) => {
  const [both, alone] = [await aWorld(OWN), await aWorld(OWN)]
  await addTeam(both, OWN, FOREIGN)
  const wrong: string[] = []
  for (const { operation, about, input } of questions()) {
    if (operation.name in SHARED) continue
    const [here, there] = [
      await answer(both, operation, input, speaker),
      await answer(alone, operation, input, speaker),
    ]
    const [one, other] = [comparable(both, here), comparable(alone, there)]
    if (JSON.stringify(one) !== JSON.stringify(other))
      wrong.push(`${operation.name} (${about}): ${JSON.stringify(one)} instead of ${JSON.stringify(other)}`)
  }
  expect(wrong).toEqual([])
  // It can fail: a lead of the project sees both.
  const [seen] = questions().filter(({ operation }) => operation.name === 'list_teams')
  expect(JSON.stringify(await answer(both, seen!.operation, seen!.input))).toContain(FOREIGN)
})

test('what is shared by the whole machine names nothing of the other project', async () => {
  const fleet = await aWorld(OWN, FOREIGN)
  for (const operation of queries.filter(({ name }) => name in SHARED))
    expect(JSON.stringify(await answer(fleet, operation, {})), operation.name).not.toContain(FOREIGN)
})

test('a mission that waits for one of another project says so without naming it', async () => {
  const fleet = await aWorld(OWN, FOREIGN)
  const waits = aMission({
    ...{ id: 'waits', project_id: OWN, status: 'queued', title: 'waits' },
    ...{ depends_on: [`${FOREIGN}-running`], parent_mission_id: `${FOREIGN}-running` },
  })
  await keep(fleet, 'missions', waits)
  const get = queries.find(({ name }) => name === 'get_mission')!
  const shown = await answer(fleet, get, { mission_id: 'waits' })
  expect(shown).toMatchObject({ depends_on: [], waits_for: [{ text: 'waiting for other work' }] })
  for (const { operation, input } of questions().filter(({ about }) => about === 'nothing'))
    expect(JSON.stringify(await answer(fleet, operation, input)), operation.name).not.toContain(FOREIGN)
  // What is not shown is not lost when somebody edits the mission.
  const { value } = (await fleet.store.get('missions', 'waits'))!
  expect(value.depends_on).toEqual([`${FOREIGN}-running`])
})

test('the overview shows costs to those who may see costs', async () => {
  const fleet = await aWorld(OWN, FOREIGN)
  const overview = queries.find(({ name }) => name === 'get_overview')!
  const spent = async (role: Role) => {
    const caller = aPrincipal([{ role, project_id: OWN }])
    const seen = await authorize(overview, { fleet, caller }, {})
    const answered = await overview.run({ fleet: seen, caller, signal: new AbortController().signal }, {})
    return (answered as { spent_today: { usage: { cost_usd: number }; projects: unknown[] } }).spent_today
  }
  expect((await spent('monitor')).usage.cost_usd).toBe(1)
  expect(await spent('worker')).toMatchObject({ usage: { cost_usd: 0 }, projects: [] })
})

test('no answer shows what something cost to somebody who may not see costs', async () => {
  const fleet = await aWorld(OWN)
  const { value, version } = (await fleet.store.get('sessions', `${OWN}-ended`))!
  const dear = { ...value, usage: { ...value.usage, cost_usd: 7.7733 } }
  const event = { kind: 'usage', time: NOW, actor: 'fleet', project_id: OWN, data: { cost_usd: 7.7733 } } as const
  await fleet.store.commit({ changes: [{ put: 'sessions', value: dear, expects: version }], events: [event] })
  const tellers = async (role: Role) => {
    const asking = { caller: aPrincipal([{ role, project_id: OWN }]), signal: AbortSignal.timeout(20_000) }
    const told: string[] = []
    for (const { operation, about, input } of questions()) {
      if (about !== OWN && about !== 'nothing') continue
      const answered = await askOf(fleet, asking)(operation.name, input).catch(() => undefined)
      if (JSON.stringify(answered ?? null).includes('7.7733')) told.push(operation.name)
    }
    return new Set(told)
  }
  expect(await tellers('worker')).toEqual(new Set())
  const seen = await tellers('monitor')
  for (const name of ['get_mission', 'list_sessions', 'list_events']) expect(seen, name).toContain(name)
})

test('folders of the machine are shown to those who may change settings', async () => {
  const fleet = await aWorld(OWN)
  const settings = { ...fleet.settings, allowedRepos: ['/srv/secret-folder'], beadsBridges: ['~/secret-folder'] }
  Object.defineProperty(fleet.configuration, 'settings', { value: settings })
  const ask = async (grants: Grant[]) =>
    JSON.stringify(
      await askOf(fleet, { caller: aPrincipal(grants), signal: AbortSignal.timeout(5000) })('get_settings', {}),
    )
  expect(await ask([{ role: 'team-lead', project_id: null }])).not.toMatch(/secret-folder|flotilla-fleet/)
  expect(await ask([{ role: 'owner', project_id: null }])).toMatch(/secret-folder/)
})

test('a worker by path is for whoever the project of that path is open to', async () => {
  const fleet = await aWorld(OWN, FOREIGN)
  const signal = AbortSignal.timeout(5000)
  const ask = askOf(fleet, { caller: aPrincipal([{ role: 'coordinator', project_id: OWN }]), signal })
  expect(await placeIn(ask, `/${OWN}/packages/app`)).toMatchObject({
    project: { id: OWN },
    subdirectory: 'packages/app',
  })
  expect(await placeIn(ask, `/${OWN}`)).toMatchObject({ project: { id: OWN }, subdirectory: '' })
  for (const path of [`/${FOREIGN}`, `/${FOREIGN}/x`, '/nowhere', `/${OWN}/../${FOREIGN}`])
    await expect(placeIn(ask, path)).rejects.toThrow('There is no project at')
})

test('no command reaches anything in the other project', async () => {
  const fleet = await aWorld(OWN, FOREIGN)
  const commands = OPERATIONS.filter(({ kind }) => kind === 'command')
  let walked = 0
  for (const operation of commands) {
    const fields = Object.keys(operation.input.shape).filter(field => field in refsOf(FOREIGN))
    for (const field of fields) {
      const seen = await view(fleet, operation, { [field]: refsOf(FOREIGN)[field] })
      if (!seen) continue
      walked++
      for (const [collection, id] of EVERYTHING) {
        expect(await seen.store.get(collection, id), `${operation.name} sees ${id}`).toBeUndefined()
      }
    }
  }
  expect(walked).toBeGreaterThan(40)
})

const EVERYTHING = [
  ['projects', FOREIGN],
  ['missions', `${FOREIGN}-review`],
  ['sessions', `${FOREIGN}-live`],
  ['questions', `${FOREIGN}-question`],
  ['comments', `${FOREIGN}-comment`],
  ['plans', `${FOREIGN}-plan`],
] as const

/** What the operation would run on. Undefined: it was refused. */
async function view(fleet: Fleet, operation: Operation, input: Record<string, unknown>): Promise<Fleet | undefined> {
  try {
    return await authorize(operation, { fleet, caller: ada }, input)
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

test('the comparison can fail: the owner sees both projects', async () => {
  const fleet = await aWorld(OWN, FOREIGN)
  const list = queries.find(({ name }) => name === 'list_missions')!
  const seen = await authorize(list, { fleet, caller: { kind: 'owner' } }, {})
  const answered = await list.run(
    { fleet: seen, caller: { kind: 'owner' }, signal: new AbortController().signal },
    parseInput(list, {}),
  )
  expect(JSON.stringify(answered)).toContain(FOREIGN)
  expect(routeOf(list).method).toBe('GET')
})

test('a role in one team changes what is of the team, and nothing else of its project', async () => {
  const fleet = await aWorld(OWN)
  await addTeam(fleet, OWN, 'other')
  const reader = { role: 'monitor', project_id: OWN } as const
  const signal = AbortSignal.timeout(5000)
  const as = (...grants: Grant[]) => askOf(fleet, { caller: aPrincipal(grants), signal })
  const cancel = (mission_id: string) => as(inOneTeam, reader)('cancel_mission', { mission_id })
  await expect(cancel(`${OWN}-review`)).rejects.toThrow('Your role is in a team')
  await expect(as(inOneTeam)('create_mission', { project_id: OWN, title: 'x', prompt: 'x' })).rejects.toThrow('a team')
  const task = { title: 'Sweep', description: 'The yard.' }
  // Whoever reads the whole project sees the other team, and still does not lead it.
  await expect(as(inOneTeam, reader)('create_team_task', { team_id: 'other-team', ...task })).rejects.toThrow('a team')
  await expect(as(inOneTeam)('create_team_task', { team_id: 'other-team', ...task })).rejects.toThrow('no team')
  const made = await as(inOneTeam)<{ id: string }>('create_team_task', { team_id: `${OWN}-team`, ...task })
  expect(await cancel(made.id)).toMatchObject({ status: 'cancelled' })

  // A role in a team ends with it, also when somebody deletes it who sees no people.
  const asked = { operation: 'invite_person', actor: 'person' }
  const inOther = { ...inOneTeam, team_id: 'other-team' }
  const bob = await addPrincipal(fleet, asked, { kind: 'person', name: 'Bob', grants: [inOther, inOneTeam] })
  const remove = (team_id: string, dismiss = true) =>
    as({ role: 'team-lead', project_id: OWN })('delete_team', { team_id, dismiss })
  await expect(remove('other-team', false)).rejects.toThrow('still has 1 agent')
  expect((await fleet.store.get('principals', bob.id))?.value.grants).toEqual([inOther, inOneTeam])
  await remove('other-team')
  expect((await fleet.store.get('principals', bob.id))?.value.grants).toEqual([inOneTeam])
})
