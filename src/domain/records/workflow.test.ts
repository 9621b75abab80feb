import { describe, expect, test } from 'vitest'
import { fillIn, type variablesIn } from '../rules/template.ts'
import { LIBRARY, Recipe } from '../rules/workflow-library.ts'
import { decideStages } from './workflow.ts'

describe('templates', () => {
  const value = (variable: ReturnType<typeof variablesIn>[number]): string =>
    variable.of === 'task' ? 'TASK {stage_0_summary}' : `${variable.stage}.${variable.fact}`

  test('variables are filled in by number and by name, in one pass', () => {
    expect(fillIn('{task_prompt} {stage_0_summary} {stage_write_tests_next_steps}', value)).toBe(
      'TASK {stage_0_summary} 0.summary write_tests.next_steps',
    )
  })

  test.each([
    '{}',
    '{ "a": {"b": 1} }',
    '$HOME',
    '{HOME}',
    '{stage_0}',
    '{stage_0_colour}',
    '{{task}}',
    'f() { return }',
  ])('%s stays as it is', text => expect(fillIn(text, value)).toBe(text))

  test('a name is found however its words are joined', () => {
    const stages = decideStages([
      { name: 'Write the Tests', prompt: 'x' },
      { name: 'read', prompt: '{stage_write_the_tests_files}', depends_on: ['write the tests'] },
    ])
    expect(stages[1]!.depends_on).toEqual([0])
  })

  test('letters are letters in every language', () => {
    const stages = decideStages([
      { name: '写作', prompt: 'x' },
      { name: 'Prüfung', prompt: '{stage_写作_summary}', depends_on: ['写作'] },
      { name: 'πρῶτον', prompt: '{stage_prüfung_files}', depends_on: ['PRÜFUNG'] },
    ])
    expect(stages.map(({ depends_on }) => depends_on)).toEqual([[], [0], [1]])
    expect(fillIn('{stage_写作_summary}', value)).toBe('写作.summary')
  })
})

describe('what is decided when a workflow is written', () => {
  test('the last stages land, and a dependent stage inherits the work before it', () => {
    const stages = decideStages([
      { name: 'a', prompt: 'x' },
      { name: 'b', prompt: 'x', depends_on: [0] },
      { name: 'c', prompt: 'x', depends_on: ['a'], worktree_strategy: 'new' },
    ])
    expect(stages.map(({ lands, worktree }) => [lands, worktree])).toEqual([
      [false, 'new'],
      [true, 'inherit'],
      [true, 'new'],
    ])
  })

  test('stages written for an older tool are taken as they are', () => {
    const [stage] = decideStages([
      {
        name: 'write',
        executor: 'codex',
        prompt_template: '{task_prompt}',
        worktree_strategy: 'new',
        timeout_seconds: 60,
      },
    ])
    expect(stage).toMatchObject({ agent: 'codex', prompt: '{task_prompt}', timeout_seconds: 60 })
  })

  test('a thousand stages are decided quickly, and a circle among them is found', () => {
    const chain = Array.from({ length: 1000 }, (_, i) => ({ name: `s${i}`, prompt: 'x', depends_on: i ? [i - 1] : [] }))
    expect(decideStages(chain)).toHaveLength(1000)
    expect(() => decideStages([{ ...chain[0]!, depends_on: [999] }, ...chain.slice(1)])).toThrow('wait for itself')
  })
})

test('the largest graph there may be, with variables everywhere, does not hold up a server', () => {
  const graph = Array.from({ length: 2000 }, (_, i) => ({
    name: `s${i}`,
    prompt: i ? `{stage_0_summary} {stage_${i - 1}_result}` : 'x',
    depends_on: Array.from({ length: Math.min(60, i) }, (_, back) => i - 1 - back),
  }))
  const start = performance.now()
  expect(decideStages(graph)).toHaveLength(2000)
  expect(performance.now() - start).toBeLessThan(1000)
  const unknown = { name: 'x', prompt: '{stage_s5_summary}', depends_on: ['s4'] }
  expect(() => decideStages([...graph.slice(0, 10), unknown])).toThrow('s5 is not over before x')
})

test.each(Object.keys(LIBRARY))('the ready-made %s is sound', name => {
  const recipe = Recipe.parse({ agents: ['claude', 'codex', 'gemini'], items: ['one', 'two'] })
  expect(decideStages(LIBRARY[name]!.stages(recipe)).length).toBeGreaterThan(1)
})
