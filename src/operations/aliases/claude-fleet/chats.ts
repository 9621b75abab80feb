import * as z from 'zod'
import { InvalidInput, NotFound } from '../../../domain/errors.ts'
import { type Asker, type Route, route } from './route.ts'
import { type Member, ownIn, requireSelf, type Team, teamFor, uidOf, userFor } from './who.ts'
import { agentOf, isUnread, type Letter, messageOf } from './words.ts'

const MAX_TEXT = 50_000
const Uid = z.string().min(1).max(120)
const Said = z.object({
  from: Uid,
  text: z.string().min(1).max(MAX_TEXT),
  metadata: z.record(z.string(), z.unknown()).optional(),
})
/** So many of the newest messages of a team are looked at for a list of chats. */
const MOST_LOOKED_AT = 500

/** People and agents of a team, and what two of them write to each other. */
export const CHAT_ROUTES: readonly Route[] = [
  route('GET /users/:uid', z.object({ uid: Uid }), async (asker, { uid }) => {
    const { team, member } = await userFor(asker, uid)
    return agentOf(member, team)
  }),
  route('GET /users/:uid/chats', z.object({ uid: Uid }), async (asker, { uid }) => {
    const { team, member } = await userFor(asker, uid)
    return chatsOf(asker, team, member)
  }),
  route('GET /teams/:team/agents', z.object({ team: z.string().max(120) }), async (asker, { team: name }) => {
    const team = await teamFor(asker, name)
    return team.members.map(each => agentOf(each, team))
  }),
  route(
    'POST /teams/:team/broadcast',
    Said.extend({ team: z.string().max(120) }),
    async (asker, { team: name, from, text, metadata }) => {
      const team = await teamFor(asker, name)
      requireSelf(asker.caller, team, 'from', from)
      const sent = await say(asker, team, ['@all'], withMetadata(text, metadata))
      return { ...messageOf(sent, `team.${team.id}`, team), metadata: { ...metadata, isBroadcast: true } }
    },
  ),
  route('POST /chats', z.object({ uid1: Uid, uid2: Uid }), async (asker, { uid1, uid2 }) => {
    if (uid1 === uid2) throw new InvalidInput('uid2', 'is the same as uid1: nobody chats with themselves')
    const { team } = await userFor(asker, uid1)
    await partners(team, uid1, uid2)
    return { chatId: chatIdOf(uid1, uid2) }
  }),
  route(
    'GET /chats/:chat/messages',
    z.object({
      chat: z.string().max(300),
      limit: z.number().int().min(1).max(100).default(50),
      after: z.string().max(120).optional(),
    }),
    async (asker, { chat, limit, after }) => {
      const { team, pair } = await chatFor(asker, chat)
      const between = pair.map(({ handle }) => handle)
      const ours = { team_id: team.id, between, limit: after === undefined ? limit : MOST_LOOKED_AT }
      const { messages } = await asker.ask<{ messages: Letter[] }>('list_mail', ours)
      const oldestFirst = messages.toReversed()
      const from = oldestFirst.findIndex(({ id }) => id === after) + 1
      return oldestFirst
        .slice(from, after === undefined ? undefined : from + limit)
        .map(each => messageOf(each, chat, team))
    },
  ),
  route(
    'POST /chats/:chat/messages',
    Said.extend({ chat: z.string().max(300) }),
    async (asker, { chat, from, text, metadata }) => {
      const { team, pair } = await chatFor(asker, chat)
      requireSelf(asker.caller, team, 'from', from)
      const other = otherIn(asker, team, pair)
      const sent = await say(asker, team, [other.handle], withMetadata(text, metadata))
      return { ...messageOf(sent, chat, team), metadata: metadata ?? {} }
    },
  ),
  route('POST /chats/:chat/read', z.object({ chat: z.string().max(300), uid: Uid }), async (asker, { chat, uid }) => {
    const { team, pair } = await chatFor(asker, chat)
    requireSelf(asker.caller, team, 'uid', uid)
    const other = otherIn(asker, team, pair)
    const { messages } = await asker.ask<{ messages: Letter[] }>('read_mail', {
      ...{ team_id: team.id, mark_read: false, limit: MOST_LOOKED_AT },
    })
    const mail_ids = messages.filter(({ from }) => from.member_id === other.id).map(({ id }) => id)
    if (mail_ids.length)
      await asker.ask('read_mail', { team_id: team.id, mail_ids, mark_read: true, limit: MOST_LOOKED_AT })
    return { success: true }
  }),
]

/** A message to members, which wakes them. */
export const say = ({ ask }: Asker, { id: team_id }: Team, to: string[], body: string): Promise<Letter> =>
  ask<Letter>('send_mail', { team_id, to, body, wake: true })

/** What a client adds for other programs is told to the recipient, because it is part of what was said. */
const withMetadata = (text: string, metadata: Record<string, unknown> = {}): string =>
  Object.keys(metadata).length ? `${text}\n\n${JSON.stringify(metadata)}` : text

/** A chat is nothing but its two members, so its id says who they are. */
export const chatIdOf = (...uids: string[]): string => uids.toSorted().join('.')

async function chatFor(asker: Asker, chat: string): Promise<{ team: Team; pair: [Member, Member] }> {
  const [one, other, ...more] = chat.split('.')
  if (!one || !other || more.length) throw new NotFound('chat', chat, { try: 'POST /chats makes one.' })
  const { team } = await userFor(asker, one)
  return { team, pair: await partners(team, one, other) }
}

async function partners({ name, members }: Team, ...uids: [string, string]): Promise<[Member, Member]> {
  const of = (uid: string): Member => {
    const found = members.find(each => uidOf(each) === uid)
    if (!found) throw new NotFound(`user in the team ${name}`, uid)
    return found
  }
  return [of(uids[0]), of(uids[1])]
}

/** Whom the caller chats with. */
function otherIn({ caller }: Asker, team: Team, pair: [Member, Member]): Member {
  const own = ownIn(caller, team)
  const others = pair.filter(({ id }) => id !== own?.id)
  if (others.length !== 1) throw new NotFound('chat of yours', chatIdOf(...pair.map(uidOf)))
  return others[0]!
}

async function chatsOf(asker: Asker, team: Team, member: Member) {
  const { messages } = await asker.ask<{ messages: Letter[] }>('list_mail', { team_id: team.id, limit: MOST_LOOKED_AT })
  const chats = new Map<string, { other: Member; newest: Letter; unread: number }>()
  for (const letter of messages)
    for (const other of team.members) {
      if (other.id === member.id || !isBetween(letter, member, other)) continue
      const { newest = letter, unread = 0 } = chats.get(other.id) ?? {}
      const mine = letter.deliveries.find(({ member_id }) => member_id === member.id)
      chats.set(other.id, { other, newest, unread: unread + (mine && isUnread(mine.state) ? 1 : 0) })
    }
  return Array.from(chats.values(), ({ other, newest, unread }) => {
    const id = chatIdOf(uidOf(member), uidOf(other))
    const participants = [uidOf(member), uidOf(other)]
    return { id, participants, unread, lastMessage: messageOf(newest, id, team), updatedAt: newest.created_at }
  })
}

const isBetween = ({ from, deliveries }: Letter, one: Member, other: Member): boolean =>
  (from.member_id === one.id && deliveries.some(({ member_id }) => member_id === other.id)) ||
  (from.member_id === other.id && deliveries.some(({ member_id }) => member_id === one.id))
