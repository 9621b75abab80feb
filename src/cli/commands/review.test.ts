import { expect, test } from 'vitest'
import { NotFound } from '../../domain/errors.ts'
import { EXIT } from '../exit.ts'
import { fleet } from '../testing.ts'

const MISSION = {
  id: 'abcdefgh1234',
  title: 'Build\x1b[2J a ship',
  status: 'cancelled',
  status_reason: null,
  waits_for: [],
  warnings: [],
  updated_at: new Date().toISOString(),
}
const REVIEW = {
  mission: MISSION,
  candidate: { commit: 'c0ffee0123456789', session_id: 's1', at: '' },
  includes: [
    {
      mission_id: 'writer123456',
      title: 'write',
      commit: 'x',
      files: ['a', 'b'],
      files_omitted: 1,
      standing: 'handed_on',
    },
  ],
  files: [{ path: 'hull.ts', change: 'added', added: 12, deleted: 0 }],
  files_omitted: 2,
  added: 12,
  deleted: 3,
  checks: { passed: [], failed: ['float'], missing: [] },
  overlaps: [],
  comments: 1,
  risk: {
    level: 'high',
    score: 60,
    reasons: [{ label: 'Checks failed', text: 'The check float failed on this work.' }],
  },
}

test('what waits for review is listed with its risk and why', async () => {
  const { out, code, asked } = await fleet(['review', '--limit', '1'], {
    answers: { list_reviews: { reviews: [REVIEW], more: 4 } },
  })
  expect(asked).toEqual([{ operation: 'list_reviews', input: { limit: 1 } }])
  expect(out).toMatch(/abcdef +high 60 +\+12 -3 +Build a ship .*The check float failed/)
  expect(code).toBe(EXIT.person)
  const none = await fleet(['review'], { answers: { list_reviews: { reviews: [], more: 0 } } })
  expect([none.out, none.code]).toEqual(['Nothing waits for your review.\n', EXIT.done])
})

test('one of them is shown with its files and the comments its agent was not told', async () => {
  const comments = [{ path: 'hull.ts', line: 3, body: 'leaks\x1b[2J' }]
  const { out, asked } = await fleet(['review', 'abc'], {
    terminal: true,
    answers: { get_review: REVIEW, list_comments: { comments } },
  })
  expect(asked[1]).toEqual({ operation: 'list_comments', input: { mission_id: 'abc', unsent: true } })
  expect(out).toContain('added hull.ts +12 -0')
  expect(out).toContain('candidate c0ffee0123456789')
  expect(out).toContain('includes 3 files of write (writer)')
  expect(out).toContain('not sent yet: hull.ts:3 leaks')
  expect(out).not.toContain('\x1b[2J')
})

test('landing shows what would land and asks once; whoever is no person names the commit', async () => {
  const answers = { get_review: REVIEW, land_mission: MISSION }
  const yes = await fleet(['mission', 'land', 'abc'], { terminal: true, answers, stdin: 'Y\n' })
  expect(yes.out).toMatch(/candidate c0ffee012345[\s\S]*added hull\.ts \+12 -0[\s\S]*includes 3 files of write/)
  expect(yes.asked.find(({ operation }) => operation === 'land_mission')).toEqual({
    operation: 'land_mission',
    input: { mission_id: 'abc', expected: 'c0ffee0123456789' },
  })
  for (const stdin of ['no\n', '\n']) {
    const { asked } = await fleet(['mission', 'land', 'abc'], { terminal: true, answers, stdin })
    expect(asked.map(({ operation }) => operation)).toEqual(['get_review'])
  }
  const piped = await fleet(['mission', 'land', 'abc'], { answers })
  expect(piped.code).not.toBe(EXIT.done)
  expect(piped.asked.map(({ operation }) => operation)).toEqual(['get_review'])
})

test('sending back, rejecting and reconsidering ask for just that', async () => {
  const answers = { send_back_mission: MISSION, reject_mission: MISSION, reconsider_mission: MISSION }
  const asked = async (...args: string[]) => (await fleet(['review', ...args], { answers, stdin: 'from\nhere' })).asked
  expect(await asked('send-back', 'abc', '-m', '-', '--model', 'opus')).toEqual([
    { operation: 'send_back_mission', input: { mission_id: 'abc', model: 'opus', message: 'from\nhere' } },
  ])
  expect(await asked('reject', 'abc', '-m', 'no')).toEqual([
    { operation: 'reject_mission', input: { mission_id: 'abc', reason: 'no' } },
  ])
  expect(await asked('reconsider', 'abc')).toEqual([{ operation: 'reconsider_mission', input: { mission_id: 'abc' } }])
})

test('compare takes two sessions where the names are of no missions', async () => {
  const side = (id: string) => ({
    session: { id, number: 1, reason: 'first', agent: 'shell', outcome: 'completed', usage: USAGE },
    seconds: 2,
    files: [{ path: `${id}.txt` }],
    evidence: [],
    report: { summary: `I am ${id}` },
  })
  const { out, asked } = await fleet(['compare', 's1', 's2'], {
    answers: {
      compare_missions: new NotFound('mission', 's1'),
      compare_sessions: { first: side('s1'), second: side('s2'), between: null },
    },
  })
  expect(asked.map(({ operation }) => operation)).toEqual(['compare_missions', 'compare_sessions'])
  expect(out).toMatch(/files +s1\.txt +s2\.txt/)
  expect(out).toMatch(/says +I am s1 +I am s2/)
})
const USAGE = { input_tokens: 1, output_tokens: 1, cost_usd: 0 }

test('a conflict is shown with both sides and who landed', async () => {
  const conflict = {
    mission_id: 'abcdefgh1234',
    in_conflict: true,
    work: { worktree: '/w' },
    base: { branch: 'main' },
    files: [
      {
        path: 'line.txt',
        kind: 'contents',
        regions: [{ line: 1, base: 'red', work: 'blue' }],
        regions_omitted: 0,
        landed: [{ commit: 'c0ffee0000ff', subject: 'Paint it red', mission_id: 'zyxwvuts9876' }],
      },
    ],
    files_omitted: 0,
    rounds: { used: 2, left: 0 },
  }
  const { out, err, code } = await fleet(['conflict', 'abc'], { answers: { get_conflict: conflict } })
  expect(out).toContain('c0ffee0000 Paint it red (mission zyxwvu)')
  expect(out).toContain('  - red\n  + blue')
  expect(err).toContain('Resolve it in /w')
  expect(code).toBe(EXIT.person)
})
