import { describe, expect, test } from 'vitest'
import { answerIn, objectsIn } from '../rules/answers.ts'
import { estimateOf, levelsOf, PlanAnswer, PlannedMission, problemWith } from './plan.ts'

const mission = (key: string, depends_on: string[] = [], more: object = {}): PlannedMission =>
  PlannedMission.parse({ key, title: key, prompt: `do ${key}`, depends_on, ...more })
const answer = (...missions: PlannedMission[]): PlanAnswer => PlanAnswer.parse({ missions })
const problem = (given: PlanAnswer, mayBeComplete = false): string | null =>
  problemWith(given, { objection: name => (name === 'claude' ? null : 'which does not exist'), mayBeComplete })

describe('what is wrong with a plan', () => {
  test.each([
    ['nothing', answer(mission('a'), mission('b', ['a']), mission('c', ['a', 'b'])), null],
    ['no missions', answer(), 'names no missions'],
    ['an empty prompt', answer(mission('a', [], { prompt: ' \n' })), 'The prompt of a is empty'],
    ['a key twice', answer(mission('a'), mission('a')), 'Two missions have the key a'],
    ['itself', answer(mission('a', ['a'])), 'a depends on itself'],
    ['an unknown key', answer(mission('a', ['z'])), 'a depends on z'],
    ['an unknown agent', answer(mission('a', [], { agent: 'nobody' })), 'names the agent "nobody"'],
    [
      'a circle',
      answer(mission('x'), mission('a', ['c', 'x']), mission('b', ['a']), mission('c', ['b'])),
      'a → c → b → a',
    ],
    ['complete', PlanAnswer.parse({ complete: true, reason: 'seen' }), '"complete" must be false'],
  ] as const)('%s', (_, given, why) => {
    if (why === null) expect(problem(given)).toBeNull()
    else expect(problem(given)).toContain(why)
  })

  test('complete needs a reason and no missions', () => {
    const complete = (more: object) => problem(PlanAnswer.parse({ complete: true, ...more }), true)
    expect(complete({ reason: 'I ran it.' })).toBeNull()
    expect(complete({ reason: ' ' })).toContain('without a "reason"')
    expect(complete({ reason: 'x', missions: [mission('a')] })).toContain('only one of the two is possible')
  })
})

test('each step needs only earlier steps, and the longest path is counted', () => {
  const minutes = (estimate_minutes: number) => ({ estimate_minutes })
  const missions = [
    mission('d', ['b', 'c'], minutes(1)),
    mission('a', [], minutes(10)),
    mission('b', ['a'], minutes(5)),
    mission('c', ['a'], minutes(20)),
  ]
  expect(levelsOf(missions).map(level => level.map(each => each.key))).toEqual([['a'], ['b', 'c'], ['d']])
  expect(estimateOf(missions)).toEqual({ missions: 4, minutes: 36, longest_minutes: 31, usd: null })
})

describe('an answer among words', () => {
  const isAnswer = (object: Record<string, unknown>) => 'missions' in object
  test.each([
    ['raw', '{"missions":[1]}'],
    ['fenced', '```json\n{ "missions": [1] }\n```'],
    ['after braces that open nothing', 'use {x} and { then {"missions":[1]} ok }'],
    ['with quotes and braces in text', 'He said "{". {"missions":[1],"x":"a } \\" { b"}'],
    ['twice', '{"missions":[1]} and again {"missions":[1]}'],
  ])('%s', (_, text) => {
    expect(answerIn([text], isAnswer)).toMatchObject({ answer: { missions: [1] } })
  })

  test('the newest message that holds one counts', () => {
    expect(answerIn(['{"missions":[1]}', '{"missions":[2]}', 'That is it.'], isAnswer)).toEqual({
      answer: { missions: [2] },
    })
  })

  test.each([
    ['two that differ', ['{"missions":[1]} {"missions":[2]}'], '2 different'],
    ['cut short', ['{"missions":[1'], 'no JSON object'],
    ['nothing', ['', ' '], 'empty'],
  ])('%s is none', (_, messages, why) => {
    expect(answerIn(messages, isAnswer)).toEqual({ problem: expect.stringContaining(why) })
  })

  test('a flood of braces costs little', () => {
    expect(objectsIn('{'.repeat(200_000))).toEqual([])
  })
})
