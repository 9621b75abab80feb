import { isDeepStrictEqual } from 'node:util'
import { NotAllowed, NotFound } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { Delivery, Mail, type Member, type Team } from '../../domain/records/team.ts'
import type { By } from '../../domain/rules/life.ts'
import * as rules from '../../domain/rules/mail.ts'
import type { StoredText } from '../../domain/text.ts'
import type { Batch, Change, Stored } from '../../store/index.ts'
import { type Fleet, retryOnConflict, retryUntilKnown } from '../fleet.ts'
import { current, derivedId, lookUp, put } from '../records.ts'
import { nextOrder } from './order.ts'
import { aboutTeam, membersOf, requireTeam } from './teams.ts'

export interface Letter extends Pick<Mail, 'subject' | 'priority' | 'needs' | 'deadline'> {
  /** Empty only in a reply: then it goes to whoever wrote the message. */
  to: readonly string[]
  body: string
  reply_to: string | null
  /** Wakes an idle member even if it needs no answer. */
  wake: boolean
  /** Sent twice with the same key, it is one message. */
  key?: string
  /** They are whoever is in a swarm now. The second time these may be others. */
  isSwarm?: boolean
}

/** Who sends. The fleet itself sends reminders. */
export type Sender = Member | 'fleet'

const senderId = (sender: Sender): string => (sender === 'fleet' ? 'fleet' : sender.id)
const isAgent = (sender: Sender): boolean => sender !== 'fleet' && sender.person === null

export interface Sent {
  mail: Mail
  deliveries: Delivery[]
}

/** Commits a message with a delivery for each recipient. The teams reactor wakes them. */
export async function sendMail(
  fleet: Fleet,
  teamId: string,
  sender: Sender,
  letter: Letter,
  actor: string,
): Promise<Sent> {
  const body = await fleet.blobs.keep(letter.body)
  const id = letter.key ? derivedId('mail', teamId, senderId(sender), letter.key) : newId()
  const persist = letter.key ? retryUntilKnown : retryOnConflict
  return persist(async () => {
    const before = letter.key ? await fleet.store.get('mail', id) : undefined
    if (before) return asSent(fleet, before.value, { ...letter, body })
    const { batch, sent } = await mailing(fleet, teamId, sender, { ...letter, body, id }, { actor, now: fleet.now() })
    await fleet.commit('commit.wish', batch)
    return sent
  })
}

type Words = Pick<Mail, 'to' | 'body' | 'reply_to' | 'subject'>

/** A reply without a subject or recipient has that of the message it answers. */
const wordsOf = ({ to, body, reply_to, subject }: Words): Words =>
  reply_to ? { to: [], body, reply_to, subject: '' } : { to, body, reply_to, subject }

async function asSent(fleet: Fleet, mail: Mail, letter: Omit<Letter, 'body'> & { body: StoredText }): Promise<Sent> {
  const wanted = { ...letter, to: letter.isSwarm ? mail.to : [...letter.to] }
  if (!isDeepStrictEqual(wordsOf(mail), wordsOf(wanted)))
    throw new NotAllowed('This key was used for another message.', { try: 'Use another key.' })
  return { mail, deliveries: await deliveriesOf(fleet, mail.id) }
}

export async function deliveriesOf(fleet: Fleet, mailId: string): Promise<Delivery[]> {
  const { items } = await fleet.store.find('deliveries', { index: 'mail', equals: [mailId], limit: 200 })
  return items.map(({ value }) => value)
}

/** Everything that sending a message writes. */
export async function mailing(
  fleet: Fleet,
  teamId: string,
  sender: Sender,
  letter: Omit<Letter, 'body'> & { id: string; body: StoredText },
  when: By,
): Promise<{ batch: Batch; sent: Sent }> {
  const { value: team, version } = await current(fleet, 'teams', teamId)
  requireTeam(team)
  const original = letter.reply_to ? await originalOf(fleet, team, letter.reply_to, sender) : null
  const to = letter.to.length ? letter.to : [await authorOf(fleet, team, original?.mail)]
  const recipients = rules.recipientsOf(to, await addressed(fleet, team, to), senderId(sender))
  const { priority, needs, deadline, subject } = letter
  const mail = Mail.parse({
    ...{ id: letter.id, team_id: teamId, project_id: team.project_id },
    thread: original?.mail.thread ?? letter.id,
    reply_to: original?.mail.id ?? null,
    from:
      sender === 'fleet'
        ? { member_id: null, handle: 'fleet', role: 'the fleet itself' }
        : { member_id: sender.id, handle: sender.handle, role: rules.writesAs(sender) },
    ...{ to, priority, needs, deadline, subject: subject || replySubject(original?.mail), body: letter.body },
    hops: original && isAgent(sender) ? original.mail.hops + 1 : 0,
    order: nextOrder(when.now),
    created_at: when.now,
  })
  const deliveries = await Promise.all(
    recipients.map(async member =>
      Delivery.parse({
        ...{
          id: derivedId('delivery', mail.id, member.id),
          mail_id: mail.id,
          team_id: teamId,
          project_id: team.project_id,
        },
        ...{ member_id: member.id, from: senderId(sender), state: 'queued', needs },
        wakes: needs !== 'none' || letter.wake,
        held: rules.heldBack(
          mail,
          { isAgent: isAgent(sender), sentLately: isAgent(sender) ? await sentLately(fleet, mail, member) : 0 },
          limitsOf(fleet),
        ),
        due_at: dueAt(fleet, mail, when.now),
        order: mail.order,
        created_at: when.now,
      }),
    ),
  )
  const isLate = deadline !== null && deadline <= when.now
  if (isLate) throw new NotAllowed(`The deadline ${deadline} is over.`, { try: 'Give a later one, or none.' })
  const changes: Change[] = [
    put('mail', mail, 'absent'),
    ...deliveries.map(delivery => put('deliveries', delivery, 'absent')),
    ...(original?.delivery
      ? [put('deliveries', rules.answered(original.delivery.value, 'replied', when.now), original.delivery.version)]
      : []),
  ]
  const event = aboutTeam(team, 'mail_sent', when, {
    mail: mail.id,
    from: mail.from.handle,
    to: mail.to,
    members: recipients.map(({ id }) => id),
    ...(mail.reply_to && { reply_to: mail.reply_to }),
  })
  // Whoever was dismissed in the meantime gets nothing more.
  const checks = [{ collection: 'teams' as const, id: teamId, expects: version }]
  return { batch: { changes, checks, events: [event] }, sent: { mail, deliveries } }
}

export const limitsOf = ({ settings }: Fleet): rules.TalkLimits => ({
  maxHops: settings.mailHops,
  perMinute: settings.mailPerMinute,
  wakesPerHour: settings.wakesPerHour,
})

/** Members that an address may mean. Names are in the roster; for a role or all, everybody is read. */
async function addressed(fleet: Fleet, team: Team, to: readonly string[]): Promise<Member[]> {
  const named = to.map(address => {
    const name = address.replace(/^@/, '').toLowerCase()
    return rules.isGroup(address) ? undefined : team.roster.find(({ handle }) => handle.toLowerCase() === name)
  })
  return membersOf(fleet, named.every(entry => entry !== undefined) ? { roster: named } : team)
}

/** The message that is answered, and its delivery to whoever answers. */
async function originalOf(
  fleet: Fleet,
  team: Team,
  ref: string,
  sender: Sender,
): Promise<{ mail: Mail; delivery: Stored<Delivery> | undefined }> {
  const { value: mail } = await lookUp(fleet, 'mail', ref)
  if (mail.team_id !== team.id) throw new NotFound('message', ref)
  const delivery = await fleet.store.get('deliveries', derivedId('delivery', mail.id, senderId(sender)))
  // Whoever follows up on a message of their own answers nothing.
  if (!delivery && mail.from.member_id !== senderId(sender))
    throw new NotAllowed(`Message ${mail.id} was not addressed to you.`, { try: 'Write a message of your own.' })
  if (delivery && sender !== 'fleet') requireReleased(delivery.value, sender)
  return { mail, delivery }
}

function requireReleased(delivery: Delivery, member: Member): void {
  if (rules.isWithheld(delivery, member))
    throw new NotAllowed(`Message ${delivery.mail_id} is held back. ${delivery.held}`, { try: 'Write to a person.' })
}

async function authorOf(fleet: Fleet, team: Team, mail: Mail | undefined): Promise<string> {
  const author = mail?.from.member_id ? await fleet.store.get('members', mail.from.member_id) : undefined
  if (!mail)
    throw new NotAllowed('A message needs a recipient.', {
      try: `The team ${team.name} has ${team.roster.map(({ handle }) => handle).join(', ')}.`,
    })
  if (!author) throw new NotAllowed('The fleet itself wrote this message. Name a recipient.')
  if (author.value.dismissed_at) throw new NotAllowed(`${author.value.handle} was dismissed. Name another recipient.`)
  return author.value.handle
}

const replySubject = (original: Mail | undefined): string => {
  const subject = original?.subject ?? ''
  return subject && !/^re:/i.test(subject) ? `Re: ${subject}`.slice(0, 200) : subject
}

const MINUTE_US = 60_000_000

/** How many messages the sender wrote to the same member within the last minute. */
async function sentLately(fleet: Fleet, { from, order }: Mail, member: Member): Promise<number> {
  const query = { index: 'pair', equals: [from.member_id!, member.id], newestFirst: true }
  const { items } = await fleet.store.find('deliveries', {
    ...query,
    limit: Math.min(500, fleet.settings.mailPerMinute),
  })
  return items.filter(({ value }) => value.order > order - MINUTE_US).length
}

/** When somebody has to be reminded; for a message that needs no answer, when it is too late to hand it over. */
function dueAt({ settings }: Fleet, { needs, deadline }: Mail, now: string): string | null {
  if (deadline) return deadline
  if (needs !== 'reply' && needs !== 'decision') return null
  return new Date(Date.parse(now) + settings.replyWithin * 1000).toISOString()
}

/** The delivery of a message to a member. */
export async function deliveryTo(fleet: Fleet, mailRef: string, member: Member): Promise<Stored<Delivery>> {
  const { value: mail } = await lookUp(fleet, 'mail', mailRef)
  const found = await fleet.store.get('deliveries', derivedId('delivery', mail.id, member.id))
  if (!found) throw new NotFound('message to you', mailRef, { try: 'fleet mail list' })
  requireReleased(found.value, member)
  return found
}

type Act = 'acked' | 'declined'

/** The recipient acknowledges a message, or declines what it asks for. Of two acts on one message, one counts. */
export async function answerMail(
  fleet: Fleet,
  member: Member,
  mailRef: string,
  answer: Act,
  { reason = null, actor }: { reason?: string | null; actor: string },
): Promise<Delivery> {
  return retryOnConflict(async () => {
    const { value, version } = await deliveryTo(fleet, mailRef, member)
    if (value.state === answer) return value
    const when = { actor, now: fleet.now() }
    const next = rules.answered(value, answer, when.now, reason)
    await fleet.commit('commit.wish', {
      changes: [put('deliveries', next, version)],
      events: [aboutDelivery(next, 'mail_answered', when, { answer })],
    })
    return next
  })
}

export const aboutDelivery = (
  { mail_id, member_id, team_id, project_id, state }: Delivery,
  kind: Parameters<typeof aboutTeam>[1],
  when: By,
  data: Record<string, unknown> = {},
) => aboutTeam({ id: team_id, project_id }, kind, when, { mail: mail_id, member: member_id, state, ...data })

/** The sender takes a message back from whoever it was not handed to. */
export async function cancelMail(
  fleet: Fleet,
  mail: Mail,
  actor: string,
): Promise<{ cancelled: Delivery[]; kept: Delivery[] }> {
  const cancelled: Delivery[] = []
  const kept: Delivery[] = []
  for (const { id } of await deliveriesOf(fleet, mail.id)) {
    const after = await retryOnConflict(async () => {
      const { value, version } = await current(fleet, 'deliveries', id)
      const when = { actor, now: fleet.now() }
      const next = rules.withdrawn(value, when.now)
      if (!next) return { value, done: false }
      await fleet.commit('commit.wish', {
        changes: [put('deliveries', next, version)],
        events: [aboutDelivery(next, 'mail_cancelled', when)],
      })
      return { value: next, done: true }
    })
    ;(after.done ? cancelled : kept).push(after.value)
  }
  return { cancelled, kept }
}

/** A message that was fetched before it was told need not be told any more. */
async function fetchedMessage(fleet: Fleet, delivery: Delivery): Promise<Change[]> {
  const message = await fleet.store.get('messages', rules.messageOf(delivery))
  return message?.value.status === 'waiting'
    ? [put('messages', { ...message.value, status: 'missed' }, message.version)]
    : []
}

/** A person lets mail go that limits held back. */
export async function releaseMail(fleet: Fleet, mail: Mail, actor: string): Promise<Delivery[]> {
  const held = (await deliveriesOf(fleet, mail.id)).filter(({ held }) => held !== null)
  for (const { id } of held)
    await retryOnConflict(async () => {
      const { value, version } = await current(fleet, 'deliveries', id)
      if (value.held === null || value.state !== 'queued') return
      const next = { ...value, held: null }
      await fleet.commit('commit.wish', {
        changes: [put('deliveries', next, version)],
        events: [aboutDelivery(next, 'mail_released', { actor, now: fleet.now() })],
      })
    })
  return deliveriesOf(fleet, mail.id)
}

/** Messages to a member. Unread ones count as heard through a tool from then on. */
export async function fetchMail(
  fleet: Fleet,
  member: Member,
  {
    unread,
    thread,
    only,
    limit,
    cursor,
    mark,
    session,
  }: {
    unread: boolean
    thread?: string
    only?: ReadonlySet<string>
    limit: number
    cursor?: string
    mark: boolean
    session: string | null
  },
): Promise<{ items: { mail: Mail; delivery: Delivery }[]; cursor?: string }> {
  const query = unread
    ? { index: 'open', equals: [member.id], limit, cursor }
    : { index: 'member', equals: [member.id], newestFirst: true, limit, cursor }
  const page = await fleet.store.find('deliveries', query)
  const items: { mail: Mail; delivery: Delivery }[] = []
  for (const { value } of page.items) {
    if (rules.isWithheld(value, member)) continue
    const mail = (await fleet.store.get('mail', value.mail_id))?.value
    if (mail && (!thread || mail.thread === thread) && (!only || only.has(mail.id)))
      items.push({ mail, delivery: mark ? await heardByTool(fleet, value, session) : value })
  }
  return { items, cursor: page.cursor }
}

/** What two members wrote to each other, newest first. */
export async function mailBetween(fleet: Fleet, one: string, other: string, limit: number): Promise<Mail[]> {
  const sent = async (from: string, to: string) =>
    (await fleet.store.find('deliveries', { index: 'pair', equals: [from, to], newestFirst: true, limit })).items
  const both = [...(await sent(one, other)), ...(one === other ? [] : await sent(other, one))]
  const newest = both.toSorted((a, b) => b.value.order - a.value.order).slice(0, limit)
  const found = await Promise.all(newest.map(({ value }) => fleet.store.get('mail', value.mail_id)))
  return found.flatMap(stored => stored?.value ?? [])
}

async function heardByTool(fleet: Fleet, { id }: Delivery, session: string | null): Promise<Delivery> {
  return retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'deliveries', id)
    if (!rules.isUnread(value)) return value
    const now = fleet.now()
    const mine = value.state === 'handed' ? value : rules.handed(value, { session_id: session, via: 'tool' }, now)
    const next = { ...rules.heard(mine, 'tool', now), held: null }
    await fleet.commit('commit.wish', {
      changes: [put('deliveries', next, version), ...(await fetchedMessage(fleet, next))],
      events: [aboutDelivery(next, 'mail_heard', { actor: 'fleet', now })],
    })
    return next
  })
}
