import { expect, test } from 'vitest'
import { checkLines } from './show-checks.ts'
import { fleet } from './testing.ts'

const failed = {
  name: 'lint',
  commit: 'c0ffee0000ff',
  passed: false,
  exit_code: 3,
  seconds: 1.25,
  output: `${Array.from({ length: 30 }, (_, i) => `line ${i + 1}`).join('\n')}\n\n`,
}

test('a failed check says how it ended, its last lines, and how to see the rest', () => {
  const lines = checkLines('abcdefgh1234', [{ ...failed, name: 'types', passed: true, exit_code: 0 }, failed], false)
  expect(lines[0]).toBe('passed  types at c0ffee0000 (1.3 s)')
  expect(lines[1]).toBe('failed  lint at c0ffee0000 (1.3 s): exit code 3')
  expect(lines[2]).toMatch(/^ {2}20 earlier lines: fleet show abcdef --checks\n {2}line 21\n(.*\n)*.*line 30$/)
  expect(lines).toHaveLength(3)
})

test('all of it is shown where it is asked for; one that took too long says so', () => {
  const [line, output] = checkLines('abcdefgh1234', [{ ...failed, exit_code: null }], true)
  expect(line).toContain(': stopped at its time limit')
  expect(output).toContain('line 1\n')
})

test('a check that printed nothing, or one long line, is bounded too', () => {
  expect(checkLines('abcdefgh1234', [{ ...failed, output: '\n' }], false)).toEqual([
    expect.stringContaining('exit code 3'),
    '  It printed nothing.',
  ])
  const [, long] = checkLines('abcdefgh1234', [{ ...failed, output: 'x'.repeat(100_000) }], false)
  expect(long!.length).toBeLessThan(3000)
  expect(long).toContain('fleet show abcdef --checks')
})

test('what a check prints cannot act on the terminal', async () => {
  const mission = {
    ...{
      id: 'abcdefgh1234',
      project_id: 'p',
      project_name: 'shop',
      title: 'Do it',
      status: 'review',
      status_reason: null,
    },
    ...{ holds: [], warnings: [], tags: [], depends_on: [], sessions: [], past_landings: [], processes: [] },
    ...{ children: [], comments: [], waits_for: [], landed: null, report: null, usage: {}, parent_mission_id: null },
    evidence: [{ ...failed, output: 'before\x1b]0;title\x07\x1b[2Jafter' }],
  }
  const answers = {
    get_mission: mission,
    get_mission_notes: { plan: '', knowledge: '', questions: [], artifacts: { files: [] } },
  }
  const { out, code } = await fleet(['mission', 'show', 'abc'], { answers, terminal: true, env: { NO_COLOR: '1' } })
  expect(code).toBe(0)
  expect(out).toContain('beforeafter')
  expect(out).not.toContain('\x1b')
  expect(out).toMatch(/project +shop \(p\)/)
})
