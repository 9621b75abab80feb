import { expect, test } from 'vitest'
import { coverage, filesOf, subjectOf } from './approval-rule.ts'

const of = (input: unknown, files: string[] = [], worktree: string | null = '/w/one') =>
  subjectOf({ input, files, worktree })

test('the same command is the same, whatever the agent says of it and in whichever worktree', () => {
  const subject = of({ command: 'npm test', description: 'Run the tests', timeout: 1000, cwd: '/w/one' })
  expect(subject).toBe('{"command":"npm test","cwd":"./"}')
  expect(subjectOf({ input: { cwd: '/w/two', command: 'npm test', reason: 'x' }, files: [], worktree: '/w/two' })).toBe(
    subject,
  )
})

test.each([
  { command: 'npm test ' },
  { command: 'npm  test' },
  { command: 'npm test; rm -rf /' },
  { command: 'NPM test' },
  { command: ['npm', 'test'] },
  { command: 'npm test', dangerouslyDisableSandbox: true },
  { command: 'npm test', run_in_background: true },
  { command: 'npm test', cwd: '/elsewhere' },
  { command: 'npm test', cwd: '/w/one/sub' },
  { script: 'npm test' },
])('%j is not "npm test"', input => {
  expect(of(input)).not.toBe(of({ command: 'npm test' }))
})

test('files are known by their path in the worktree, in any order, and nowhere else', () => {
  expect(of({ content: 'x' }, ['/w/one/b.txt', 'a/./c.txt', './b.txt'])).toBe('{"files":["./a/c.txt","./b.txt"]}')
  const outside = [
    '/etc/passwd',
    '../x',
    'a/../../x',
    '/w/one/../two/x',
    '/w/onex/y',
    '.git/config',
    '/w/one/.git/x',
    'a\0b',
  ]
  for (const file of outside) expect(of({}, [file]), JSON.stringify(file)).toBeNull()
  expect(of({}, ['/w/one/a'], null)).toBeNull()
})

test.each([null, undefined, 'text', 7, [], {}, { description: 'only words' }, { command: 'x'.repeat(9000) }])(
  'no rule is made of %j',
  input => {
    expect(of(input)).toBeNull()
  },
)

test('what it covers is said in words', () => {
  expect(coverage('Bash', of({ command: 'npm test' })!)).toBe('Run the command npm test')
  expect(coverage('execute', of({ command: 'npm test' })!)).toBe('Run the command npm test')
  expect(coverage('Edit', of({}, ['a.txt'])!)).toBe('Change ./a.txt, whatever the change')
  expect(coverage('Bash', of({ command: 'x', run_in_background: true })!)).toBe(
    'Run a command (Bash): {"command":"x","run_in_background":true}',
  )
  expect(coverage('mcp__shop__buy', of({ item: 'tea' })!)).toBe('Use a service (mcp__shop__buy): {"item":"tea"}')
  expect(filesOf(of({ files: ['a'], more: 1 })!)).toEqual([])
})
