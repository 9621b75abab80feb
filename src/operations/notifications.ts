import * as z from 'zod'
import { Forbidden, NotAllowed, NotFound } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { PushSubscription } from '../domain/records/device.ts'
import {
  CHANNELS,
  type Channel,
  Email,
  NEEDS,
  type Notification,
  NotificationSettings,
  Ntfy,
} from '../domain/records/notification.ts'
import { clipped } from '../domain/text.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { deliver } from '../fleet/notifications/delivery.ts'
import { forgetBrowser } from '../fleet/notifications/reactor.ts'
import {
  changeNotificationSettings,
  destinations,
  inEffect,
  MOST_BROWSERS,
  notificationSettings,
  subscribeBrowser,
} from '../fleet/notifications/settings.ts'
import { current, put } from '../fleet/records.ts'
import { isPerson, isPrincipal, reachFor } from './authorize.ts'
import { ask, edits, given, Ref } from './inputs.ts'
import { deviceOf as browserOf, type Caller, command, query } from './operation.ts'

const Last = z
  .object({ at: z.string(), status: z.enum(['waiting', 'sent', 'failed', 'dropped']), outcome: z.string().nullable() })
  .nullable()
  .describe('what became of the newest message')

const SettingsView = z.object({
  limited: z.boolean().describe('the mail server and private addresses are set by somebody else'),
  mail_server: z.boolean().describe('whether there is a mail server to send with'),
  needs: z.array(z.enum(NEEDS)).describe('everything that a person can be told about'),
  quiet: NotificationSettings.shape.quiet,
  page_address: z.string(),
  details: z.boolean(),
  push: NotificationSettings.shape.push.unwrap().extend({
    public_key: z.string().describe('the applicationServerKey for a browser'),
    browsers: z.array(z.object({ device_id: z.string(), name: z.string(), this_one: z.boolean() })),
    last: Last,
  }),
  ntfy: Ntfy.omit({ token: true, since: true }).extend({ has_token: z.boolean(), last: Last }),
  email: Email.omit({ password: true, since: true }).extend({ has_password: z.boolean(), last: Last }),
})

/**
 * Whose notifications are meant: everybody has their own. Null: the owner's. A token with fewer roles must neither read
 * what its person may see, nor send it to somewhere else.
 */
function recipientOf(caller: Caller): string | null {
  if (caller.kind === 'owner') return null
  if (caller.kind !== 'person') throw new Forbidden('Only a person gets notifications.')
  if (caller.limit !== null)
    throw new Forbidden('A token with fewer roles than its person has nothing to do with their notifications.')
  return caller.id
}

/** Whoever may not change the fleet's settings has no mail server of their own, and no private addresses. */
const isLimited = (caller: Caller): boolean => isPrincipal(caller) && reachFor(caller, 'settings.write') !== 'fleet'

const OWNERS_FIELDS = ['allow_private', 'host', 'port', 'security', 'user', 'password', 'from'] as const

function requireOwnFields(caller: Caller, ...edits: (object | undefined)[]): void {
  if (!isLimited(caller)) return
  const field = OWNERS_FIELDS.find(each => edits.some(edit => edit && each in edit))
  if (field) throw new Forbidden(`Your role does not include settings.write, which ${field} needs.`)
}

async function settingsView(fleet: Fleet, caller: Caller): Promise<z.infer<typeof SettingsView>> {
  const recipient = recipientOf(caller)
  const { value } = await notificationSettings(fleet, recipient)
  const effective = await inEffect(fleet, value)
  const own = browserOf(caller)
  const ids = (await destinations(fleet, value)).flatMap(({ device_id }) => device_id ?? [])
  const browsers = await Promise.all(ids.map(id => current(fleet, 'devices', id)))
  const [push, ntfy, email] = await Promise.all(CHANNELS.map(channel => lastOf(fleet, channel, recipient)))
  const { token, since: _, ...ntfyView } = value.ntfy
  const { password, since: __, ...emailView } = value.email
  return {
    limited: isLimited(caller),
    mail_server: effective.email.host !== '' && effective.email.from !== '',
    needs: [...NEEDS],
    quiet: value.quiet,
    page_address: value.page_address,
    details: value.details,
    push: {
      ...value.push,
      public_key: (await fleet.keys.pushKey()).publicKey,
      browsers: browsers.map(({ value: { id, name } }) => ({ device_id: id, name, this_one: id === own })),
      last: push!,
    },
    ntfy: { ...ntfyView, has_token: token !== '', last: ntfy! },
    email: { ...emailView, has_password: password !== '', last: email! },
  }
}

async function newestOf(fleet: Fleet, channel: Channel, recipient: string | null): Promise<Notification | undefined> {
  const query = { index: 'channel', equals: [channel], newestFirst: true, limit: MOST_LOOKED_AT }
  const { items } = await fleet.store.find('notifications', query)
  return items.map(({ value }) => value).find(({ principal_id }) => principal_id === recipient)
}

async function lastOf(fleet: Fleet, channel: Channel, recipient: string | null): Promise<z.infer<typeof Last>> {
  const last = await newestOf(fleet, channel, recipient)
  return last ? { at: last.updated_at, status: last.status, outcome: last.outcome } : null
}

/** A browser speaks for itself only: it alone has the keys of its subscription. */
function ownBrowser(caller: Caller): string {
  const device = isPerson(caller) ? browserOf(caller) : undefined
  if (device) return device
  throw new Forbidden('Only a browser that is signed in can switch its own notifications.')
}

/** Of all people: whose messages are further back than this shows none. */
const MOST_LOOKED_AT = 200
/** A person who may not choose the mail server must not flood through it. */
const TEST_EVERY_MS = 30_000

const SECRET = 'empty removes it; absent keeps it, unless the server changes'

const ageOf = (fleet: Fleet, { created_at }: Notification): number => Date.parse(fleet.now()) - Date.parse(created_at)

export const notifications = [
  query({
    name: 'get_notification_settings',
    may: 'self.manage',
    mcp: false,
    summary: 'Show what people are told about while no page is open, and over which channels',
    http: 'GET /api/notifications/settings',
    input: z.object({}),
    output: SettingsView,
    run: ({ fleet, caller }) => settingsView(fleet, caller),
  }),
  command({
    name: 'set_notification_settings',
    may: 'self.manage',
    // It says where messages go, with secrets.
    mcp: false,
    summary: 'Change what people are told about, over which channels, and the quiet hours',
    http: 'PUT /api/notifications/settings',
    input: z.object({
      quiet: NotificationSettings.shape.quiet.unwrap().optional(),
      page_address: z.string().max(500).optional(),
      details: z.boolean().optional(),
      push: edits(NotificationSettings.shape.push.unwrap()).strict().optional(),
      ntfy: edits(Ntfy.omit({ since: true }).extend({ token: Ntfy.shape.token.describe(SECRET) }))
        .strict()
        .optional(),
      email: edits(Email.omit({ since: true }).extend({ password: Email.shape.password.describe(SECRET) }))
        .strict()
        .optional(),
    }),
    output: SettingsView,
    run: async (context, { push, ntfy, email, ...rest }) => {
      requireOwnFields(context.caller, push, ntfy, email)
      const recipient = recipientOf(context.caller)
      await changeNotificationSettings(
        context.fleet,
        ask(context, 'set_notification_settings'),
        {
          ...given(rest),
          ...(push && { push: given(push) }),
          ...(ntfy && { ntfy: given(ntfy) }),
          ...(email && { email: given(email) }),
        },
        recipient,
      )
      return settingsView(context.fleet, context.caller)
    },
  }),
  command({
    name: 'subscribe_browser',
    may: 'self.manage',
    mcp: false,
    summary: `Send notifications to the browser that asks, through its push service; at most ${MOST_BROWSERS} browsers`,
    http: 'PUT /api/notifications/browser',
    input: PushSubscription.omit({ since: true }),
    output: SettingsView,
    run: async (context, subscription) => {
      const device = ownBrowser(context.caller)
      await subscribeBrowser(context.fleet, ask(context, 'subscribe_browser'), device, subscription)
      return settingsView(context.fleet, context.caller)
    },
  }),
  command({
    name: 'unsubscribe_browser',
    may: 'self.manage',
    mcp: false,
    summary: 'Send no more notifications to the browser that asks',
    http: 'DELETE /api/notifications/browser',
    input: z.object({}),
    output: SettingsView,
    run: async (context, _) => {
      const device = ownBrowser(context.caller)
      await subscribeBrowser(context.fleet, ask(context, 'unsubscribe_browser'), device, null)
      return settingsView(context.fleet, context.caller)
    },
  }),
  command({
    name: 'test_notifications',
    may: 'self.manage',
    mcp: false,
    summary: 'Send a test message over a channel now, and say what happened',
    http: 'POST /api/notifications/test',
    inServer: true,
    input: z.object({ channel: z.enum(CHANNELS) }),
    output: z.object({
      outcomes: z.array(z.object({ to: z.string(), ok: z.boolean(), said: z.string() })),
    }),
    run: async ({ fleet, caller }, { channel }) => {
      const recipient = recipientOf(caller)
      const settings = await inEffect(fleet, (await notificationSettings(fleet, recipient)).value)
      const before = await newestOf(fleet, channel, recipient)
      if (isLimited(caller) && before?.need === 'test' && ageOf(fleet, before) < TEST_EVERY_MS)
        throw new NotAllowed('A test was sent a moment ago.', { try: 'Wait half a minute.' })
      const where =
        channel === 'push'
          ? (await destinations(fleet, settings)).filter(each => each.channel === 'push')
          : [{ channel, device_id: null }]
      if (!where.length)
        throw new NotAllowed('No browser gets notifications.', { try: 'Switch them on in a browser first.' })
      return { outcomes: await Promise.all(where.map(({ device_id }) => sendTest(device_id))) }

      async function sendTest(device_id: string | null) {
        const now = fleet.now()
        const test: Notification = {
          id: newId(),
          ...{
            principal_id: recipient,
            channel,
            device_id,
            event: '',
            need: 'test',
            mission_id: null,
            question_id: null,
            plan_id: null,
          },
          ...{ title: 'Test message', about: 'Notifications from Flotilla reach you here.', detail: '' },
          ...{
            waits_in: null,
            path: '/settings/notifications',
            tries: 1,
            due_at: now,
            created_at: now,
            updated_at: now,
          },
          ...{ status: 'sent', outcome: null },
        }
        // Written first: the browser asks for its words as soon as the message arrives.
        await fleet.commit('commit.notification', { changes: [put('notifications', test, 'absent')] })
        const { ok, said, gone } = await deliver(fleet, settings, test)
        if (gone && device_id) await forgetBrowser(fleet, device_id)
        const { value, version } = await current(fleet, 'notifications', test.id)
        const outcome = clipped(said, 1000)
        const over = { ...value, status: ok ? ('sent' as const) : ('failed' as const), outcome }
        await fleet.commit('commit.notification', { changes: [put('notifications', over, version)] })
        const name = device_id ? (await current(fleet, 'devices', device_id)).value.name : undefined
        return { to: name ?? (channel === 'ntfy' ? settings.ntfy.url : settings.email.to), ok, said }
      }
    },
  }),
  query({
    name: 'get_notification',
    may: 'self.manage',
    mcp: false,
    summary: 'Get the words of a notification, by the id that a push message carries',
    http: 'GET /api/notifications/:notification_id',
    input: z.object({ notification_id: Ref }),
    output: z.object({
      ...{ id: z.string(), need: z.string(), title: z.string(), body: z.string(), path: z.string() },
      tag: z.string().describe('a newer notification with the same tag replaces it'),
    }),
    run: async ({ fleet, caller }, { notification_id }) => {
      const { value } = await current(fleet, 'notifications', notification_id)
      if (value.principal_id !== recipientOf(caller)) throw new NotFound('notification', notification_id)
      const { id, need, title, about, detail, path, plan_id, mission_id } = value
      // The page shows what it notices itself under the same tag, so that there is one of each.
      const tag = plan_id ?? mission_id ?? id
      return { id, need, title, body: [about, detail].filter(Boolean).join('\n'), path, tag }
    },
  }),
]
