import { expect, test } from 'vitest'
import { levelsOf, PlannedMission } from '../domain/records/plan.ts'
import { drawing } from './show-plan.ts'

test('a plan is drawn in steps, with an arrow to what each mission needs, and no control characters', () => {
  const planned = (key: string, depends_on: string[] = [], more: object = {}) => ({
    ...PlannedMission.parse({ key, title: `Make ${key}`, prompt: 'x', depends_on, ...more }),
    mission_id: null,
    status: null,
  })
  const missions = [
    planned('base', [], { estimate_minutes: 5, agent: 'claude', model: 'opus' }),
    planned('ui', ['base'], { title: 'Make\u001b[31m ui' }),
    planned('api', ['base']),
    planned('all', ['ui', 'api'], { mission_type: 'test', estimate_usd: 1 }),
  ]
  const steps = levelsOf(missions).map(level => level.map(each => each.key))
  expect(drawing({ missions, steps })).toEqual([
    '  base  Make base  (implement, claude opus, 5 min)',
    '  ↓',
    expect.stringMatching(/^ {2}ui {4}Make.* ui {2}← base {2}\(implement\)$/),
    '  api   Make api  ← base  (implement)',
    '  ↓',
    '  all   Make all  ← ui, api  (test, $1.00)',
  ])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test is about them
  expect(drawing({ missions, steps }).join('')).not.toMatch(/\u001b/)
})
