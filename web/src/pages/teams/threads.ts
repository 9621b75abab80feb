import { isClosed, isUnread } from '../../../../src/domain/rules/mail.ts'
import type { Mail } from './words.ts'

export interface Thread {
  id: string
  /** Empty: it has none. */
  subject: string
  /** The oldest first. */
  messages: Mail[]
  /** The beginning is loaded too. */
  isWhole: boolean
  last: string
}

/** Messages, newest first, as conversations: the one with the newest message first. */
export function threadsOf(messages: readonly Mail[]): Thread[] {
  return [...Map.groupBy(messages, ({ thread }) => thread)].map(([id, newestFirst]) => {
    const inOrder = newestFirst.toReversed()
    const [first] = inOrder
    return {
      id,
      subject: first!.subject.replace(/^Re: /, ''),
      messages: inOrder,
      isWhole: first!.id === id,
      last: newestFirst[0]!.created_at,
    }
  })
}

/** Who wrote in it and to whom, in the order of their first message. */
export const partiesOf = (messages: readonly Mail[]): string[] => [
  ...new Set(messages.flatMap(({ from, to }) => [from.handle, ...to])),
]

/** The delivery to one member, if the message is to it. */
export const deliveryTo = (mail: Mail, memberId: string | undefined) =>
  mail.deliveries.find(({ member_id }) => member_id === memberId)

/** It has not been read by this member. */
export function isUnreadBy(mail: Mail, memberId: string | undefined): boolean {
  const delivery = deliveryTo(mail, memberId)
  return !!delivery && isUnread(delivery)
}

/** It still has to be read or answered by this member. */
export function waitsFor(mail: Mail, memberId: string | undefined): boolean {
  const delivery = deliveryTo(mail, memberId)
  return !!delivery && !isClosed(delivery)
}
