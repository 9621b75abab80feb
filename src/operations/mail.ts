import * as z from 'zod'
import { Forbidden, NotFound } from '../domain/errors.ts'
import { Timestamp } from '../domain/ids.ts'
import {
  type Delivery,
  MAX_MAIL_CHARS,
  MAX_MAIL_SUBJECT,
  MOST_MEMBERS,
  Needs,
  PRIORITIES,
  type Team,
} from '../domain/records/team.ts'
import { lookUp } from '../fleet/records.ts'
import * as post from '../fleet/teams/mail.ts'
import { lookUpMember } from '../fleet/teams/members.ts'
import { untilSeen } from '../fleet/watching.ts'
import { isPerson } from './authorize.ts'
import { actorOf, Paging, Ref } from './inputs.ts'
import { DeliveryView, deliveryView, MailView, mailView, SentView, sentView } from './mail-view.ts'
import { type Context, command, query } from './operation.ts'
import { addressesGroup, knownIn, memberIn, ofTeam, requireBroadcaster, teamOf } from './team-callers.ts'
import { MemberRef } from './teams.ts'

/** Clients give a call up that takes longer. */
const MOST_WAIT_SECONDS = 25

const TeamRef = Ref.optional().describe('a team; default: your own, or the only one')
const MailRef = Ref.describe('the id of a message')

const Body = z.string().min(1).max(MAX_MAIL_CHARS)
const Letter = z.object({
  body: Body,
  subject: z.string().max(MAX_MAIL_SUBJECT).default(''),
  needs: Needs.default('none').describe('what is expected of the recipient. Anything but none wakes it'),
  priority: z.enum(PRIORITIES).default('normal'),
  deadline: Timestamp.optional().describe(
    'until when; without an answer the recipient is reminded, then its lead, then you',
  ),
  wake: z.boolean().default(false).describe('wake an idle member even though nothing is needed of it'),
})

async function mailOf(context: Context, ref: string) {
  const { value: mail, team } = await ofTeam(context, 'mail', ref)
  return { mail, team }
}

export const mail = [
  command({
    name: 'send_mail',
    may: 'mail.send',
    touches: 'view',
    mayAlso: ({ to = [] }) => (addressesGroup([to].flat()) ? ['mail.broadcast'] : []),
    mcp: { set: 'teams', name: 'mail_send' },
    summary:
      'Write to members of a team, by name, @role or @all. Idle members are woken if something is needed of them',
    http: 'POST /api/mail',
    needsFleet: true,
    agentMay: () => true,
    input: Letter.extend({
      team_id: TeamRef,
      to: z.union([z.string().min(1).max(60), z.array(z.string().min(1).max(60)).min(1).max(MOST_MEMBERS)]),
    }),
    output: SentView,
    run: async (context, { team_id, to, deadline = null, ...letter }) => {
      const team = await teamOf(context, team_id)
      const sender = await memberIn(context, team)
      const recipients = [to].flat()
      requireBroadcaster(sender, recipients)
      const wanted = { ...letter, deadline, to: recipients, reply_to: null, key: context.key }
      const sent = await post.sendMail(context.fleet, team.id, sender, wanted, actorOf(context))
      return sentView(context.fleet, sent)
    },
  }),
  command({
    name: 'reply_mail',
    may: 'mail.send',
    mcp: { set: 'teams', name: 'mail_reply' },
    summary: 'Reply to a message. It then counts as answered; of two replies at once, one counts',
    http: 'POST /api/mail/:mail_id/reply',
    needsFleet: true,
    agentMay: () => true,
    input: Letter.extend({ mail_id: MailRef }),
    output: SentView,
    run: async (context, { mail_id, deadline = null, ...letter }) => {
      const { mail: original, team } = await mailOf(context, mail_id)
      const sender = await memberIn(context, team)
      const wanted = { ...letter, deadline, to: [], reply_to: original.id, key: context.key }
      const sent = await post.sendMail(context.fleet, team.id, sender, wanted, actorOf(context))
      return sentView(context.fleet, sent)
    },
  }),
  command({
    name: 'ack_mail',
    may: 'mail.send',
    mcp: { set: 'teams', name: 'mail_ack' },
    summary: 'Acknowledge a message to you',
    http: 'POST /api/mail/:mail_id/ack',
    agentMay: () => true,
    input: z.object({ mail_id: MailRef }),
    output: DeliveryView,
    run: async (context, { mail_id }) => answer(context, mail_id, 'acked'),
  }),
  command({
    name: 'decline_mail',
    may: 'mail.send',
    mcp: { set: 'teams', name: 'mail_decline' },
    summary: 'Decline what a message to you asks for, with the reason',
    http: 'POST /api/mail/:mail_id/decline',
    agentMay: () => true,
    input: z.object({ mail_id: MailRef, reason: z.string().min(1).max(4000) }),
    output: DeliveryView,
    run: async (context, { mail_id, reason }) => answer(context, mail_id, 'declined', reason),
  }),
  command({
    name: 'cancel_mail',
    may: 'mail.send',
    mcp: { set: 'teams', name: 'mail_cancel' },
    summary: 'Take back a message of yours from everybody it was not handed to yet',
    http: 'POST /api/mail/:mail_id/cancel',
    agentMay: () => true,
    input: z.object({ mail_id: MailRef }),
    output: z.object({ cancelled: z.array(DeliveryView), kept: z.array(DeliveryView).describe('too late for these') }),
    run: async (context, { mail_id }) => {
      const { mail: mine, team } = await mailOf(context, mail_id)
      const sender = await knownIn(context, team)
      if (mine.from.member_id === null || mine.from.member_id !== sender?.id)
        throw new Forbidden(`${mine.from.handle} wrote this message, and only they can cancel it.`)
      const { cancelled, kept } = await post.cancelMail(context.fleet, mine, actorOf(context))
      const views = (deliveries: Delivery[]) => Promise.all(deliveries.map(each => deliveryView(context.fleet, each)))
      return { cancelled: await views(cancelled), kept: await views(kept) }
    },
  }),
  command({
    name: 'release_mail',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Let a message go that the limits of talk between agents hold back',
    http: 'POST /api/mail/:mail_id/release',
    needsFleet: true,
    input: z.object({ mail_id: MailRef }),
    output: MailView,
    run: async (context, { mail_id }) => {
      if (!isPerson(context.caller)) throw new Forbidden('Only a person can release a message.')
      const { mail: held } = await mailOf(context, mail_id)
      return mailView(context.fleet, held, await post.releaseMail(context.fleet, held, actorOf(context)))
    },
  }),
  command({
    name: 'read_mail',
    may: 'mail.send',
    touches: 'view',
    mcp: { set: 'teams', name: 'mail_read', defaults: { limit: 20 } },
    summary: 'Read your mail: what is unread or unanswered, oldest first, or everything, newest first',
    http: 'POST /api/mail/read',
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      filter: z.enum(['unread', 'all']).default('unread'),
      thread: Ref.optional().describe('only messages of this conversation'),
      mail_ids: z.array(z.string().max(120)).max(500).optional().describe('only these messages, by their whole ids'),
      wait_seconds: z
        .number()
        .int()
        .min(0)
        .max(MOST_WAIT_SECONDS)
        .default(0)
        .describe('wait so long for mail if there is none. Only for a session that nobody wakes'),
      mark_read: z.boolean().default(true).describe('from then on the messages count as heard'),
      ...Paging,
    }),
    output: z.object({ messages: z.array(MailView), cursor: z.string().optional() }),
    run: async (context, { team_id, filter, thread, mail_ids, mark_read, wait_seconds, limit, cursor }) => {
      const team = await teamOf(context, team_id)
      const reader = await knownIn(context, team)
      if (!reader) return { messages: [] }
      const session = context.caller.kind === 'session' ? context.caller.session_id : null
      const only = mail_ids && new Set(mail_ids)
      const wanted = { unread: filter === 'unread', thread, only, limit, cursor, mark: mark_read, session }
      const isThere = async () => {
        const found = await post.fetchMail(context.fleet, reader, { ...wanted, mark: false })
        return found.items.length ? true : undefined
      }
      const patience = { ms: wait_seconds * 1000, signal: context.signal }
      if (wait_seconds) await untilSeen(context.fleet.store, isThere, patience)
      const page = await post.fetchMail(context.fleet, reader, wanted)
      const messages = page.items.map(({ mail: each, delivery }) => mailView(context.fleet, each, [delivery]))
      return { messages: await Promise.all(messages), ...(page.cursor && { cursor: page.cursor }) }
    },
  }),
  query({
    name: 'list_mail',
    may: 'teams.read',
    mcp: 'teams',
    summary: 'List the messages of a team, newest first, or one thread in its order, with who heard and answered each',
    http: 'GET /api/mail',
    agentMay: (_, { between }) => between !== undefined,
    input: z.object({
      team_id: TeamRef,
      thread: Ref.optional(),
      between: z
        .array(MemberRef)
        .length(2)
        .optional()
        .describe('only what these two wrote to each other, newest first and without a cursor'),
      ...Paging,
    }),
    output: z.object({ messages: z.array(MailView), cursor: z.string().optional() }),
    run: async (context, { team_id, thread, between, limit, cursor }) => {
      const { fleet } = context
      if (between) return { messages: await conversation(context, await teamOf(context, team_id), between, limit) }
      const first = thread === undefined ? undefined : (await lookUp(fleet, 'mail', thread)).value
      const range = first
        ? { index: 'thread', equals: [first.thread] }
        : { index: 'team', equals: [(await teamOf(context, team_id)).id], newestFirst: true }
      const page = await fleet.store.find('mail', { ...range, limit, cursor })
      const messages = await Promise.all(page.items.map(({ value }) => mailView(fleet, value)))
      return { messages, ...(page.cursor && { cursor: page.cursor }) }
    },
  }),
  query({
    name: 'get_mail',
    may: 'teams.read',
    mcp: 'teams',
    summary: 'Show a message with its deliveries. An agent sees those that it wrote or got',
    http: 'GET /api/mail/:mail_id',
    agentMay: () => true,
    input: z.object({ mail_id: MailRef }),
    output: MailView,
    run: async (context, { mail_id }) => {
      const { mail: shown, team } = await mailOf(context, mail_id)
      const deliveries = await post.deliveriesOf(context.fleet, shown.id)
      const reader = context.caller.kind === 'session' ? await memberIn(context, team) : undefined
      const isTheirs = [shown.from, ...deliveries].some(({ member_id }) => member_id === reader?.id)
      if (reader && !isTheirs) throw new NotFound('message', mail_id, { try: 'fleet mail read' })
      return mailView(context.fleet, shown, deliveries)
    },
  }),
]

/** What two members wrote to each other. An agent sees only its own conversations. */
async function conversation(context: Context, team: Team, between: readonly string[], limit: number) {
  const { fleet } = context
  const [one, other] = await Promise.all(between.map(async ref => (await lookUpMember(fleet, team, ref)).value.id))
  const reader = context.caller.kind === 'session' ? await memberIn(context, team) : undefined
  if (reader && reader.id !== one && reader.id !== other)
    throw new Forbidden(`${reader.handle} may read only its own conversations.`)
  const found = await post.mailBetween(fleet, one!, other!, limit)
  return Promise.all(found.map(each => mailView(fleet, each)))
}

async function answer(
  context: Context,
  mailId: string,
  act: Parameters<typeof post.answerMail>[3],
  reason?: string,
): Promise<z.infer<typeof DeliveryView>> {
  const { mail: asked, team } = await mailOf(context, mailId)
  const member = await memberIn(context, team)
  const told = { actor: actorOf(context), reason: reason ?? null }
  return deliveryView(context.fleet, await post.answerMail(context.fleet, member, asked.id, act, told))
}
