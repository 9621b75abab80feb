import { expect, test } from 'vitest'
import { Question } from '../../../src/domain/records/talk.ts'
import { put } from '../../../src/fleet/records.ts'
import type { TestFleet } from '../../kit/fleet.ts'
import { aFleetWith, aMission, at } from '../../kit/records.ts'

const aQuestion = (mission_id: string) =>
  Question.parse({
    ...{ id: `of${mission_id}`, mission_id, project_id: 'p1', session_id: 's1', kind: 'question', asked_as: '1' },
    ...{ tool: null, text: { inline: 'Which colour?' }, status: 'open', created_at: at(1), answered_at: null },
    ...{ answer: null, answered_by: null, deadline: null, otherwise: null },
  })

interface Inbox {
  questions: { id: string }[]
  missions: { id: string }[]
  failures: { id: string }[]
  count: number
}
const ids = (list: { id: string }[]): string[] => list.map(({ id }) => id)
const inboxOf = (fleet: TestFleet) => fleet.call<Inbox>('list_inbox')

test('a question is there once, also while its agent is parked, and is counted once everywhere', async () => {
  const waits = { status: 'needs_input', status_reason: { code: 'question', text: 'Which colour?' } } as const
  const fleet = await aFleetWith([
    aMission('parked', 1, { ...waits, asking: false }),
    aMission('live', 2, { ...waits, asking: true }),
    aMission('limit', 3, { status: 'needs_input', status_reason: { code: 'limit', text: 'limit' } }),
  ])
  await fleet.fleet.store.commit({
    changes: [put('questions', aQuestion('parked'), 'absent'), put('questions', aQuestion('live'), 'absent')],
  })
  const inbox = await inboxOf(fleet)
  expect(ids(inbox.questions).sort()).toEqual(['oflive', 'ofparked'])
  expect(ids(inbox.missions)).toEqual(['limit'])
  expect(inbox.count).toBe(3)
  expect(await fleet.call('get_overview')).toMatchObject({ needs_you: { count: 3, questions: 2, stuck: 1 } })
  expect(await fleet.call('system_status')).toMatchObject({ needs_you: 3 })
  const told = await fleet.fleetCommand(['inbox'])
  expect(told.stdout.split('\n').filter(line => line.includes('Which colour?'))).toHaveLength(2)
  expect(told.stdout).not.toContain('undefined')
})

test('what failed lately is in the same list for the page and the terminal, and is not counted', async () => {
  const now = Date.now()
  const ago = (days: number): string => new Date(now - days * 86_400_000).toISOString()
  const failed = (id: string, days: number) =>
    aMission(id, 1, {
      status: 'failed',
      ended_at: ago(days),
      status_reason: { code: 'agent', text: `${id} broke`, try: `fleet retry ${id}` },
    })
  const fleet = await aFleetWith([failed('new', 0), failed('old', 2), failed('gone', 5)])
  const inbox = await inboxOf(fleet)
  expect(ids(inbox.failures)).toEqual(['new', 'old'])
  expect(inbox.count).toBe(0)
  const told = await fleet.fleetCommand(['inbox'])
  expect(told.code).toBe(0)
  expect(told.stdout).toContain('Nothing waits for you.')
  expect(told.stdout).toMatch(/Recent failures[\s\S]*new broke[\s\S]*old broke/)
  expect(told.stderr).toContain('fleet retry new')
  expect(told.stdout).not.toContain('gone broke')
})
