import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { claudeTurn } from '../../../test/kit/written-session.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import { aMission, aProject, aSession, NOW } from '../../domain/samples.testkit.ts'
import { aDesk } from '../reactor.testkit.ts'
import { aBench } from '../workshop.testkit.ts'
import { Indexing } from './indexing.ts'
import { search } from './searching.ts'

let clock = 0
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => clock)
})
afterEach(() => vi.restoreAllMocks())

const KINDS = ['mission', 'comment', 'report', 'transcript'] as const

async function aSearched() {
  const bench = aBench()
  const { fleet, save } = bench
  await save('projects', aProject())
  let reactor = new Indexing(fleet, aDesk())
  let heard = await fleet.store.tail()
  const hear = async (): Promise<void> => {
    const { events, cursor } = await fleet.store.events({ after: heard, limit: 500 })
    heard = cursor
    for (const event of events) reactor.affectedBy(event)
  }
  return {
    ...bench,
    /** Something happens, and is heard, while the text of a mission is read. */
    duringNextRead(happen: () => Promise<unknown>): void {
      const read = fleet.blobs.read.bind(fleet.blobs)
      vi.spyOn(fleet.blobs, 'read').mockImplementationOnce(async ref => {
        const text = await read(ref)
        await happen()
        await hear()
        return text
      })
    },
    async remove(id: string): Promise<void> {
      const { version } = (await fleet.store.get('missions', id))!
      await fleet.store.commit({ changes: [{ remove: 'missions', id, expects: version }] })
    },
    /** Everything that happened is taken in. */
    async takeIn(): Promise<void> {
      await hear()
      for (let round = 0; round < 20; round++) {
        clock += 60_000
        await reactor.pass()
      }
    },
    restart(): void {
      fleet.texts.close()
      reactor = new Indexing(fleet, aDesk())
    },
    tell: (kind: NewEvent['kind'], more: Partial<NewEvent> = {}) =>
      fleet.store.commit({ changes: [], events: [{ kind, time: NOW, actor: 'person', ...more }] }),
    search: () => reactor.catchUp(5000),
    found: async (text: string) => {
      const { hits } = await search(fleet, { text, kinds: KINDS, limit: 10 })
      return hits.map(({ kind, mission, part }) => `${kind} ${mission.id} ${part}`)
    },
  }
}

/** Writes the transcript of the session s1. */
function print(home: { session(id: string): string }, lines: Iterable<string>, session = 's1'): void {
  const folder = join(home.session(session), 'agent-1')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'stdout'), `${[...lines].join('\n')}\n`)
}

test('a first start takes in what is there; later only what happens', async () => {
  const { fleet, save, change, takeIn, tell, found } = await aSearched()
  await save('missions', aMission({ id: 'm1', title: 'Paint the hull', prompt: { inline: 'Use blue varnish' } }))
  await save('sessions', aSession({ id: 's1', mission_id: 'm1', agent: 'claude', status: 'ended', ended_at: NOW }))
  print(fleet.home, claudeTurn(1, { text: 'I will sand the planks.', output: 'splinters everywhere' }))
  await takeIn()
  expect(await found('hull')).toEqual(['mission m1 title'])
  expect(await found('varnish')).toEqual(['mission m1 prompt'])
  expect(await found('planks')).toEqual(['transcript m1 text'])
  expect(await found('"test 1"')).toEqual(['transcript m1 tool_call'])
  expect(await found('splinters')).toEqual(['transcript m1 tool_result'])

  await change('missions', 'm1', { title: 'Paint the mast' })
  await tell('mission_updated', { mission_id: 'm1' })
  await takeIn()
  expect(await found('hull')).toEqual([])
  expect(await found('mast')).toEqual(['mission m1 title'])
})

test('an answer that is JSON is found by its sentences, not by its fields', async () => {
  const { fleet, save, takeIn, found } = await aSearched()
  await save('missions', aMission({ id: 'm1', title: 'Plan' }))
  await save('sessions', aSession({ id: 's1', mission_id: 'm1', agent: 'claude', status: 'ended', ended_at: NOW }))
  print(fleet.home, claudeTurn(1, { text: '{"missions":[{"title":"Dig a berth","estimate_usd":0.4}]}', output: '' }))
  await takeIn()
  expect(await found('berth')).toEqual(['transcript m1 text'])
  expect(await found('estimate_usd')).toEqual([])
})

test('the server was away: the next one takes in what happened since, and forgets what was deleted', async () => {
  const { fleet, save, remove, takeIn, tell, restart, found } = await aSearched()
  await save('missions', aMission({ id: 'm1', title: 'Old rope' }), aMission({ id: 'm2', title: 'Old sail' }))
  await takeIn()
  await remove('m1')
  await tell('mission_deleted', { mission_id: 'm1' })
  await save('missions', aMission({ id: 'm3', title: 'Old anchor' }))
  await tell('mission_created', { mission_id: 'm3' })
  restart()
  const read = vi.spyOn(fleet.store, 'find')
  await takeIn()
  expect(await found('old')).toHaveLength(2)
  // Nothing else was read again.
  expect(read.mock.calls.map(([, { equals }]) => equals?.[0])).not.toContain('m2')
})

test('an index that was lost is made again from the records', async () => {
  const { fleet, save, takeIn, restart, found } = await aSearched()
  await save('missions', aMission({ id: 'm1', title: 'A lantern' }))
  await takeIn()
  fleet.texts.close()
  rmSync(fleet.home.searchFile)
  await expect(found('lantern')).rejects.toThrow('There is no search index yet')
  restart()
  await takeIn()
  expect(await found('lantern')).toEqual(['mission m1 title'])
})

test('an index that is damaged while the server runs is made again from all records', async () => {
  const { fleet, save, takeIn, tell, restart, found } = await aSearched()
  const boats = Array.from({ length: 80 }, (_, n) => aMission({ id: `m${n}`, title: `Boat ${n} ${'x'.repeat(250)}` }))
  await save('missions', ...boats)
  await takeIn()
  expect(await found('"boat 7"')).toEqual(['mission m7 title'])
  fleet.texts.close()
  const { searchFile } = fleet.home
  writeFileSync(searchFile, readFileSync(searchFile).fill(7, 8192))
  await save('missions', aMission({ id: 'late', title: 'A late boat' }))
  await tell('mission_created', { mission_id: 'late' })
  await takeIn()
  expect(await found('late')).toEqual(['mission late title'])
  expect(await found('"boat 7"')).toEqual(['mission m7 title'])
  restart()
  await takeIn()
  expect(await found('"boat 7"')).toEqual(['mission m7 title'])
})

test('an index that a search found damaged, and emptied, is made again by the next search', async () => {
  const { fleet, save, takeIn, search, found } = await aSearched()
  await save('missions', aMission({ id: 'm1', title: 'A lantern' }))
  await takeIn()
  expect(await search()).toBe(true)
  fleet.texts.clear()
  const waiting = search()
  await takeIn()
  expect(await waiting).toBe(true)
  expect(await found('lantern')).toEqual(['mission m1 title'])
})

test('events that were dropped before they were read are no gap: everything is taken in again', async () => {
  const { fleet, save, takeIn, tell, restart, found } = await aSearched()
  await save('missions', aMission({ id: 'm1', title: 'First buoy' }))
  await tell('mission_created', { mission_id: 'm1' })
  await takeIn()
  await save('missions', aMission({ id: 'm2', title: 'Second buoy' }))
  for (let n = 0; n < 5; n++) await tell('mission_created', { mission_id: 'm2' })
  await fleet.store.trimEvents(1)
  restart()
  await takeIn()
  expect((await found('buoy')).sort()).toEqual(['mission m1 title', 'mission m2 title'])
})

test('a long transcript is taken in up to a limit, and one message in pieces is one text', async () => {
  const { fleet, save, takeIn, found } = await aSearched()
  await save('missions', aMission({ id: 'm1' }))
  await save('sessions', aSession({ id: 's1', mission_id: 'm1', agent: 'claude', status: 'ended', ended_at: NOW }))
  const turns = Array.from({ length: 400 }, (_, n) => [...claudeTurn(n, { text: `turn${n} ${'wood '.repeat(300)}` })])
  print(fleet.home, turns.flat())
  await takeIn()
  expect(await found('turn3')).toHaveLength(1)
  expect(await found('turn399')).toEqual([])
})

test('a transcript that is read while its session runs is not taken in yet', async () => {
  const { fleet, save, takeIn, tell, change, found } = await aSearched()
  await save('missions', aMission({ id: 'm1' }))
  await save('sessions', aSession({ id: 's1', mission_id: 'm1', agent: 'claude', status: 'running' }))
  print(fleet.home, claudeTurn(1, { text: 'halfway' }))
  await takeIn()
  expect(await found('halfway')).toEqual([])
  await change('sessions', 's1', { status: 'ended', outcome: 'completed', ended_at: NOW })
  await tell('session_ended', { mission_id: 'm1', session_id: 's1' })
  await takeIn()
  expect(await found('halfway')).toEqual(['transcript m1 text'])
})

test('with nothing to do it reads nothing and asks for no other pass', async () => {
  const { fleet, save, takeIn } = await aSearched()
  await save('missions', aMission({ id: 'm1' }))
  await takeIn()
  const passIn = vi.fn()
  const reactor = new Indexing(fleet, { ...aDesk(), passIn })
  clock += 60_000
  await reactor.pass()
  const find = vi.spyOn(fleet.store, 'find')
  passIn.mockClear()
  for (let n = 0; n < 5; n++) {
    clock += 60_000
    await reactor.pass()
  }
  expect(find).not.toHaveBeenCalled()
  expect(passIn).not.toHaveBeenCalled()
})

test('what is deleted while it is taken in stays nowhere in the index', async () => {
  const { fleet, save, remove, takeIn, tell, duringNextRead } = await aSearched()
  await takeIn()
  await save('missions', aMission({ id: 'm1', prompt: { inline: 'The password is hunter2' } }))
  await tell('mission_created', { mission_id: 'm1' })
  duringNextRead(async () => {
    await remove('m1')
    await tell('mission_deleted', { mission_id: 'm1' })
  })
  await takeIn()
  expect(fleet.texts.search({ text: 'hunter2', kind: 'mission', limit: 9 })).toEqual([])
  expect(fleet.texts.fingerprintOf('missions/m1')).toBeUndefined()
})

test('what changes while it is taken in is taken in again', async () => {
  const { save, change, takeIn, tell, duringNextRead, found } = await aSearched()
  await takeIn()
  await save('missions', aMission({ id: 'm1', title: 'A grey hull' }))
  await tell('mission_created', { mission_id: 'm1' })
  duringNextRead(async () => {
    await change('missions', 'm1', { title: 'A green hull' })
    await tell('mission_updated', { mission_id: 'm1' })
  })
  await takeIn()
  expect(await found('grey')).toEqual([])
  expect(await found('green')).toEqual(['mission m1 title'])
})

test('a project that is deleted and made again while records are taken in has its new missions', async () => {
  const { save, remove, takeIn, tell, duringNextRead, found } = await aSearched()
  await takeIn()
  const { id: project_id } = aProject()
  await save('missions', aMission({ id: 'm1', project_id, title: 'Old rope' }))
  await tell('mission_created', { mission_id: 'm1', project_id })
  duringNextRead(async () => {
    await remove('m1')
    await tell('mission_deleted', { mission_id: 'm1', project_id })
    await tell('project_deleted', { project_id })
    await save('missions', aMission({ id: 'm2', project_id, title: 'New rope' }))
    await tell('mission_created', { mission_id: 'm2', project_id })
  })
  await takeIn()
  expect(await found('rope')).toEqual(['mission m2 title'])
})

test('what could not be written is taken in by a later round', async () => {
  const { fleet, save, remove, takeIn, tell, found } = await aSearched()
  await save('missions', aMission({ id: 'm1', title: 'Old rope' }))
  await takeIn()
  await remove('m1')
  await tell('mission_deleted', { mission_id: 'm1' })
  await save('missions', aMission({ id: 'm2', title: 'New rope' }))
  await tell('mission_created', { mission_id: 'm2' })
  const full = () => {
    throw new Error('the disk is full')
  }
  const { change } = fleet.texts
  const write = vi.spyOn(fleet.texts, 'change').mockImplementationOnce(full)
  await expect(takeIn()).rejects.toThrow('the disk is full')
  // The deletion is written, and then nothing.
  write.mockImplementationOnce(change.bind(fleet.texts)).mockImplementationOnce(full)
  await expect(takeIn()).rejects.toThrow('the disk is full')
  await takeIn()
  expect(await found('rope')).toEqual(['mission m2 title'])
  expect(fleet.texts.fingerprintOf('missions/m1')).toBeUndefined()
})

test('a transcript with many hits does not hide those of other transcripts', async () => {
  const { fleet, save, takeIn, tell, found } = await aSearched()
  await save('missions', aMission({ id: 'm1' }), aMission({ id: 'm2' }))
  await save('sessions', aSession({ id: 's1', mission_id: 'm1', agent: 'claude', status: 'ended', ended_at: NOW }))
  print(fleet.home, claudeTurn(1, { text: 'Tar the seams.' }))
  await takeIn()
  await save('sessions', aSession({ id: 's2', mission_id: 'm2', agent: 'claude', status: 'ended', ended_at: NOW }))
  print(
    fleet.home,
    Array.from({ length: 150 }, (_, n) => [...claudeTurn(n, { text: `Tar barrel ${n}.` })]).flat(),
    's2',
  )
  await tell('session_ended', { mission_id: 'm2', session_id: 's2' })
  await takeIn()
  expect((await found('tar')).map(each => each.split(' ')[1]).sort()).toEqual(['m1', 'm2'])
})
