import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'

/** The ways in which a person is told while no page is open. */
export const CHANNELS = ['push', 'ntfy', 'email'] as const
export type Channel = (typeof CHANNELS)[number]

/** What a person can be needed for. */
export const NEEDS = ['input', 'review', 'blocked', 'failed', 'budget'] as const
export type Need = (typeof NEEDS)[number]

const Told = z.object({
  needs: z
    .array(z.enum(NEEDS))
    .max(NEEDS.length)
    .default([...NEEDS]),
})
const Private = z.object({
  allow_private: z
    .boolean()
    .default(false)
    .describe('whether its address may be on this machine or in a private network'),
})
/** Events before `since` are not told. */
const Switched = Told.extend(Private.shape).extend({
  on: z.boolean().default(false),
  since: Timestamp.nullable().default(null),
})

export const SECURITY = ['tls', 'starttls', 'none'] as const
const Word = z.string().max(500).default('')

const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'a time such as 22:00')

export const QuietHours = z.strictObject({
  from: TimeOfDay,
  to: TimeOfDay,
  time_zone: z.string().max(80).refine(isTimeZone, { message: 'is not a time zone; use a name such as Europe/Berlin' }),
})
export type QuietHours = z.infer<typeof QuietHours>

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

export const Ntfy = Switched.extend({
  url: Word.describe('the address of the topic, such as https://ntfy.sh/my-secret-topic'),
  token: Word,
})
export type Ntfy = z.infer<typeof Ntfy>

export const Email = Switched.extend({
  host: Word.describe('the mail server (SMTP)'),
  port: z.number().int().min(1).max(65_535).default(465),
  security: z
    .enum(SECURITY)
    .default('tls')
    .describe('tls: from the first byte; starttls: required before anything is sent; none: not encrypted'),
  user: Word,
  password: Word,
  from: Word,
  to: Word,
})
export type Email = z.infer<typeof Email>

/** What somebody wants to be told, and how: one record for each person. That of the owner has this id. */
export const NOTIFICATIONS = 'notifications'
export const settingsIdOf = (principalId: string | null): string =>
  principalId === null ? NOTIFICATIONS : `${NOTIFICATIONS}:${principalId}`
/** Whose settings they are. Null: the owner's. */
export const whoseSettings = (id: string): string | null =>
  id === NOTIFICATIONS ? null : id.slice(NOTIFICATIONS.length + 1)

export const NotificationSettings = z.object({
  id: Id,
  quiet: QuietHours.nullable().default(null),
  page_address: Word.describe('the address of this page for links in messages; empty: messages have no link'),
  details: z.boolean().default(false).describe("whether messages contain the agent's words, besides the title"),
  push: Told.extend(Private.shape).prefault({}),
  ntfy: Ntfy.prefault({}),
  email: Email.prefault({}),
  /** Every event up to here is told, or was not to be told. */
  cursor: z.string().nullable().default(null),
  updated_at: Timestamp,
})
export type NotificationSettings = z.infer<typeof NotificationSettings>

/** A message to a person about one event, over one channel. */
export const Notification = z.object({
  id: Id.describe('derived from its event and where it goes, so that each event is told once'),
  principal_id: Id.nullable().default(null).describe('whom it is for; empty: the owner of the home'),
  channel: z.enum(CHANNELS),
  device_id: Id.nullable().describe('the browser, if the channel is push'),
  event: z.string().describe('the cursor of the event'),
  need: z.enum([...NEEDS, 'many', 'test']),
  /** What it is about. It is dropped if this no longer waits for a person. */
  mission_id: Id.nullable().default(null),
  waits_in: z.string().nullable().default(null).describe('the status of the mission'),
  question_id: Id.nullable().default(null),
  plan_id: Id.nullable().default(null),
  title: z.string().max(300),
  about: z.string().max(300).describe('the title of the mission or plan'),
  detail: z.string().max(1000).describe("the agent's words"),
  path: z.string().max(200).describe('the page it leads to'),
  status: z.enum(['waiting', 'sent', 'failed', 'dropped']),
  tries: z.number().int().default(0),
  due_at: Timestamp,
  outcome: z.string().max(1000).nullable().default(null).describe('what happened at the last try'),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Notification = z.infer<typeof Notification>
