import { expect, test } from 'vitest'
import { aMission } from '../../domain/samples.testkit.ts'
import { aBench, aWorkshop } from '../workshop.testkit.ts'
import { requireShown, shownOf } from './candidates.ts'
import { conflictOf } from './conflicts.ts'

const review = { mission: { status: 'review' as const } }

test('a landing needs the candidate that the person was shown, and says what differs', async () => {
  const { fleet, repo, finished, mission, commitOn } = await aWorkshop()
  const base = await repo.tip()
  const old = await commitOn('old', base, { 'new.txt': 'old\n' })
  const candidate = await finished('m1', { 'new.txt': 'new\n' }, { ...review, from: old })
  const shown = async (expected?: string) => requireShown(fleet, await mission(), expected)
  expect((await shown(candidate)).id).toBe('m1')
  expect((await shown(candidate.slice(0, 7).toUpperCase())).id).toBe('m1')
  await expect(shown(candidate.slice(0, 6))).rejects.toThrow(`The work of mission m1 is ${candidate} now`)
  await expect(shown()).rejects.toThrow(
    `Name the commit of mission m1 that you reviewed; it is ${candidate} now: new.txt.`,
  )
  await expect(shown(old)).rejects.toMatchObject({
    message: `The work of mission m1 is ${candidate} now, not ${old}: new.txt.`,
    facts: { candidate, expected: old, files: ['new.txt'] },
  })
  const unknown = 'f'.repeat(40)
  await expect(shown(unknown)).rejects.toThrow(`${unknown} is not a commit of this repository`)
})

test('work that holds what nobody approved is not let land, whoever asks', async () => {
  const { fleet, finished, mission } = await aWorkshop({ landing: 'review' })
  const first = await finished('m1', { 'one.txt': '1\n' }, review)
  const second = await finished(
    'm2',
    { 'two.txt': '2\n' },
    {
      from: first,
      mission: { ...review.mission, depends_on: ['m1'] },
    },
  )
  await expect(requireShown(fleet, await mission('m2'), second)).rejects.toMatchObject({
    message: 'Mission m2 cannot land yet. It holds the work of “mission m1” (m1), which nobody has approved.',
    hint: 'fleet land m1 first',
  })
})

test('what landed on the base branch meanwhile is not shown as removed by the work', async () => {
  const { repo, project, finished, mission } = await aWorkshop()
  const base = await repo.tip()
  const candidate = await finished('m1', { 'new.txt': 'new\n' }, review)
  await repo.commit('meanwhile', { 'later.txt': 'later\n' })
  expect(await shownOf(project, await mission())).toEqual({ from: base, to: candidate, candidate })
  expect(await shownOf(project, aMission())).toBeUndefined()
})

test('a conflict is shown by its lines, and by the mission that brought the other side', async () => {
  const { fleet, repo, finished, mission, save } = await aWorkshop()
  await finished('m1', { 'README.md': 'of the agent\n' }, { mission: { status: 'needs_input' } })
  await save('missions', aMission({ id: 'm0', title: 'the first' }))
  await repo.commit('land it\n\nFleet-Mission: m0', { 'README.md': 'of another\n' })
  const { files, baseCommit } = await conflictOf(fleet, await mission())
  expect(baseCommit).toBe(await repo.tip())
  expect(files).toMatchObject([
    {
      path: 'README.md',
      regions: [{ line: 1, base: 'of another', work: 'of the agent' }],
      landed: [{ mission_id: 'm0', title: 'the first' }],
    },
  ])
})

test('without finished work there is no conflict to show', async () => {
  const { fleet, save } = aBench()
  await save('missions', aMission())
  await expect(conflictOf(fleet, aMission())).rejects.toThrow(
    'Mission m1 has no finished work yet, so nothing can be in conflict with it.',
  )
})
