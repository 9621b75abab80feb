import { Badge, Text } from '@radix-ui/themes'
import type { HTMLAttributes } from 'react'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { deliveryWords, type Mail, type Member } from './words.ts'

/** What was taken back is struck out. */
const Chip = ({ isOver, ...rest }: { isOver: boolean } & HTMLAttributes<HTMLElement>) =>
  isOver ? <s {...rest} /> : <span {...rest} />

interface DeliveriesProps {
  mail: Mail
  members: readonly Member[]
}

/** How far a message is on its way to each recipient. */
export function Deliveries({ mail, members }: DeliveriesProps) {
  const inOrder = mail.deliveries.toSorted((one, other) => one.to.localeCompare(other.to))
  const shown = inOrder.map(delivery => ({
    delivery,
    ...deliveryWords(
      delivery,
      members.find(({ id }) => id === delivery.member_id),
    ),
  }))
  const counts = [...Map.groupBy(shown, ({ word }) => word)].map(([word, of]) => `${of.length} ${word.toLowerCase()}`)
  const reasons = [...Map.groupBy(shown, ({ why }) => why ?? '')].filter(([why]) => why)
  return (
    <>
      {shown.length > 1 && (
        <Text as="div" size="1" color="gray">
          {shown.length} recipients: {counts.join(', ')}
        </Text>
      )}
      <ul className="deliveries" aria-label="Delivery">
        {shown.map(({ delivery, word, tone, at }) => (
          <li key={delivery.id}>
            <Badge color={tone} highContrast asChild>
              <Chip isOver={delivery.state === 'cancelled'}>
                <strong>{plain(delivery.to)}</strong> {word} <Time at={at} />
              </Chip>
            </Badge>
          </li>
        ))}
      </ul>
      {reasons.map(([why, of]) => (
        <Text as="div" size="1" color="gray" key={why} className="break">
          {/* A reason may begin with the name itself: "bob is paused." */}
          {shown.length > 1 &&
            !why.startsWith(`${of[0]!.delivery.to} `) &&
            `${of.map(({ delivery }) => plain(delivery.to)).join(', ')}: `}
          {plain(why)}
        </Text>
      ))}
    </>
  )
}
