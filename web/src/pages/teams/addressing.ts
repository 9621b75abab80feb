import { isGroup, membersAt } from '../../../../src/domain/rules/mail.ts'
import type { Output } from '../../api/client.ts'
import { dollars, plural } from '../../kit/words.ts'
import { type Member, ROLES } from './words.ts'

export interface Address {
  /** As it is written in the box. */
  put: string
  about: string
}

/** Everybody that a message can be written to: all, roles, members. Groups are for those who may broadcast. */
export function addressesOf(members: readonly Member[], me: string | undefined, mayBroadcast: boolean): Address[] {
  const others = members.filter(({ id }) => id !== me)
  const roles = [...Map.groupBy(others, ({ role }) => role)]
  return [
    ...others.map(({ handle, role }) => ({ put: `@${handle}`, about: ROLES[role] })),
    ...(mayBroadcast
      ? [
          { put: '@all', about: `everybody, ${plural(others.length, 'member')}` },
          ...roles.map(([role, of]) => ({ put: `@${role}`, about: `everybody in this role, ${of.length}` })),
        ]
      : []),
  ]
}

export interface Typing {
  from: number
  text: string
}

/** The address that is being typed at the cursor. */
export function typingAt(text: string, cursor: number): Typing {
  const typed = /[^\s,;]*$/.exec(text.slice(0, cursor))![0]
  return { from: cursor - typed.length, text: typed.replace(/^@/, '').toLowerCase() }
}

/** The addresses in a text. Members are named without a sign, so that only groups count as a broadcast. */
export const addressesIn = (text: string, members: readonly Member[]): string[] => [
  ...new Set(
    text
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map(address => nameOf(address, members) ?? `@${address.replace(/^@/, '')}`),
  ),
]

const nameOf = (address: string, members: readonly Member[]): string | undefined => {
  const name = address.replace(/^@/, '').toLowerCase()
  return isGroup(address) ? undefined : members.find(({ handle }) => handle.toLowerCase() === name)?.handle
}

export interface Reach {
  recipients: Member[]
  /** Idle agents that it starts. */
  waking: Member[]
  /** Addresses that nobody has. */
  unknown: string[]
}

/** Who a message reaches, and whom it wakes: nobody wakes in a paused team. */
export function reachOf(
  to: readonly string[],
  { members, paused }: { members: readonly Member[]; paused: boolean },
  { me, wakes }: { me: string | undefined; wakes: boolean },
): Reach {
  const named = to.map(address => ({ address, members: membersAt(address, members) }))
  const recipients = [...new Set(named.flatMap(each => each.members ?? []))].filter(({ id }) => id !== me)
  const canWake = ({ person, state }: Member): boolean => person === null && state === 'idle'
  return {
    recipients,
    waking: wakes && !paused ? recipients.filter(canWake) : [],
    unknown: named.flatMap(each => (each.members ? [] : each.address)),
  }
}

/** What sending does, in words. Empty: nobody is addressed yet. */
export function reachWords({ recipients, waking, unknown }: Reach): string {
  if (unknown.length) return `Nobody here is called ${unknown.map(each => each.replace(/^@/, '')).join(', ')}.`
  if (!recipients.length) return ''
  const to = recipients.length === 1 ? `To ${recipients[0]!.handle}` : `To ${recipients.length} members`
  if (!waking.length) return `${to}; wakes nobody.`
  if (recipients.length === 1) return `${to}; it wakes.`
  return `${to}; ${plural(waking.length, 'member wakes', 'members wake')}.`
}

/** What a message to several set going. Empty: nothing that costs anything as far as is known. */
export function setGoingWords({
  deliveries,
  wakes,
  likely_cost_usd,
}: Pick<Output<'send_mail'>, 'deliveries' | 'wakes' | 'likely_cost_usd'>): string {
  if (deliveries.length < 2 || !wakes || !likely_cost_usd) return ''
  return `Sent. ${plural(wakes, 'member wakes', 'members wake')}; by their last sessions that costs about ${dollars(likely_cost_usd)}.`
}
