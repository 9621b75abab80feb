import { expect, test } from 'vitest'
import { aMission } from '../samples.testkit.ts'
import { riskOf, type SizedFile, type Work } from './risk.ts'

const file = (path: string, more: Partial<SizedFile> = {}): SizedFile => ({
  path,
  change: 'modified',
  added: 3,
  deleted: 1,
  ...more,
})

const work = (more: Partial<Work> = {}): Work => ({
  mission: aMission({ status_reason: { code: 'policy', text: 'Its work waits for review.' } }),
  files: [file('src/a.ts'), file('src/a.test.ts')],
  filesOmitted: 0,
  includes: [],
  lines: 8,
  checked: { passed: ['test'], failed: [], missing: [] },
  overlaps: [],
  untested: [],
  ...more,
})

test('a small change with its test and passing checks is no risk', () => {
  expect(riskOf(work())).toEqual({ level: 'low', score: 0, reasons: [] })
})

test.each<[string, Partial<Work>, RegExp]>([
  ['a large change', { lines: 2500 }, /2500 lines in 2 files/],
  ['many files', { filesOmitted: 30 }, /8 lines in 32 files/],
  ['failed checks', { checked: { passed: ['a'], failed: ['lint', 'test'], missing: [] } }, /checks lint, test failed/],
  ['checks that did not run', { checked: { passed: [], failed: [], missing: ['test'] } }, /check test has not run/],
  ['no checks', { checked: { passed: [], failed: [], missing: [] } }, /no checks/],
  [
    'work beside it',
    { overlaps: [{ mission_id: 'x1', title: 'Other', status: 'review', files: ['src/a.ts'] }] },
    /“Other” \(x1\) .* changes src\/a\.ts/,
  ],
  ['code without a test', { files: [file('src/a.ts')] }, /No test was touched/],
  [
    'deleted tests',
    { files: [file('src/a.ts'), file('src/a.test.ts', { change: 'deleted' })] },
    /deletes tests: src\/a/,
  ],
  [
    'deleted files',
    { files: [file('src/old.ts', { change: 'deleted', added: 0 }), file('src/a.test.ts')] },
    /deletes 1 file: src\/old\.ts/,
  ],
  [
    'mostly deletions',
    { files: [file('src/a.ts', { added: 10, deleted: 140 }), file('src/a.test.ts')] },
    /deletes 141 lines and adds 13/,
  ],
  [
    'files that nobody can read',
    { files: [file('logo.png', { added: null, deleted: null }), file('src/a.test.ts')] },
    /not text: logo\.png/,
  ],
  ['a migration', { files: [file('db/migrations/1.py'), file('src/a.test.ts')] }, /how data is stored: db\/migrations/],
  ['a lock file', { files: [file('yarn.lock')] }, /which packages the project uses: yarn\.lock/],
  ['what the agent admits', { untested: ['the Safari case'] }, /not tested: the Safari case/],
  [
    'a concern of the fleet',
    { mission: aMission({ status_reason: { code: 'secret_committed', text: 'It committed .env.' } }) },
    /committed \.env/,
  ],
])('%s raises it, and says so', (_, more, sentence) => {
  const { score, reasons } = riskOf(work(more))
  expect(score).toBeGreaterThan(0)
  expect(reasons).toEqual([{ label: expect.any(String), text: expect.stringMatching(sentence) }])
})

test('a reason is a sentence, however much an agent says', () => {
  expect(riskOf(work({ untested: ['x'.repeat(4000)] })).reasons[0]!.text.length).toBe(400)
})

test('prose and lock files need no test', () => {
  const { reasons } = riskOf(work({ files: [file('README.md'), file('docs/a.md'), file('web/app.min.js')] }))
  expect(reasons).toEqual([])
})

test('files away from what the mission names are named; their tests are not, nor anything where it names nothing', () => {
  const files = [
    file('src/greet/form.ts'),
    file('src/greet/style.css'),
    file('src/catalog/list.ts'),
    file('test/x.test.ts'),
  ]
  const told = (prompt: string, more = {}) =>
    riskOf(work({ files, mission: aMission({ prompt: { inline: prompt }, ...more }) })).reasons.map(({ text }) => text)
  const away = ['It changes files outside what the mission names: src/catalog/list.ts.']
  expect(told('Mend `src/greet/form.ts`, please.')).toEqual(away)
  expect(told('Everything under ./src/greet/.')).toEqual(away)
  expect(told('Mend form.ts')).toEqual(away)
  expect(told('mend it', { subdirectory: 'src/greet' })).toEqual(away)
  expect(told('Mend the login. See example.com and node.js.')).toEqual([])
})

test('the weightiest reason comes first, and levels follow the score', () => {
  const { level, score, reasons } = riskOf(
    work({ lines: 700, files: [file('src/a.ts')], checked: { passed: [], failed: ['test'], missing: [] } }),
  )
  expect({ level, score }).toEqual({ level: 'high', score: 76 })
  expect(reasons[0]!.text).toMatch(/check test failed/)
  expect(riskOf(work({ lines: 700 })).level).toBe('medium')
})

test('lines that a program wrote do not make a change large, whoever says that they are generated', () => {
  const large = { added: 3000, deleted: 0 }
  const files = [file('a.min.js', large), file('api.ts', { ...large, generated: true }), file('src/a.test.ts')]
  expect(riskOf(work({ files, lines: 6004 })).reasons).toEqual([])
  expect(riskOf(work({ files: [file('api.ts', large), file('a.test.ts')], lines: 3004 })).reasons).toMatchObject([
    { label: 'Large' },
  ])
})

test('each kind of sensitive file is one reason, weighed more than the size of a small change', () => {
  const files = ['src/auth/a.ts', 'src/auth/b.ts', '.github/workflows/ci.yml', 'src/billing.ts', 'src/a.test.ts']
  const { level, reasons } = riskOf(work({ files: files.map(path => file(path)) }))
  expect([level, reasons.map(({ label }) => label)]).toEqual(['high', ['Auth', 'CI', 'Money']])
  expect(reasons[0]!.text).toBe('It changes who may do what: src/auth/a.ts, src/auth/b.ts.')
})
