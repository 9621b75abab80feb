import type { Delivery, Mail } from '../../domain/records/team.ts'
import type { Fleet } from '../fleet.ts'
import { personId, teamsOf } from './teams.ts'

/** A message that waits for a person: to be read or answered by them, or to be released by anybody. */
export interface WaitingMail {
  team: string
  mail: Mail
  delivery: Delivery
}

/** Mail to a person that is unread or unanswered, and what the limits of talk hold back, in all teams they see. */
export async function mailWaitingFor(fleet: Fleet, actor: string, limit: number): Promise<WaitingMail[]> {
  const teams = await teamsOf(fleet)
  const found = await Promise.all(
    teams.map(async ({ id, name }) => {
      const [mine, held] = await Promise.all([
        fleet.store.find('deliveries', { index: 'open', equals: [personId(id, actor)], limit }),
        fleet.store.find('deliveries', { index: 'held', equals: [id], limit }),
      ])
      // Held back from several members, it is still one message to release.
      const perMail = new Map([...mine.items, ...held.items].map(({ value }) => [value.mail_id, value]))
      return Promise.all(
        [...perMail.values()].map(async delivery => {
          const mail = (await fleet.store.get('mail', delivery.mail_id))?.value
          return mail ? [{ team: name, mail, delivery }] : []
        }),
      )
    }),
  )
  return found.flat(2)
}
