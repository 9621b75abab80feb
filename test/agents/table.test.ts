import { expect, test } from 'vitest'
import { type Results, scenarioTable } from './table.ts'

const file = (name: string, ...tests: [title: string, status: string][]): Results['testResults'][number] => ({
  name: `/somewhere/test/agents/${name}.test.ts`,
  assertionResults: tests.map(([title, status]) => ({ title, status })),
})

function cellsOf(results: Results): (scenario: string, client: string) => string | undefined {
  const [head, ...rows] = scenarioTable(results)
    .split('\n')
    .map(line => line.split(/ {2,}/))
  return (scenario, client) => rows.find(([name]) => name === scenario)?.[head!.indexOf(client)]
}

test('a cell says what the tests of that client came to, and no more', () => {
  const cell = cellsOf({
    testResults: [
      file('codex', ['a fork goes on elsewhere', 'passed'], ['429 to the end is a rate limit', 'failed']),
      file('claude', ['429 to the end is a rate limit; 429 twice is not', 'passed'], ['a fork is made', 'skipped']),
      file(
        'gemini',
        ['under review nothing is written or removed', 'failed'],
        ['nothing is written or removed', 'passed'],
      ),
      file('custom', ['200 kB of prompt', 'passed'], ['agy, by its stand-in: nothing like it', 'passed']),
    ],
  })
  expect(cell('fork, the first unchanged', 'codex')).toBe('shown')
  expect(cell('429 to the end', 'codex')).toBe('FAILED')
  expect(cell('429 twice, then success', 'claude')).toBe('shown')
  expect(cell('fork, the first unchanged', 'claude')).toBe('skipped')
  expect(cell('denied tool', 'gemini')).toBe('FAILED')
  expect(cell('prompt of 200 kB', 'custom')).toBe('stand-in')
  expect(cell('prompt of 200 kB', 'agy')).toBe('—')
})

test('what no test shows is not offered only where the adapter says so', () => {
  const cell = cellsOf({ testResults: [] })
  expect(cell('fork, the first unchanged', 'gemini')).toBe('not offered')
  expect(cell('fork, the first unchanged', 'codex')).toBe('—')
  expect(cell('edit and land', 'gemini')).toBe('—')
})
