import { Device, type DeviceKey, deviceName, isLetIn } from '../../domain/records/device.ts'
import { clipped } from '../../domain/text.ts'
import type { Invited } from '../../platform/tokens.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { current, put } from '../records.ts'
import { standingOf } from './signed-in.ts'

const NAME_CHARS = 100
const USER_AGENT_CHARS = 300

/** Signs a browser in. Undefined: the link was used before. */
export async function admitDevice(
  fleet: Fleet,
  { id, name, principal }: Invited,
  given: { userAgent: string; key: DeviceKey; via: Device['via']; expiresAt: string },
): Promise<Device | undefined> {
  return retryOnConflict(async () => {
    if (await fleet.store.get('devices', id)) return undefined
    const now = fleet.now()
    const actor = principal ? `person:${principal.id}` : 'person'
    const device = Device.parse({
      id,
      name: clipped(name || deviceName(given.userAgent), NAME_CHARS),
      user_agent: clipped(given.userAgent, USER_AGENT_CHARS),
      signed_in_at: now,
      expires_at: given.expiresAt,
      key: given.key,
      via: given.via,
      ...(principal && { principal_id: principal.id, epoch: principal.epoch }),
    })
    await fleet.commit('commit.wish', {
      changes: [put('devices', device, 'absent')],
      events: [{ kind: 'device_signed_in', time: now, actor, data: { device_id: id, name: device.name } }],
    })
    return device
  })
}

export const isSignedIn = async (fleet: Fleet, deviceId: string): Promise<boolean> =>
  (await standingOf(fleet, { device: deviceId })) !== 'out'

/** Its next request is refused, and its open streams end. */
export async function signOutDevice(fleet: Fleet, ask: Ask, deviceId: string): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'devices', deviceId)
    const { now, actor } = by(fleet, ask)
    if (value.signed_out_at) return { subject: deviceId, changes: [], events: [] }
    return {
      subject: deviceId,
      changes: [put('devices', { ...value, signed_out_at: now, push: null }, version)],
      events: [{ kind: 'device_signed_out', time: now, actor, data: { device_id: deviceId, name: value.name } }],
    }
  })
}

const MOST_DEVICES = 500

/** The browsers that are signed in, newest first. */
export async function signedInDevices(fleet: Fleet): Promise<Device[]> {
  const page = await fleet.store.find('devices', { index: 'signed_in', newestFirst: true, limit: MOST_DEVICES })
  return page.items.map(({ value }) => value).filter(device => isLetIn(device, fleet.now()))
}
