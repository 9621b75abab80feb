import { expect, test } from 'vitest'
import { Comment } from '../records/mission.ts'
import { sentBack } from './comments.ts'

const remark = (body: string, fields: Partial<Comment> = {}): Comment =>
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

test('lines of one remark stay together under its number', () => {
  expect(sentBack([remark('a\nb'), remark('c')], undefined).text).toMatch(/\n\n1\. a\n {3}b\n\n2\. c$/)
})

test('what does not fit is not told, and counts as not told; one remark always is', () => {
  const long = 'x'.repeat(19_000)
  const { text, told } = sentBack([remark(long), remark(long), remark(long), remark(long)], 'see')
  expect(told).toHaveLength(3)
  expect(text.length).toBeLessThan(61_000)
})
