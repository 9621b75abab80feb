import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aProject } from '../../domain/samples.testkit.ts'
import { aFleet } from '../fleet.testkit.ts'
import type { Fleet } from '../fleet.ts'
import { change, commitsOf, keep, meanwhile, read, withProgram } from '../records.testkit.ts'
import { all } from '../records.ts'
import { exportBeads, importBeads, missionIdOf } from './beads.ts'
import { bridgeTo, pass } from './bridge.ts'
import { Bridges } from './bridges.ts'

const ASK = { operation: 'test', actor: 'person' }
const blocks = (depends_on_id: string, type = 'blocks') => ({ depends_on_id, type })
const lines = (...beads: object[]): string => beads.map(bead => `${JSON.stringify(bead)}\n`).join('')

async function aPlace() {
  const fleet = aFleet()
  const path = join(fleet.home.path, 'repo')
  mkdirSync(path)
  await keep(fleet, 'projects', aProject({ agent: 'claude', path }))
  const project = await read(fleet, 'projects', 'p1')
  const mission = (bead: string) => read(fleet, 'missions', missionIdOf('p1', bead))
  const bring = (text: string, dispatch = true) => importBeads(fleet, ASK, project, text, { dispatch })
  return { fleet, path, project, mission, bring }
}

const missionsIn = async (fleet: Fleet) =>
  Array.fromAsync(all(fleet, 'missions', 'project', ['p1']), ({ value }) => value)

// The file

test('each bead that is work becomes a mission, and what it waits for is a mission too', async () => {
  const { bring, mission } = await aPlace()
  const { made, skipped, links } = await bring(
    lines(
      { id: 'bd-2', title: 'Second', dependencies: [blocks('bd-1'), blocks('bd-9'), blocks('bd-1', 'related')] },
      { id: 'bd-1', title: 'First', issue_type: 'bug' },
      { id: 'bd-9', title: 'Long ago', status: 'closed' },
      { id: 'bd-8', title: 'A word', issue_type: 'message' },
    ),
  )
  expect(made).toEqual([missionIdOf('p1', 'bd-1'), missionIdOf('p1', 'bd-2')])
  expect({ skipped, links }).toEqual({ skipped: ['bd-9', 'bd-8'], links: 1 })
  expect(await mission('bd-1')).toMatchObject({ status: 'queued', ready: true, mission_type: 'fix', script: false })
  expect(await mission('bd-2')).toMatchObject({ ready: false, depends_on: [missionIdOf('p1', 'bd-1')] })
})

test.each([
  ['an epic', { issue_type: 'epic' }, true],
  ['one that somebody works on elsewhere', { status: 'in_progress' }, true],
  ['one that is only brought in', {}, false],
])('%s is not started', async (_, more, dispatch) => {
  const { bring, mission } = await aPlace()
  await bring(lines({ id: 'bd-1', title: 'First', ...more }), dispatch)
  expect((await mission('bd-1')).status).toBe('draft')
})

test('brought in again it makes nothing; only new comments are added', async () => {
  const { fleet, bring } = await aPlace()
  const bead = { id: 'bd-1', title: 'First', comments: [{ id: 1, author: 'ann', text: 'Mind the gap.' }] }
  await bring(lines(bead))
  expect(await commitsOf(fleet, () => bring(lines(bead)))).toBe(0)
  const more = { ...bead, comments: [...bead.comments, { id: 2, author: 'ben', text: 'I do.' }] }
  expect(await bring(lines(more))).toMatchObject({ made: [], known: ['bd-1'] })
  const of = [missionIdOf('p1', 'bd-1')]
  const comments = await Array.fromAsync(all(fleet, 'comments', 'mission', of), ({ value }) => value.author)
  expect(comments.toSorted()).toEqual(['ann', 'ben'])
})

test('two who bring the same file in at once make each mission and each comment once', async () => {
  const { fleet, bring } = await aPlace()
  const beads = [1, 2, 3].map(n => ({ id: `bd-${n}`, title: `Bead ${n}`, comments: [{ id: 1, text: 'Well.' }] }))
  await Promise.all([bring(lines(...beads)), bring(lines(...beads))])
  expect(await missionsIn(fleet)).toHaveLength(3)
  expect((await fleet.store.find('comments', { index: 'id', limit: 10 })).items).toHaveLength(3)
})

test('somebody who changes the project meanwhile does not stop it', async () => {
  const { fleet, bring } = await aPlace()
  meanwhile(fleet, () => change(fleet, 'projects', 'p1', { name: 'another name' }))
  expect((await bring(lines({ id: 'bd-1', title: 'First' }))).made).toHaveLength(1)
})

test.each<[string, object[], string]>([
  ['waits for what is not there', [{ id: 'bd-1', title: 'x', dependencies: [blocks('bd-7')] }], 'bd-1 waits for bd-7'],
  [
    'waits for itself',
    [
      { id: 'bd-1', title: 'x', dependencies: [blocks('bd-2')] },
      { id: 'bd-2', title: 'x', dependencies: [blocks('bd-1')] },
    ],
    'they wait for each other: bd-1 → bd-2 → bd-1',
  ],
  ['has no title', [{ id: 'bd-0', title: 'good' }, { id: 'bd-1' }], 'line 2: title'],
])('a file in which a bead %s is refused whole', async (_, beads, words) => {
  const { fleet, bring } = await aPlace()
  await expect(bring(lines(...beads))).rejects.toThrow(words)
  expect(await missionsIn(fleet)).toEqual([])
})

test('a bead is prose: no agent that runs scripts gets it', async () => {
  const { fleet, project } = await aPlace()
  const text = lines({ id: 'bd-1', title: 'rm -rf /' })
  const asked = importBeads(fleet, ASK, project, text, { dispatch: true, captured: { agent: 'shell' } })
  await expect(asked).rejects.toThrow('A bead cannot name shell, which runs text as a script: beads are prose.')
  expect(await missionsIn(fleet)).toEqual([])
})

test('what is done is closed in the file; other lines stay as they were, and a mission without a line gets one', async () => {
  const { fleet, project, bring } = await aPlace()
  const other = '{"title":"Later", "id":"bd-3","status":"deferred",   "unknown":{"kept":true}}\n'
  const text = lines({ id: 'bd-1', title: 'First', unknown: 7 }, { id: 'bd-2', title: 'Second' })
  await bring(text)
  await change(fleet, 'missions', missionIdOf('p1', 'bd-1'), { status: 'done' })
  const out = await exportBeads(fleet, project, lines({ id: 'bd-1', title: 'First', unknown: 7 }) + other)
  const [first, second, third] = out.text.split('\n')
  expect(out.beads).toBe(3)
  expect(JSON.parse(first!)).toMatchObject({ id: 'bd-1', status: 'closed', unknown: 7 })
  expect(`${second}\n`).toBe(other)
  expect(JSON.parse(third!)).toMatchObject({ id: 'bd-2', title: 'Second' })
})

// The database

interface BeadNow {
  id: string
  title: string
  status: string
  assignee: string | null
  reason?: string
}

/** A database that answers like bd, and the calls it got. */
async function aDatabase(...ids: string[]) {
  const place = await aPlace()
  const beads = new Map<string, BeadNow>(ids.map(id => [id, { id, title: id, status: 'open', assignee: null }]))
  const asked: string[] = []
  const bd = async ([verb, ...args]: readonly string[]): Promise<string> => {
    asked.push([verb, ...args].join(' '))
    if (verb === 'ready') return JSON.stringify([...beads.values()].filter(({ status }) => status === 'open'))
    const bead = beads.get(args[0]!)
    const actor = args[args.indexOf('--actor') + 1]!
    if (bead && verb === 'update' && bead.assignee === null)
      Object.assign(bead, { assignee: actor, status: 'in_progress' })
    if (bead && verb === 'close') Object.assign(bead, { status: 'closed', reason: args[args.indexOf('--reason') + 1] })
    return JSON.stringify(bead ? [bead] : [])
  }
  const bridge = (actor = 'fleet-here') => ({
    ...{ fleet: place.fleet, ask: ASK, folder: place.path, project: place.project, actor, bd },
  })
  const claims = () => readdirSync(join(place.path, '.beads/fleet-claims')).filter(name => name !== '.gitignore')
  const go = (atOnce = 5) => pass(bridge(), atOnce)
  return { ...place, beads, asked, bridge, claims, go }
}

test('what is ready is claimed and becomes a queued mission, so many at once', async () => {
  const { go, beads, mission, claims } = await aDatabase('bd-1', 'bd-2', 'bd-3')
  expect(await go(2)).toEqual({ claimed: ['bd-1', 'bd-2'], closed: [], open: ['bd-1', 'bd-2'], refused: [] })
  expect(beads.get('bd-1')!.assignee).toBe('fleet-here')
  expect((await mission('bd-1')).status).toBe('queued')
  expect(claims()).toEqual(['bd-1', 'bd-2'])
  expect(beads.get('bd-3')!.assignee).toBeNull()
})

test('a second look claims nothing and makes nothing', async () => {
  const { fleet, go } = await aDatabase('bd-1')
  await go()
  expect(await commitsOf(fleet, async () => expect((await go()).claimed).toEqual([]))).toBe(0)
})

test('what is done here is closed there, with what it landed as, and let go', async () => {
  const { fleet, go, beads, claims, asked } = await aDatabase('bd-1')
  await go()
  const id = missionIdOf('p1', 'bd-1')
  await change(fleet, 'missions', id, { status: 'done', result: 'kept' })
  expect(await go()).toMatchObject({ closed: ['bd-1'], open: [] })
  expect(beads.get('bd-1')).toMatchObject({ status: 'closed', reason: `Mission ${id}: kept` })
  expect(claims()).toEqual([])
  await go()
  expect(asked.filter(each => each.startsWith('close'))).toHaveLength(1)
})

test('of two homes that look at the same moment one gets the bead', async () => {
  const { bridge, fleet, claims } = await aDatabase('bd-1')
  const passed = await Promise.all([pass(bridge('fleet-here'), 5), pass(bridge('fleet-there'), 5)])
  expect(passed.flatMap(({ claimed }) => claimed)).toEqual(['bd-1'])
  expect(await missionsIn(fleet)).toHaveLength(1)
  expect(claims()).toEqual(['bd-1'])
})

test('a bead that somebody else has in the database is let go', async () => {
  const { beads, go, fleet, claims } = await aDatabase('bd-1')
  beads.get('bd-1')!.assignee = 'ann'
  expect(await go()).toEqual({ claimed: [], closed: [], open: [], refused: [] })
  expect(claims()).toEqual([])
  expect(await missionsIn(fleet)).toEqual([])
})

test('a pass that was cut short after the claim is finished by the next', async () => {
  const { bridge, go, mission } = await aDatabase('bd-1')
  const { fleet } = bridge()
  meanwhile(fleet, () => Promise.reject(new Error('The machine went off.')))
  await expect(go()).rejects.toThrow('The machine went off.')
  expect(await go()).toMatchObject({ open: ['bd-1'] })
  expect((await mission('bd-1')).status).toBe('queued')
})

test('a bead whose id is more than a name is refused, and the others go on', async () => {
  const { go, asked } = await aDatabase('../../x', 'bd-2')
  const { claimed, refused } = await go()
  expect(claimed).toEqual(['bd-2'])
  expect(refused).toMatchObject([{ bead: '../../x', reason: expect.stringContaining('Its id may contain only') }])
  expect(asked.some(each => each.includes('../..'))).toBe(false)
})

test('bd that is missing, fails or answers nonsense is told once for each problem', async () => {
  const fleet = aFleet()
  await expect(bridgeTo(fleet, ASK, null)).rejects.toThrow('bd was not found.')
  const settings = { ...fleet.settings, beadsBridges: ['home'], beadsEvery: 0 }
  const at = (script: string): Fleet =>
    Object.create(withProgram(fleet, 'bd', script), { settings: { value: settings } })
  const told: unknown[] = []
  const bridges = new Bridges(at('echo "no database" >&2; exit 1'), (_, error) => told.push(String(error)))
  await bridges.tick()
  await bridges.tick()
  expect(told).toEqual([expect.stringContaining('bd ready failed in')])
  expect(told[0]).toContain('no database')
  at('echo "hello"')
  await bridges.tick()
  expect(told[1]).toContain('bd answered with something that is not a list of beads.')
  writeFileSync(join(fleet.home.path, 'bin/bd'), '#!/bin/sh\necho "[]"\n')
  await bridges.tick()
  expect(told).toHaveLength(2)
})
