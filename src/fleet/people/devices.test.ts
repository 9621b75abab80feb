import { expect, test } from 'vitest'
import type { DeviceKey } from '../../domain/records/device.ts'
import { aFleet } from '../fleet.testkit.ts'
import { commitsOf, eventsOf, read } from '../records.testkit.ts'
import { admitDevice, isSignedIn, signedInDevices, signOutDevice } from './devices.ts'

const ASK = { operation: 'sign_out_device', actor: 'person' }
const KEY: DeviceKey = { kind: 'shared', value: 'k'.repeat(43) }
const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/604.1'

function aHome() {
  const clock = { now: '2026-11-15T10:00:00.000Z' }
  const fleet = aFleet({ now: () => clock.now })
  const expiresAt = '2026-12-15T10:00:00.000Z'
  const admit = (id: string, name = '') =>
    admitDevice(fleet, { id, name }, { userAgent: PHONE, key: KEY, via: 'link', expiresAt })
  return { fleet, clock, expiresAt, admit }
}

test('a browser signs in, gets its name from what it says of itself, and the event has no key', async () => {
  const { fleet, admit } = aHome()
  expect(await admit('d1')).toMatchObject({ id: 'd1', name: 'iPhone, Safari', key: KEY })
  expect(await isSignedIn(fleet, 'd1')).toBe(true)
  const [event] = await eventsOf(fleet)
  expect(event).toMatchObject({ kind: 'device_signed_in', data: { device_id: 'd1', name: 'iPhone, Safari' } })
  expect(JSON.stringify(event)).not.toContain(KEY.value)
})

test('a name that a person gave is kept, as much of it as there is room for', async () => {
  const { admit } = aHome()
  expect((await admit('d1', 'Kitchen'))!.name).toBe('Kitchen')
  expect((await admit('d2', 'x'.repeat(500)))!.name).toHaveLength(100)
})

test('a link works once: of two who come with it at the same moment one is let in', async () => {
  const { fleet, admit } = aHome()
  const came = await Promise.all([admit('d1', 'one'), admit('d1', 'two')])
  const [let_in] = came.filter(device => device !== undefined)
  expect(came.filter(device => device === undefined)).toHaveLength(1)
  expect((await read(fleet, 'devices', 'd1')).name).toBe(let_in!.name)
  expect(await eventsOf(fleet)).toHaveLength(1)
})

test('a browser that is signed out is refused at once, and its link does not work again', async () => {
  const { fleet, admit } = aHome()
  await admit('d1')
  await signOutDevice(fleet, ASK, 'd1')
  expect(await isSignedIn(fleet, 'd1')).toBe(false)
  expect(await admit('d1')).toBeUndefined()
  expect(await signedInDevices(fleet)).toEqual([])
})

test('signed out twice it is signed out once; one that never was is refused', async () => {
  const { fleet, clock, admit } = aHome()
  await admit('d1')
  await signOutDevice(fleet, ASK, 'd1')
  const { signed_out_at } = await read(fleet, 'devices', 'd1')
  clock.now = '2026-11-16T10:00:00.000Z'
  expect(await commitsOf(fleet, () => signOutDevice(fleet, ASK, 'd1'))).toBe(0)
  expect((await read(fleet, 'devices', 'd1')).signed_out_at).toBe(signed_out_at)
  await expect(signOutDevice(fleet, ASK, 'd2')).rejects.toThrow('There is no device "d2".')
})

test('its time ends by itself, to the millisecond', async () => {
  const { fleet, clock, expiresAt, admit } = aHome()
  await admit('d1')
  clock.now = '2026-12-15T09:59:59.999Z'
  expect(await isSignedIn(fleet, 'd1')).toBe(true)
  clock.now = expiresAt
  expect(await isSignedIn(fleet, 'd1')).toBe(false)
  expect(await signedInDevices(fleet)).toEqual([])
})

test('those that are let in are listed, the newest first', async () => {
  const { fleet, clock, admit } = aHome()
  for (const [index, id] of ['d1', 'd2', 'd3'].entries()) {
    clock.now = `2026-11-15T10:0${index}:00.000Z`
    await admit(id)
  }
  await signOutDevice(fleet, ASK, 'd2')
  expect((await signedInDevices(fleet)).map(({ id }) => id)).toEqual(['d3', 'd1'])
})

test('a browser nobody knows is not signed in', async () => {
  expect(await isSignedIn(aFleet(), 'd1')).toBe(false)
})
