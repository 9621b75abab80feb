import * as z from 'zod'
import { Delivery, Mail } from '../domain/records/team.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { deliveriesOf, type Sent } from '../fleet/teams/mail.ts'
import { wakingBy, whyNotTold } from '../fleet/teams/outlook.ts'

export const DeliveryView = Delivery.omit({
  team_id: true,
  project_id: true,
  from: true,
  escalated: true,
  order: true,
}).extend({
  to: z.string().describe('the name of the recipient'),
  reason: Delivery.shape.reason.describe('why it is in this state; of a queued one, what it waits for'),
})
/** A message with its whole text, and what became of it for each recipient. */
export const MailView = Mail.omit({ body: true, order: true }).extend({
  body: z.string(),
  deliveries: z.array(DeliveryView),
})

/** A message to whoever just sent it: what it sets going, too. */
export const SentView = MailView.extend({
  wakes: z.number().int().describe('how many idle agents it wakes'),
  likely_cost_usd: z
    .number()
    .nullable()
    .describe('of waking them, by what their last sessions cost; empty: nothing is known'),
})

export const sentView = async (fleet: Fleet, { mail, deliveries }: Sent): Promise<z.infer<typeof SentView>> => ({
  ...(await mailView(fleet, mail, deliveries)),
  ...(await wakingBy(fleet, mail.team_id, deliveries)),
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
  const isWaiting = member !== undefined && delivery.state === 'queued' && delivery.held === null
  const reason = shown.reason ?? (isWaiting ? await whyNotTold(fleet, delivery, member) : null)
  return { ...shown, reason, to: member?.handle ?? delivery.member_id }
}
