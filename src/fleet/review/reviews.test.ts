import { expect, test } from 'vitest'
import { aMission, aReport, aSession } from '../../domain/samples.testkit.ts'
import { aBench, aWorkshop } from '../workshop.testkit.ts'
import { fileAt, missionDiff } from './diffs.ts'
import { isToReview, reviewOf, reviewsOf } from './reviews.ts'

const review = { mission: { status: 'review' as const }, session: { worktree: '/gone' } }

test('a diff shows what would land, and nothing that others landed meanwhile', async () => {
  const { fleet, repo, finished, mission } = await aWorkshop()
  const candidate = await finished('m1', { 'new.txt': 'one\ntwo\n' }, review)
  await repo.commit('meanwhile', { 'later.txt': 'later\n' })
  const diff = await missionDiff(fleet, await mission())
  expect(diff).toMatchObject({ candidate, added: 2, deleted: 0, files_omitted: 0, includes: [] })
  expect(diff.files.map(({ path }) => path)).toEqual(['new.txt'])
  expect(diff.text).toContain('+two')
  await expect(missionDiff(fleet, await mission(), { path: 'later.txt' })).rejects.toThrow(
    'There is no changed file "later.txt".',
  )
})

test('a mission that has not run has no diff', async () => {
  await expect(missionDiff(aBench().fleet, aMission())).rejects.toThrow('Mission m1 has not run yet.')
})

test('both sides of a file are read, by lines, and only files of the work', async () => {
  const { fleet, finished, mission, session } = await aWorkshop({}, { 'a.txt': '1\n2\n3\n' })
  await finished('m1', { 'a.txt': '1\n2\nthree\n' }, review)
  const of = { session: await session(), mission: await mission() }
  const side = (which: 'base' | 'work', path = 'a.txt') => fileAt(fleet, of, { path, side: which, from: 2, count: 9 })
  expect(await side('base')).toEqual({ lines: ['2', '3'], first_line: 2, total_lines: 3 })
  expect((await side('work')).lines).toEqual(['2', 'three'])
  await expect(side('work', 'missing.txt')).rejects.toThrow('There is no file "missing.txt".')
  for (const path of ['../x', '.git/config', '/etc/passwd', 'a//b'])
    await expect(side('work', path), path).rejects.toThrow('it must be the path of a file inside the worktree')
})

test('the riskiest work comes first, and says which other work changes the same files', async () => {
  const { fleet, finished, save, repo } = await aWorkshop({
    checks: [{ name: 'test', command: 'x', timeout_seconds: 9 }],
  })
  const base = await repo.tip()
  await finished('m1', { 'small.txt': 'x\n' }, { ...review, from: base })
  const lines = Array.from({ length: 900 }, (_, n) => `line ${n}\n`).join('')
  await finished('m2', { 'big.txt': lines, 'shared.txt': 'x\n' }, { ...review, from: base })
  await save('missions', aMission({ id: 'm3', title: 'beside', status: 'running', session_id: 's3' }))
  await save(
    'reports',
    aReport({ mission_id: 'm3', files_changed: [{ path: 'shared.txt', change: 'added' }] as never }),
  )
  const reviews = await reviewsOf(fleet)
  expect(reviews.map(({ mission }) => mission.id)).toEqual(['m2', 'm1'])
  expect(reviews[0]).toMatchObject({
    ...{ added: 901, checked: { passed: [], failed: [], missing: ['test'] } },
    overlaps: [{ mission_id: 'm3', title: 'beside', files: ['shared.txt'] }],
  })
  expect(reviews[1]?.overlaps).toEqual([])
})

test('a repository that cannot be read does not hide its work: the report tells the files', async () => {
  const { fleet, finished, mission, change, save } = await aWorkshop()
  await finished('m1', { 'new.txt': 'x\n' }, review)
  await save('reports', aReport({ files_changed: [{ path: 'told.txt', change: 'added' }] as never }))
  await change('projects', 'p1', { path: '/gone/for/good' })
  expect((await reviewOf(fleet, await mission())).files.map(({ path }) => path)).toEqual(['told.txt'])
})

test.each([
  { more: { status: 'review', branch: 'b' }, is: true },
  { more: { status: 'review', branch: null }, is: false },
  { more: { status: 'needs_input', branch: 'b', status_reason: { code: 'conflict', text: '' } }, is: true },
  { more: { status: 'needs_input', branch: 'b', status_reason: { code: 'question', text: '' } }, is: false },
  { more: { status: 'done', branch: 'b' }, is: false },
] as const)('finished work that waits for a person is to review: $more.status, $is', ({ more, is }) => {
  expect(isToReview(aMission(more))).toBe(is)
})

test('a session without a worktree has nothing to compare', async () => {
  const { fleet, save } = aBench()
  await save('sessions', aSession({ worktree: null, worktree_kept: false }))
  await expect(missionDiff(fleet, aMission({ session_id: 's1' }), { path: 'x' })).rejects.toThrow()
})
