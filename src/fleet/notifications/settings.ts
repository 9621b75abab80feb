import { InvalidInput, NotAllowed, NotFound } from '../../domain/errors.ts'
import { isLetIn, PushSubscription } from '../../domain/records/device.ts'
import {
  type Email,
  NotificationSettings,
  type Ntfy,
  settingsIdOf,
  whoseSettings,
} from '../../domain/records/notification.ts'
import { isCurrent } from '../../domain/records/principal.ts'
import type { Version } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { current, ownRecord, put, readable } from '../records.ts'
import { endpointProblem, topicOf } from './delivery.ts'

/** More browsers than this cannot be told. */
export const MOST_BROWSERS = 20
/** Browsers of all people that are looked at. */
const MOST_OF_ALL = 500

/** The settings of a person. Null: of the owner. */
export async function notificationSettings(
  fleet: Fleet,
  principalId: string | null = null,
): Promise<{ value: NotificationSettings; expects: Version | 'absent' }> {
  const id = settingsIdOf(principalId)
  const { value, expects } = await ownRecord(fleet.store, 'notification_settings', id)
  return { value: value ?? NotificationSettings.parse({ id, updated_at: fleet.now() }), expects }
}

/**
 * The settings as messages are sent with them. Whoever has no mail server of their own uses the owner's, and what may
 * be private is for the owner to say.
 */
export async function inEffect(fleet: Fleet, own: NotificationSettings): Promise<NotificationSettings> {
  if (whoseSettings(own.id) === null) return own
  const { value: owner } = await notificationSettings(fleet)
  const { on, since, to, needs } = own.email
  return {
    ...own,
    page_address: own.page_address || owner.page_address,
    push: { ...own.push, allow_private: owner.push.allow_private },
    email: own.email.host ? own.email : { ...owner.email, on, since, to, needs },
  }
}

/** A destination of notifications: a channel, or one browser of the channel push. */
export interface Destination {
  channel: 'push' | 'ntfy' | 'email'
  device_id: string | null
  since: string
}

/** Where notifications go now: nowhere, for a person whose access has ended. */
export async function destinations(fleet: Fleet, { id, ntfy, email }: NotificationSettings): Promise<Destination[]> {
  const whose = whoseSettings(id)
  const person = whose === null ? undefined : (await readable(fleet, 'principals', whose))?.value
  if (whose !== null && !isCurrent(person, person?.epoch ?? 0, fleet.now())) return []
  const browsers = await fleet.store.find('devices', { index: 'push', newestFirst: true, limit: MOST_OF_ALL })
  const now = fleet.now()
  return [
    ...browsers.items
      .map(({ value }) => value)
      .filter(({ principal_id, epoch }) => principal_id === whose && (!person || epoch === person.epoch))
      .filter(device => isLetIn(device, now) && device.push)
      .slice(0, MOST_BROWSERS)
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

export async function changeNotificationSettings(
  fleet: Fleet,
  ask: Ask,
  edit: SettingsEdit,
  principalId: string | null = null,
): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { value, expects } = await notificationSettings(fleet, principalId)
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
    requireComplete(await inEffect(fleet, next))
    return {
      subject: value.id,
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
    const { value, version } = await current(fleet, 'devices', deviceId)
    const settings = await notificationSettings(fleet, value.principal_id)
    const { push: allowed } = await inEffect(fleet, settings.value)
    const { now, actor } = by(fleet, ask)
    if (!isLetIn(value, now)) throw new NotFound('device', deviceId)
    const problem = given && endpointProblem(given, allowed.allow_private)
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
