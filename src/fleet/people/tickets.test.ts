import { expect, test } from 'vitest'
import { type Grant, TICKET_LASTS_MS, Tickets } from './tickets.ts'

const grant: Grant = { opens: 'terminal', by: 'd', mission_id: 'm', caller: 'd' }

test('a ticket is taken once, in time, and only the one that was issued', () => {
  const tickets = new Tickets()
  const { ticket } = tickets.issue(grant, 0)
  expect(tickets.take(`${ticket}x`, 1)).toBeUndefined()
  expect(tickets.take(ticket, 1)).toEqual(grant)
  expect(tickets.take(ticket, 1)).toBeUndefined()
  const late = tickets.issue(grant, 0)
  expect(tickets.take(late.ticket, TICKET_LASTS_MS)).toBeUndefined()
})

test('unused tickets do not pile up, and one caller ends only their own', () => {
  const tickets = new Tickets()
  const other = tickets.issue({ ...grant, by: 'other' }, 0)
  const all = Array.from({ length: 1500 }, () => tickets.issue(grant, 0).ticket)
  expect(all.filter(ticket => tickets.take(ticket, 1))).toHaveLength(20)
  expect(tickets.take(other.ticket, 1)).toBeDefined()
  const many = Array.from({ length: 1500 }, (_, n) => tickets.issue({ ...grant, by: String(n) }, 0).ticket)
  expect(many.filter(ticket => tickets.take(ticket, 1))).toHaveLength(1000)
})
