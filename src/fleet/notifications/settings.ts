import { InvalidInput, NotAllowed, NotFound } from '../../domain/errors.ts'
import { isLetIn, PushSubscription } from '../../domain/records/device.ts'
import { type Email, NOTIFICATIONS, NotificationSettings, type Ntfy } from '../../domain/records/notification.ts'
import type { Version } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { current, ownRecord, put } from '../records.ts'
import { endpointProblem, topicOf } from './delivery.ts'

/** More browsers than this cannot be told. */
export const MOST_BROWSERS = 20

export async function notificationSettings(
  fleet: Fleet,
): Promise<{ value: NotificationSettings; expects: Version | 'absent' }> {
  const { value, expects } = await ownRecord(fleet.store, 'notification_settings', NOTIFICATIONS)
  return { value: value ?? NotificationSettings.parse({ id: NOTIFICATIONS, updated_at: fleet.now() }), expects }
}

/** A destination of notifications: a channel, or one browser of the channel push. */
export interface Destination {
  channel: 'push' | 'ntfy' | 'email'
  device_id: string | null
  since: string
}

/** Where notifications go now. */
export async function destinations(fleet: Fleet, { ntfy, email }: NotificationSettings): Promise<Destination[]> {
  const browsers = await fleet.store.find('devices', { index: 'push', newestFirst: true, limit: MOST_BROWSERS })
  const now = fleet.now()
  return [
    ...browsers.items
      .map(({ value }) => value)
      .filter(device => isLetIn(device, now) && device.push)
      .map(({ id, push }): Destination => ({ channel: 'push', device_id: id, since: push!.since })),
    ...(ntfy.on ? [{ channel: 'ntfy' as const, device_id: null, since: ntfy.since ?? now }] : []),
    ...(email.on ? [{ channel: 'email' as const, device_id: null, since: email.since ?? now }] : []),
  ]
}

export type SettingsEdit = Partial<Pick<NotificationSettings, 'quiet' | 'page_address' | 'details'>> & {
  push?: Partial<NotificationSettings['push']>
  ntfy?: Partial<Omit<Ntfy, 'since'>>
  email?: Partial<Omit<Email, 'since'>>
}

export async function changeNotificationSettings(fleet: Fleet, ask: Ask, edit: SettingsEdit): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { value, expects } = await notificationSettings(fleet)
    const { now, actor } = by(fleet, ask)
    const since = (before: { on: boolean; since: string | null }, on = before.on) =>
      on && !before.on ? now : before.since
    const next: NotificationSettings = {
      ...value,
      ...edit,
      push: { ...value.push, ...edit.push },
      ntfy: { ...value.ntfy, ...forgotten(value, edit).ntfy, ...edit.ntfy, since: since(value.ntfy, edit.ntfy?.on) },
      email: {
        ...value.email,
        ...forgotten(value, edit).email,
        ...edit.email,
        since: since(value.email, edit.email?.on),
      },
      cursor: await cursorFor(fleet, value),
      updated_at: now,
    }
    requireComplete(next)
    return {
      subject: NOTIFICATIONS,
      changes: [put('notification_settings', next, expects)],
      events: [{ kind: 'notifications_changed', time: now, actor, data: {} }],
    }
  })
}

/** A secret is for its server: with another one it is given anew. */
function forgotten({ ntfy, email }: NotificationSettings, edit: SettingsEdit): SettingsEdit {
  const { url = ntfy.url } = edit.ntfy ?? {}
  const { host = email.host } = edit.email ?? {}
  return {
    ...(URL.parse(url)?.origin !== URL.parse(ntfy.url)?.origin && { ntfy: { token: '' } }),
    ...(host.toLowerCase() !== email.host.toLowerCase() && { email: { password: '' } }),
  }
}

/** While nothing is told, no event is read. The first channel begins with the events from now on. */
const cursorFor = async (fleet: Fleet, settings: NotificationSettings): Promise<string | null> =>
  (await destinations(fleet, settings)).length ? settings.cursor : fleet.store.tail()

const ADDRESS = /^[^\s<>@,;]{1,64}@[^\s<>@,;]{1,190}$/

function requireComplete({ page_address, ntfy, email }: NotificationSettings): void {
  if (page_address && !/^https?:$/.test(URL.parse(page_address)?.protocol ?? ''))
    throw new InvalidInput('page_address', 'is not a web address such as https://fleet.example.com')
  if (ntfy.on && !topicOf(ntfy.url))
    throw new InvalidInput('ntfy.url', 'is not the address of a topic such as https://ntfy.sh/my-secret-topic')
  if (ntfy.token && !ntfy.allow_private && URL.parse(ntfy.url)?.protocol === 'http:')
    throw new InvalidInput('ntfy.url', 'must begin with https: a token is not sent unencrypted')
  for (const [name, address] of [['from', email.from] as const, ['to', email.to] as const])
    if ((email.on || address) && !ADDRESS.test(address))
      throw new InvalidInput(`email.${name}`, 'is not an e-mail address such as you@example.com')
  if (email.on && !/^[\w.:-]{1,253}$/.test(email.host))
    throw new InvalidInput('email.host', 'is not the name of a server')
  if (email.security === 'none' && email.password)
    throw new InvalidInput('email.security', 'must be tls or starttls: a password is not sent unencrypted')
}

/** From now on this browser gets notifications while its page is closed. */
export async function subscribeBrowser(
  fleet: Fleet,
  ask: Ask,
  deviceId: string,
  given: Omit<PushSubscription, 'since'> | null,
): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const [{ value, version }, settings] = await Promise.all([
      current(fleet, 'devices', deviceId),
      notificationSettings(fleet),
    ])
    const { now, actor } = by(fleet, ask)
    if (!isLetIn(value, now)) throw new NotFound('device', deviceId)
    const problem = given && endpointProblem(given, settings.value.push.allow_private)
    if (problem) throw new InvalidInput('endpoint', problem)
    const others = (await destinations(fleet, settings.value)).filter(
      ({ channel, device_id }) => channel === 'push' && device_id !== deviceId,
    )
    if (given && others.length >= MOST_BROWSERS)
      throw new NotAllowed(`${MOST_BROWSERS} browsers already get notifications.`, {
        try: 'Switch them off in one of the others, or sign it out.',
      })
    const push = given && PushSubscription.parse({ ...given, since: value.push?.since ?? now })
    const begun = { ...settings.value, cursor: await cursorFor(fleet, settings.value), updated_at: now }
    return {
      subject: deviceId,
      changes: [put('devices', { ...value, push }, version), put('notification_settings', begun, settings.expects)],
      events: [{ kind: 'notifications_changed', time: now, actor, data: { device_id: deviceId, push: push !== null } }],
    }
  })
}
