import { expect, test } from 'vitest'
import { overBudget } from './budgets.ts'
import { THE_FLEET } from './holds.ts'

const budget = { limitUsd: 10, usedUsd: 9.5, try: '' }

test('a project learns what it spent itself, and not what all projects spent together', () => {
  expect(overBudget({ ...budget, daysOf: 'project web' }, 0.7)).toBe(
    "Today's budget of project web, $10, is spent: $10.20 used today, $0.2000 over.",
  )
  expect(overBudget({ ...budget, daysOf: THE_FLEET }, 0.7)).toBe("Today's budget of the fleet, $10, is spent.")
})
