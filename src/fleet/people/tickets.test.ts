import { expect, test } from 'vitest'
import { TICKET_LASTS_MS, Tickets } from './tickets.ts'

const grant = { mission_id: 'm', device: 'd' }

test('a ticket is taken once, in time, and only the one that was issued', () => {
  const tickets = new Tickets()
  const { ticket } = tickets.issue(grant, 0)
  expect(tickets.take(`${ticket}x`, 1)).toBeUndefined()
  expect(tickets.take(ticket, 1)).toEqual(grant)
  expect(tickets.take(ticket, 1)).toBeUndefined()
  const late = tickets.issue(grant, 0)
  expect(tickets.take(late.ticket, TICKET_LASTS_MS)).toBeUndefined()
})

test('unused tickets do not pile up', () => {
  const tickets = new Tickets()
  const all = Array.from({ length: 150 }, () => tickets.issue(grant, 0).ticket)
  expect(all.filter(ticket => tickets.take(ticket, 1))).toHaveLength(100)
})
