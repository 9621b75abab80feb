import * as z from 'zod'
import { Forbidden, NotAllowed } from '../domain/errors.ts'
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
  MOST_BROWSERS,
  notificationSettings,
  subscribeBrowser,
} from '../fleet/notifications/settings.ts'
import { current, put } from '../fleet/records.ts'
import { ask, edits, given, Ref } from './inputs.ts'
import { type Caller, command, query } from './operation.ts'

const Last = z
  .object({ at: z.string(), status: z.enum(['waiting', 'sent', 'failed', 'dropped']), outcome: z.string().nullable() })
  .nullable()
  .describe('what became of the newest message')

const SettingsView = z.object({
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

async function settingsView(fleet: Fleet, caller: Caller): Promise<z.infer<typeof SettingsView>> {
  const { value } = await notificationSettings(fleet)
  const own = caller.kind === 'owner' ? caller.device : undefined
  const ids = (await destinations(fleet, value)).flatMap(({ device_id }) => device_id ?? [])
  const browsers = await Promise.all(ids.map(id => current(fleet, 'devices', id)))
  const [push, ntfy, email] = await Promise.all(CHANNELS.map(channel => lastOf(fleet, channel)))
  const { token, since: _, ...ntfyView } = value.ntfy
  const { password, since: __, ...emailView } = value.email
  return {
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

async function lastOf(fleet: Fleet, channel: Channel): Promise<z.infer<typeof Last>> {
  const query = { index: 'channel', equals: [channel], newestFirst: true, limit: 1 }
  const last = (await fleet.store.find('notifications', query)).items[0]?.value
  return last ? { at: last.updated_at, status: last.status, outcome: last.outcome } : null
}

/** A browser speaks for itself only: it alone has the keys of its subscription. */
function deviceOf(caller: Caller): string {
  if (caller.kind === 'owner' && !caller.plugin && caller.device) return caller.device
  throw new Forbidden('Only a browser that is signed in can switch its own notifications.')
}

const SECRET = 'empty removes it; absent keeps it, unless the server changes'

export const notifications = [
  query({
    name: 'get_notification_settings',
    may: 'system.inspect',
    mcp: false,
    summary: 'Show what people are told about while no page is open, and over which channels',
    http: 'GET /api/notifications/settings',
    input: z.object({}),
    output: SettingsView,
    run: ({ fleet, caller }) => settingsView(fleet, caller),
  }),
  command({
    name: 'set_notification_settings',
    may: 'settings.write',
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
      await changeNotificationSettings(context.fleet, ask(context, 'set_notification_settings'), {
        ...given(rest),
        ...(push && { push: given(push) }),
        ...(ntfy && { ntfy: given(ntfy) }),
        ...(email && { email: given(email) }),
      })
      return settingsView(context.fleet, context.caller)
    },
  }),
  command({
    name: 'subscribe_browser',
    may: 'devices.manage',
    mcp: false,
    summary: `Send notifications to the browser that asks, through its push service; at most ${MOST_BROWSERS} browsers`,
    http: 'PUT /api/notifications/browser',
    input: PushSubscription.omit({ since: true }),
    output: SettingsView,
    run: async (context, subscription) => {
      const device = deviceOf(context.caller)
      await subscribeBrowser(context.fleet, ask(context, 'subscribe_browser'), device, subscription)
      return settingsView(context.fleet, context.caller)
    },
  }),
  command({
    name: 'unsubscribe_browser',
    may: 'devices.manage',
    mcp: false,
    summary: 'Send no more notifications to the browser that asks',
    http: 'DELETE /api/notifications/browser',
    input: z.object({}),
    output: SettingsView,
    run: async (context, _) => {
      const device = deviceOf(context.caller)
      await subscribeBrowser(context.fleet, ask(context, 'unsubscribe_browser'), device, null)
      return settingsView(context.fleet, context.caller)
    },
  }),
  command({
    name: 'test_notifications',
    may: 'settings.write',
    mcp: false,
    summary: 'Send a test message over a channel now, and say what happened',
    http: 'POST /api/notifications/test',
    inServer: true,
    input: z.object({ channel: z.enum(CHANNELS) }),
    output: z.object({
      outcomes: z.array(z.object({ to: z.string(), ok: z.boolean(), said: z.string() })),
    }),
    run: async ({ fleet }, { channel }) => {
      const { value: settings } = await notificationSettings(fleet)
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
          ...{ channel, device_id, event: '', need: 'test', mission_id: null, question_id: null, plan_id: null },
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
    may: 'missions.read',
    mcp: false,
    summary: 'Get the words of a notification, by the id that a push message carries',
    http: 'GET /api/notifications/:notification_id',
    input: z.object({ notification_id: Ref }),
    output: z.object({
      ...{ id: z.string(), need: z.string(), title: z.string(), body: z.string(), path: z.string() },
      tag: z.string().describe('a newer notification with the same tag replaces it'),
    }),
    run: async ({ fleet }, { notification_id }) => {
      const { value } = await current(fleet, 'notifications', notification_id)
      const { id, need, title, about, detail, path, plan_id, mission_id } = value
      // The page shows what it notices itself under the same tag, so that there is one of each.
      const tag = plan_id ?? mission_id ?? id
      return { id, need, title, body: [about, detail].filter(Boolean).join('\n'), path, tag }
    },
  }),
]
