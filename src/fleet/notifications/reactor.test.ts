import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Unavailable } from '../../domain/errors.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import type { Notification } from '../../domain/records/notification.ts'
import type { Role } from '../../domain/records/principal.ts'
import { aMission, aProject } from '../../domain/samples.testkit.ts'
import { aFleet } from '../fleet.testkit.ts'
import { addPrincipal, endPrincipal, setGrants } from '../people/principals.ts'
import { aDesk } from '../reactor.testkit.ts'
import { change, eventsOf, keep } from '../records.testkit.ts'
import type { Rights } from './making.ts'
import { Notifications } from './reactor.ts'
import { changeNotificationSettings, notificationSettings, type SettingsEdit } from './settings.ts'

/** As the roles of the fleet: a lead decides, a monitor does not. */
const may: Rights = (grants, _, project) =>
  grants.some(({ role, project_id }) => role === 'team-lead' && (project_id === null || project_id === project))

const START = Date.parse('2026-11-15T10:00:00.000Z')
const ASK = { operation: 'set_notification_settings', actor: 'person' }
const REF = 'notification_settings/notifications'

/** A reactor with a clock of its own and an ntfy server that answers with one status. */
async function aBench(edit: SettingsEdit = {}) {
  let clock = START
  let status = 200
  const heard: { id: string; topic: string; title: string; message: string }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { topic, title, message } = JSON.parse(Buffer.concat(chunks).toString())
    heard.push({ id: String(request.headers['x-sequence-id']), topic, title, message })
    response.writeHead(status).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const fleet = aFleet({ now: () => new Date(clock).toISOString() })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/topic`
  const ask = { operation: 'set_notification_settings', actor: 'person' }
  await changeNotificationSettings(fleet, ask, { ...edit, ntfy: { on: true, url, allow_private: true, ...edit.ntfy } })
  const started = () => {
    const going: Promise<unknown>[] = []
    const reactor = new Notifications(
      fleet,
      {
        ...aDesk(),
        goOn: (_, work) => void going.push(work.catch(() => undefined)),
      },
      may,
    )
    /** Reads the events, then sends until nothing is due. */
    const go = async () => {
      await reactor.look(REF)
      for (let round = 0; round < 10; round++) {
        await reactor.pass()
        await Promise.all(going.splice(0))
        clock += 5000
      }
    }
    return { reactor, go }
  }
  return {
    fleet,
    heard,
    started,
    answers: (next: number) => {
      status = next
    },
    passes: (seconds: number) => {
      clock += seconds * 1000
    },
    /** A mission that failed for good. */
    fails: async (id: string) => {
      await keep(fleet, 'missions', aMission({ id, title: `Mission ${id}`, status: 'failed' }))
      const event: NewEvent = {
        ...{ kind: 'failed', time: fleet.now(), actor: 'fleet', mission_id: id, cause: 'Too tall' },
        data: { was: 'running', status: 'failed' },
      }
      await fleet.store.commit({ changes: [], events: [event] })
    },
    all: async (): Promise<Notification[]> =>
      (await fleet.store.find('notifications', { index: 'id', limit: 500 })).items.map(({ value }) => value),
  }
}

test('each event is told once, also by a second daemon and after events were missed', async () => {
  const { fails, started, heard, fleet } = await aBench()
  await fails('a')
  for (let times = 0; times < 3; times++) await started().go()
  expect(heard.map(({ title, message }) => `${title}: ${message}`)).toEqual(['Failed: Mission a'])
  expect((await eventsOf(fleet)).map(({ kind }) => kind)).toEqual(['notifications_changed', 'failed'])
})

test('what is not heard is told again under the same name after growing pauses, and then given up', async () => {
  const { fails, started, heard, answers, passes, all, fleet } = await aBench()
  answers(503)
  await fails('a')
  const { go } = started()
  for (const pause of [0, 10, 60, 300, 1800, 7200, 86_400]) {
    passes(pause)
    await go()
  }
  expect(heard).toHaveLength(6)
  expect(new Set(heard.map(({ id }) => id)).size).toBe(1)
  expect((await all()).map(({ status, tries, outcome }) => [status, tries, outcome])).toEqual([
    ['failed', 6, 'ntfy answered 503.'],
  ])
  expect((await eventsOf(fleet)).at(-1)).toMatchObject({ kind: 'notification_failed', cause: 'ntfy answered 503.' })
})

test('what was told is not told again while the disk is full, and is written down afterwards', async () => {
  const { fails, started, heard, passes, all, fleet } = await aBench()
  for (const id of ['a', 'b']) await fails(id)
  const { reactor, go } = started()
  await reactor.look(REF)
  const commit = vi.spyOn(fleet.store, 'commit').mockRejectedValue(new Unavailable('The disk is full.'))
  for (let minutes = 0; minutes < 30; minutes++) {
    await go()
    passes(10)
  }
  expect(heard.map(({ message }) => message).toSorted()).toEqual(['Mission a', 'Mission b'])
  expect(commit.mock.calls.length).toBeGreaterThan(4)
  // Growing pauses: every five seconds it would be hundreds.
  expect(commit.mock.calls.length).toBeLessThan(50)
  commit.mockRestore()
  for (const id of ['c', 'd', 'e', 'f']) await fails(id)
  passes(600)
  await go()
  expect(heard.slice(2).map(({ title }) => title)).toEqual(['4 missions need you'])
  const outcomes = (await all()).map(({ status, about, tries }) => `${about}: ${status} ${tries}`)
  expect(outcomes).toEqual(expect.arrayContaining(['Mission a: sent 1', 'Mission b: sent 1', 'Failed: 4: sent 1']))
})

test('what will not get better is not tried again', async () => {
  const { fails, started, heard, answers, passes } = await aBench()
  answers(403)
  await fails('a')
  const { go } = started()
  await go()
  passes(86_400)
  await go()
  expect(heard).toHaveLength(1)
})

test('quiet hours hold it back, and what nobody has to do any more is never told', async () => {
  const { fails, started, heard, passes, fleet, all } = await aBench({
    quiet: { from: '09:00', to: '12:00', time_zone: 'UTC' },
  })
  await fails('a')
  await fails('b')
  const { go } = started()
  await go()
  expect(heard).toEqual([])
  await change(fleet, 'missions', 'a', { status: 'queued' })
  passes(2 * 3600 + 60)
  await go()
  expect(heard.map(({ message }) => message)).toEqual(['Mission b'])
  expect((await all()).map(({ status }) => status).toSorted()).toEqual(['dropped', 'sent'])
})

test('many at once are one message', async () => {
  const { fails, started, heard } = await aBench()
  for (const id of ['a', 'b', 'c', 'd', 'e']) await fails(id)
  await started().go()
  expect(heard.map(({ title, message }) => `${title}: ${message}`)).toEqual(['5 missions need you: Failed: 5'])
})

test('what happened before a channel was switched on is not told, and a failed part is for its parent', async () => {
  const { fleet, started, heard, fails } = await aBench({ ntfy: { on: false } })
  await fails('a')
  const ask = { operation: 'set_notification_settings', actor: 'person' }
  await changeNotificationSettings(fleet, ask, { ntfy: { on: true } })
  await keep(fleet, 'missions', aMission({ id: 'part', parent_mission_id: 'a', status: 'failed' }))
  await fleet.store.commit({
    changes: [],
    events: [
      {
        kind: 'failed',
        time: fleet.now(),
        actor: 'fleet',
        mission_id: 'part',
        data: { was: 'running', status: 'failed' },
      },
    ],
  })
  await started().go()
  expect(heard).toEqual([])
})

test('of two people in two projects, exactly the one who may decide is told, until their access ends', async () => {
  const { fleet, heard, started, passes } = await aBench()
  const { ntfy } = (await notificationSettings(fleet)).value
  const add = (name: string, role: Role, project_id: string) =>
    addPrincipal(fleet, ASK, { kind: 'person', name, grants: [{ role, project_id }] })
  for (const id of ['p1', 'p2']) await keep(fleet, 'projects', aProject({ id, name: id, path: `/${id}` }))
  const people = {
    ada: await add('Ada', 'team-lead', 'p1'),
    bob: await add('Bob', 'team-lead', 'p2'),
    eve: await add('Eve', 'monitor', 'p1'),
  }
  const mine = { on: true, url: ntfy.url, allow_private: true }
  for (const { id, name } of Object.values(people))
    await changeNotificationSettings(fleet, ASK, { ntfy: { ...mine, url: ntfy.url.replace('topic', name) } }, id)
  await changeNotificationSettings(fleet, ASK, { ntfy: { on: false } })
  const asks = async (mission_id: string) => {
    passes(60)
    await keep(fleet, 'missions', aMission({ id: mission_id, project_id: 'p1', title: mission_id, status: 'review' }))
    const event: NewEvent = {
      ...{ kind: 'review_wanted', time: fleet.now(), actor: 'fleet', mission_id, project_id: 'p1' },
      data: { was: 'running', status: 'review' },
    }
    await fleet.store.commit({ changes: [], events: [event] })
    const { reactor, go } = started()
    for await (const ref of reactor.unfinished()) await reactor.look(ref)
    await go()
  }
  await asks('m1')
  expect(heard.map(({ topic, message }) => [topic, message])).toEqual([['Ada', 'm1']])

  // What waits for somebody who may no longer see it is not sent.
  await changeNotificationSettings(
    fleet,
    ASK,
    { quiet: { from: '00:00', to: '23:59', time_zone: 'UTC' } },
    people.ada.id,
  )
  await asks('m2')
  expect(heard).toHaveLength(1)
  await setGrants(fleet, ASK, people.ada.id, [{ role: 'team-lead', project_id: 'p2' }])
  await changeNotificationSettings(fleet, ASK, { quiet: null }, people.ada.id)
  passes(86_400)
  await started().go()
  expect(heard).toHaveLength(1)

  await setGrants(fleet, ASK, people.ada.id, [{ role: 'team-lead', project_id: null }])
  await asks('m3')
  expect(heard.map(({ message }) => message)).toEqual(['m1', 'm3'])
  await endPrincipal(fleet, ASK, people.ada.id)
  await asks('m4')
  expect(heard).toHaveLength(2)
})
