import { expect, test } from 'vitest'
import { askedIn, EMPTY, missionFrom, remember, remembered, titleFrom } from './new-draft.ts'

function storage(text?: string) {
  const kept = new Map<string, string>(text === undefined ? [] : [['fleet-new-mission', text]])
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
    kept,
  }
}

test('what was written is there again, and nothing is left once it is empty', () => {
  const browser = storage()
  remember(browser, { ...EMPTY, detailed_prompt: 'Paint it.', tags: ['ui'], max_turns: 3 })
  expect(remembered(browser)).toEqual({ detailed_prompt: 'Paint it.', tags: ['ui'], max_turns: 3 })
  remember(browser, EMPTY)
  expect(browser.kept.size).toBe(0)
})

test('what another version of the page left is not taken on trust', () => {
  expect(remembered(storage('not json'))).toEqual({})
  expect(remembered(storage('{"title": 7, "tags": "x", "unknown": 1, "detailed_prompt": "kept"}'))).toEqual({
    detailed_prompt: 'kept',
  })
})

test('an address fills the sheet in', () => {
  const search = new URLSearchParams('project=p1&prompt=Do%20it&parent=m1&tag=a&tag=b&after=m2')
  expect(askedIn(search)).toEqual({
    project_id: 'p1',
    detailed_prompt: 'Do it',
    parent_mission_id: 'm1',
    tags: ['a', 'b'],
    depends_on: ['m2'],
  })
})

test('the title is the first line, cut at a word', () => {
  expect(titleFrom('\n## Paint the door\nred')).toBe('Paint the door')
  expect(titleFrom(`${'word '.repeat(40)}`)).toMatch(/^(word )+word…$/)
  expect(titleFrom('x'.repeat(200))).toHaveLength(81)
})

test('a mission needs a place and words', () => {
  expect(missionFrom({ ...EMPTY, detailed_prompt: 'x' }, true)).toBeUndefined()
  expect(missionFrom({ ...EMPTY, project_id: 'p' }, true)).toBeUndefined()
  const made = missionFrom({ ...EMPTY, project_id: 'p', detailed_prompt: 'Paint it.' }, true)
  expect(made).toMatchObject({ title: 'Paint it.', auto_dispatch: true })
  expect(made).not.toHaveProperty('schedule_cron')
})
