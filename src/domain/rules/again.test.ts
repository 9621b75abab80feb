import { expect, test } from 'vitest'
import type { StageStatus } from '../records/stage-status.ts'
import type { Stage } from '../records/workflow.ts'
import { doneAgain, reachedFrom } from './again.ts'

type OnFailure = Stage['on_failure']

/** What a retry does again in a graph: `after[i]` are the stages that come after stage i. */
const again = (after: number[][], settled: (StageStatus | null)[], onFailure: OnFailure[] = []) => {
  const stages = after.map((_, index) => ({ on_failure: onFailure[index] ?? 'stop' }))
  const { first, anew } = doneAgain({ stages, after, settled })
  return { first, anew: anew.toSorted() }
}

test('the stages after one are all that can be reached from it, and itself', () => {
  expect([...reachedFrom([[1, 2], [3], [3], []], 0)].toSorted()).toEqual([0, 1, 2, 3])
  expect([...reachedFrom([[1], [], []], 2)]).toEqual([2])
})

test.each<[string, number[][], (StageStatus | null)[], OnFailure[], number[], number[]]>([
  ['nothing failed', [[1], []], ['completed', 'completed'], [], [], []],
  ['a failed stage begins again; those that never began just wait', [[1], []], ['failed', null], [], [0], []],
  ['a skipped stage behind it is judged again', [[1], []], ['failed', 'skipped'], [], [0], [1]],
  ['a failed stage behind it waits for it', [[1], []], ['failed', 'failed'], [], [0], [1]],
  ['what ended well behind it stays', [[1], []], ['failed', 'completed'], [], [0], []],
  ['two failures side by side both begin', [[2], [2], []], ['failed', 'failed', null], [], [0, 1], []],
  ['a failure that does not matter stays', [[1], []], ['failed', 'completed'], ['continue'], [], []],
  ['unless a stage that failed needs it', [[1], []], ['failed', 'failed'], ['continue'], [0], [1]],
  [
    'a replaced failure stays, and the stage behind it is done again',
    [[2], [2], []],
    ['failed', 'completed', 'failed'],
    [{ run: 1 }],
    [2],
    [],
  ],
])('%s', (_, after, settled, onFailure, first, anew) => {
  expect(again(after, settled, onFailure)).toEqual({ first, anew })
})
