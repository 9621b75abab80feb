import type { Delivery } from '../../domain/records/team.ts'
import type { Fleet } from '../fleet.ts'
import { personId, teamsOf } from './teams.ts'

/** A message that waits for a person: to be read or answered by them, or to be released by anybody. */
export interface WaitingMail {
  /** The name of its team. */
  team: string
  delivery: Delivery
}

/** Mail to a person that is unread or unanswered, and what the limits of talk hold back, in all teams they see. */
export async function mailWaitingFor(fleet: Fleet, actor: string, limit: number): Promise<WaitingMail[]> {
  const found = (await teamsOf(fleet)).map(async ({ id, name }) => {
    const [mine, held] = await Promise.all([
      fleet.store.find('deliveries', { index: 'open', equals: [personId(id, actor)], limit }),
      fleet.store.find('deliveries', { index: 'held', equals: [id], limit }),
    ])
    // Held back from several members, it is still one message to release.
    const perMail = new Map([...mine.items, ...held.items].map(({ value }) => [value.mail_id, value]))
    return [...perMail.values()].map(delivery => ({ team: name, delivery }))
  })
  return (await Promise.all(found)).flat()
}
