import { NotAllowed, NotFound } from '../errors.ts'
import { type Delivery, type Mail, MEMBER_ROLES, type Member, type Team } from '../records/team.ts'
import { fuzzyFind } from './fuzzy.ts'

/** What agents are told of somebody who writes. They heed a person, so nothing else is called one. */
export const writesAs = ({ person, role }: Pick<Member, 'person' | 'role'>): string =>
  person === null ? role : person.startsWith('service:') ? 'a service' : 'a person'

/** Nothing more is expected of its recipient. */
export const isClosed = ({ state, needs }: Pick<Delivery, 'state' | 'needs'>): boolean =>
  !(state === 'queued' || state === 'handed' || (state === 'heard' && needs !== 'none'))

/** It has not reached its recipient. */
export const isUnread = ({ state }: Pick<Delivery, 'state'>): boolean => state === 'queued' || state === 'handed'

/** Who gets a message: names, `@name`, `@role` or `@all`. Never its sender. */
export function recipientsOf(to: readonly string[], members: readonly Member[], sender: string | null): Member[] {
  const present = members.filter(({ dismissed_at }) => dismissed_at === null)
  const found = new Map<string, Member>()
  for (const address of to) {
    const named = membersAt(address, present)
    if (!named) throw unknown(address, present)
    for (const member of named) if (member.id !== sender) found.set(member.id, member)
  }
  if (!found.size)
    throw new NotAllowed(`Nobody but the sender is addressed by ${to.join(', ')}.`, {
      try: `Write to ${names(present.filter(({ id }) => id !== sender))}.`,
    })
  return [...found.values()]
}

/** What an address with an @ means that is no name. */
const GROUPS: readonly string[] = ['all', ...MEMBER_ROLES]

export const isGroup = (address: string): boolean =>
  address.startsWith('@') && GROUPS.includes(address.slice(1).toLowerCase())

/** Nobody in a team is called so: whoever has the name of a group could pass for it, and the fleet writes as `fleet`. */
export const isReserved = (handle: string): boolean => [...GROUPS, 'fleet'].includes(handle.toLowerCase())

/** Who an address means. A group comes before a name. Undefined: nobody is called so. */
export function membersAt<M extends Pick<Member, 'handle' | 'role'>>(
  address: string,
  members: readonly M[],
): M[] | undefined {
  const name = address.replace(/^@/, '').toLowerCase()
  const isMeant = ({ handle, role }: M): boolean =>
    isGroup(address) ? name === 'all' || role === name : handle.toLowerCase() === name
  const found = members.filter(isMeant)
  return found.length ? found : undefined
}

const names = (members: readonly Member[]): string => members.map(({ handle }) => handle).join(', ') || 'nobody'

function unknown(address: string, members: readonly Member[]): NotFound {
  const handles = members.map(({ handle }) => handle)
  const near = fuzzyFind(address.replace(/^@/, ''), handles, 3)
  return new NotFound('member', address, { try: `The team has ${(near.length ? near : handles).join(', ')}.` })
}

/** The steps of an escalation: the member, whoever it works for or the leads, the people. */
export const LADDER = ['member', 'lead', 'people'] as const

/** Who is told at a step that an answer is overdue. Nobody reminds themselves. */
export function toldAt(step: (typeof LADDER)[number], member: Member, present: readonly Member[]): Member[] {
  if (step === 'member') return member.person === null ? [member] : []
  const others = present.filter(({ id }) => id !== member.id)
  if (step === 'people') return others.filter(({ person }) => person !== null)
  const boss = others.filter(({ id }) => id === member.works_for)
  return boss.length ? boss : others.filter(({ person, role }) => person === null && role === 'team-lead')
}

export interface TalkLimits {
  /** How many messages of agents may follow each other in one thread. */
  maxHops: number
  /** How many messages a minute one member may send to another. */
  perMinute: number
  /** How often mail may wake a member within an hour. */
  wakesPerHour: number
}

/** Why a message waits for a person, if it does. People are not held back. */
export function heldBack(
  { hops, from }: Pick<Mail, 'hops' | 'from'>,
  { sentLately, isAgent }: { sentLately: number; isAgent: boolean },
  { maxHops, perMinute }: TalkLimits,
): string | null {
  if (!isAgent) return null
  if (hops > maxHops)
    return `Agents have answered each other ${hops} times in this thread; the limit is ${maxHops}. A person must release it.`
  if (sentLately >= perMinute)
    return `${from.handle} sent ${sentLately} messages to the same member within a minute; the limit is ${perMinute}. A person must release it.`
  return null
}

/** Whether queued mail starts a session of an idle member, and if not, why. */
export type Waking = { wake: true } | { wake: false; held: Member['held'] }

const HOUR_MS = 3_600_000

export function wakingOf(
  { member, team, queued }: { member: Member; team: Team; queued: readonly Delivery[] },
  { wakesPerHour }: Pick<TalkLimits, 'wakesPerHour'>,
  now: string,
): Waking {
  if (!queued.some(({ wakes }) => wakes)) return { wake: false, held: null }
  if (team.paused) return { wake: false, held: { until: null, text: `The team ${team.name} is paused.` } }
  if (member.paused) return { wake: false, held: { until: null, text: `${member.handle} is paused.` } }
  const recent = wakesSince(member, now)
  if (recent.length < wakesPerHour) return { wake: true }
  const until = new Date(Date.parse(recent.at(-wakesPerHour)!) + HOUR_MS).toISOString()
  const text = `Mail woke it ${recent.length} times within an hour; the limit is ${wakesPerHour}.`
  return { wake: false, held: { until, text } }
}

/** When mail woke it within the last hour. */
export const wakesSince = ({ wakes }: Pick<Member, 'wakes'>, now: string): string[] =>
  wakes.filter(at => Date.parse(at) > Date.parse(now) - HOUR_MS)

/** What limits hold back exists for people, and for agents once a person has released it. */
export const isWithheld = (
  { state, held }: Pick<Delivery, 'state' | 'held'>,
  { person }: Pick<Member, 'person'>,
): boolean => person === null && state === 'queued' && held !== null

export type Answer = 'acked' | 'replied' | 'declined'

/** Its recipient acts on it. The first act counts. */
export function answered(delivery: Delivery, answer: Answer, now: string, reason: string | null = null): Delivery {
  requireOpen(delivery, answer)
  return {
    ...delivery,
    ...(delivery.heard_by === null && { heard_by: 'tool' as const, heard_at: now }),
    ...{ state: answer, reason, held: null, due_at: null, closed_at: now },
  }
}

/** Its sender takes it back, which is possible only before it was handed over: nothing can be unsaid. */
export const withdrawn = (delivery: Delivery, now: string): Delivery | undefined =>
  delivery.state === 'queued'
    ? { ...delivery, state: 'cancelled', reason: 'Its sender cancelled it.', held: null, due_at: null, closed_at: now }
    : undefined

/** The message to a live session that carries it. Each time that it is handed over it is another one. */
export const messageOf = ({ id, times_handed }: Delivery): string => (times_handed > 1 ? `${id}.${times_handed}` : id)

function requireOpen(delivery: Delivery, answer?: Answer): void {
  // A message that needs nothing may still be answered, and one that was acknowledged may still get a reply.
  const isLeft = delivery.state === 'heard' || (delivery.state === 'acked' && answer === 'replied')
  if (isLeft || !isClosed(delivery)) return
  throw new NotAllowed(`This message is ${delivery.state} already.`, {
    facts: { state: delivery.state, at: delivery.closed_at },
  })
}

/** It is put into the prompt of a session, told during one, or fetched. */
export const handed = (delivery: Delivery, to: Pick<Delivery, 'session_id' | 'via'>, now: string): Delivery => ({
  ...delivery,
  ...to,
  state: 'handed',
  handed_at: now,
  times_handed: delivery.times_handed + 1,
})

export const heard = (delivery: Delivery, by: NonNullable<Delivery['heard_by']>, now: string): Delivery => ({
  ...delivery,
  state: 'heard',
  heard_by: by,
  heard_at: now,
  ...(delivery.needs === 'none' && { closed_at: now, due_at: null }),
})

/** So often it is handed over before it waits for a person, and so often again after each release. */
const MOST_HANDED = 5

/** The session it was handed to has ended. It goes back into the queue if its recipient may not know of it. */
export function afterSession(
  delivery: Delivery,
  { completed, remembered }: { completed: boolean; remembered: boolean },
  now: string,
): Delivery {
  if (delivery.state === 'handed' && delivery.via === 'prompt' && completed) return heard(delivery, 'turn', now)
  // Its words are in the conversation, which is continued.
  if (delivery.state === 'heard' && (completed || remembered)) return { ...delivery, session_id: null }
  if (delivery.state !== 'handed' && delivery.state !== 'heard') return { ...delivery, session_id: null }
  const again: Delivery = { ...delivery, state: 'queued', session_id: null, via: null, heard_by: null, closed_at: null }
  if (delivery.times_handed % MOST_HANDED !== 0) return again
  return { ...again, held: `It was handed over ${delivery.times_handed} times, and each session ended early.` }
}
