import { expect, test } from 'vitest'
import { Comment } from '../records/mission.ts'
import { sentBack } from './comments.ts'

const comment = (body: string, fields: Partial<Comment> = {}): Comment =>
  Comment.parse({
    id: 'c',
    mission_id: 'm',
    project_id: 'p',
    author: 'person',
    body,
    created_at: '2026-01-01T00:00:00.000Z',
    ...fields,
  })

test('a message alone is told as it is', () => {
  expect(sentBack([], ' go on ')).toEqual({ text: 'go on', told: [] })
})

test('lines of one comment stay together under its number', () => {
  expect(sentBack([comment('a\nb'), comment('c')], undefined).text).toMatch(/\n\n1\. a\n {3}b\n\n2\. c$/)
})

test('comments that do not fit are not sent and not counted as sent; one comment always is', () => {
  const long = 'x'.repeat(19_000)
  const { text, told } = sentBack([comment(long), comment(long), comment(long), comment(long)], 'see')
  expect(told).toHaveLength(3)
  expect(text.length).toBeLessThan(61_000)
})
