import { expect, test } from 'vitest'
import { COLUMNS } from './columns.ts'
import { moveTo } from './moves.ts'

const column = (name: string) => COLUMNS.find(each => each.name === name)!
const a = (status: string, rest: object = {}) =>
  ({ status, result: null, branch: 'fleet/x', ...rest }) as Parameters<typeof moveTo>[0]

test.each([
  ['draft', 'Queued', 'dispatch_mission'],
  ['failed', 'Queued', 'retry_mission'],
  ['review', 'Landing', 'land_mission'],
  ['running', 'Cancelled', 'cancel_mission'],
])('%s put into %s is %s', (status, to, act) => {
  expect(moveTo(a(status), column(to))).toMatchObject({ to: 'act', act })
})

test('what was kept lands too, and what has no work does not', () => {
  expect(moveTo(a('done', { result: 'kept' }), column('Landing'))).toMatchObject({ act: 'land_mission' })
  expect(moveTo(a('review', { branch: null }), column('Landing'))).toEqual({
    to: 'nowhere',
    why: 'It has no work to land.',
  })
})

test('a refusal says why, for every mission and column', () => {
  for (const status of COLUMNS.flatMap(({ statuses }) => statuses))
    for (const to of COLUMNS) {
      const move = moveTo(a(status), to)
      if (move.to === 'nowhere') expect(move.why).toMatch(/^[A-Z].*\.$/)
    }
  expect(moveTo(a('queued'), column('Running'))).toMatchObject({ to: 'nowhere' })
  expect(moveTo(a('queued'), column('Queued'))).toEqual({ to: 'same' })
})
