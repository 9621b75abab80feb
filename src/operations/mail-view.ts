import * as z from 'zod'
import { Delivery, Mail } from '../domain/records/team.ts'
import { notTold } from '../domain/rules/member-state.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { deliveriesOf } from '../fleet/teams/mail.ts'

export const DeliveryView = Delivery.omit({
  team_id: true,
  project_id: true,
  from: true,
  escalated: true,
  order: true,
}).extend({
  to: z.string().describe('the name of the recipient'),
})
/** A message with its whole text, and what became of it for each recipient. */
export const MailView = Mail.omit({ body: true, order: true }).extend({
  body: z.string(),
  deliveries: z.array(DeliveryView),
})

export async function mailView(
  fleet: Fleet,
  { order: _, ...mail }: Mail,
  known?: readonly Delivery[],
): Promise<z.infer<typeof MailView>> {
  const deliveries = known ?? (await deliveriesOf(fleet, mail.id))
  return {
    ...mail,
    body: await fleet.blobs.read(mail.body),
    deliveries: await Promise.all(deliveries.map(delivery => deliveryView(fleet, delivery))),
  }
}

export async function deliveryView(fleet: Fleet, delivery: Delivery): Promise<z.infer<typeof DeliveryView>> {
  const { team_id: _, project_id: __, from: ___, escalated: ____, order: _____, ...shown } = delivery
  const member = (await fleet.store.get('members', delivery.member_id))?.value
  const reason = shown.reason ?? (member && shown.state === 'queued' ? notTold(member) : null)
  return { ...shown, reason, to: member?.handle ?? delivery.member_id }
}
