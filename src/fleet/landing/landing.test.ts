import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { StoreTrouble } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import { NOW } from '../../domain/samples.testkit.ts'
import type { Fleet } from '../fleet.ts'
import { aWorkshop, interrupted } from '../workshop.testkit.ts'
import { landMission } from './landing.ts'

const signal = new AbortController().signal
const checks = (command: string) => [{ name: 'looks', command, timeout_seconds: 20 }]
const approval = (candidate: string) => ({ candidate, by: 'a person', at: NOW, past: null })

test('work lands as one commit on the base branch, in the checkout of a person too, and only once', async () => {
  const { fleet, repo, finished, mission, told } = await aWorkshop()
  const base = await repo.tip()
  const candidate = await finished('m1', { 'new.txt': 'new\n' })
  await landMission(fleet, 'm1', signal)
  const tip = await repo.tip()
  expect(await repo.git('rev-list', `${base}..main`)).toBe(tip)
  expect(await repo.read('new.txt')).toBe('new\n')
  expect(await mission()).toMatchObject({
    ...{ status: 'done', result: 'landed', landing_commit: null },
    landed: { commit: tip, onto: base, branch: 'main', candidate, files: 1, includes: [], approved: null },
  })
  expect((await fleet.store.get('projects', 'p1'))?.value.known_tip).toBe(tip)
  const events = await told()
  expect(events).toEqual(['landed m1'])
  await landMission(fleet, 'm1', signal)
  expect([await repo.tip(), await told()]).toEqual([tip, events])
})

test('a disk of the store that is full for a moment sends nothing to review: the landing is made again', async () => {
  const { fleet, repo, finished, mission } = await aWorkshop()
  await finished('m1', { 'new.txt': 'new\n' })
  let isFull = true
  const commit: Fleet['commit'] = async (name, batch) => {
    if (isFull && name === 'commit.landing-commit') {
      isFull = false
      throw new StoreTrouble('The disk is full; nothing was written.')
    }
    return fleet.commit(name, batch)
  }
  const full: Fleet = Object.create(fleet, { commit: { value: commit } })
  await expect(landMission(full, 'm1', signal)).rejects.toThrow('The disk is full')
  expect(await mission()).toMatchObject({ status: 'landing' })
  await landMission(full, 'm1', signal)
  expect(await mission()).toMatchObject({ status: 'done', result: 'landed' })
  expect(await repo.filesOn('main')).toContain('new.txt')
})

test('the one commit of a session on the base branch is itself the landing', async () => {
  const { fleet, repo, finished, change } = await aWorkshop()
  const base = await repo.tip()
  const candidate = await finished('m1', { 'new.txt': 'new\n' })
  await change('sessions', 's-m1', { landable: true, descends_from: base })
  await landMission(fleet, 'm1', signal)
  expect(await repo.tip()).toBe(candidate)
})

test('work that changes nothing on the base branch is done, and moves nothing', async () => {
  const { fleet, repo, finished, mission } = await aWorkshop()
  await finished('m1', { 'new.txt': 'new\n' })
  const tip = await repo.commit('the same by hand', { 'new.txt': 'new\n' })
  await landMission(fleet, 'm1', signal)
  expect(await mission()).toMatchObject({ status: 'done', result: 'no_changes', landed: null })
  expect(await repo.tip()).toBe(tip)
})

test.each([
  { conflicts: 0, becomes: { status: 'queued', next: { reason: 'conflict' }, conflicts: 1 } },
  { conflicts: 1, becomes: { status: 'queued', next: { reason: 'conflict' }, conflicts: 2 } },
  { conflicts: 2, becomes: { status: 'needs_input', conflicts: 2 } },
])(
  'the agent is sent back for a conflict twice, then a person decides: after $conflicts',
  async ({ conflicts, becomes }) => {
    const { fleet, repo, finished, mission } = await aWorkshop()
    await finished('m1', { 'README.md': 'of the agent\n' }, { mission: { conflicts } })
    const tip = await repo.commit('meanwhile', { 'README.md': 'of a person\n' })
    await landMission(fleet, 'm1', signal)
    const now = await mission()
    expect(now).toMatchObject({ ...becomes, status_reason: { code: 'conflict' } })
    expect(now.status_reason?.text).toContain('Its work is in conflict with the base branch: README.md.')
    expect(await repo.tip()).toBe(tip)
  },
)

test('a base branch that is gone is told, with the way to name another', async () => {
  const { fleet, finished, mission, change } = await aWorkshop()
  await finished('m1', { 'new.txt': 'new\n' })
  await change('projects', 'p1', { base_branch: 'trunk' })
  await landMission(fleet, 'm1', signal)
  const { status, status_reason } = await mission()
  expect([status, status_reason?.text]).toEqual(['review', 'The base branch trunk is gone.'])
  expect(status_reason?.try).toContain('fleet project set p1 --base <branch>')
})

test('a file of a person that is in the way makes the landing wait and stays as it is', async () => {
  const { fleet, repo, finished, mission } = await aWorkshop()
  await finished('m1', { 'new.txt': 'of the agent\n' })
  await repo.write('new.txt', 'of a person\n')
  const base = await repo.tip()
  await landMission(fleet, 'm1', signal)
  const { status, status_reason, landing_commit } = await mission()
  expect([status, status_reason?.code, landing_commit]).toEqual(['needs_input', 'in_the_way', null])
  expect(status_reason?.text).toMatch(/^Uncommitted files in .* are in the way: new\.txt\.$/)
  expect([await repo.tip(), await repo.read('new.txt')]).toEqual([base, 'of a person\n'])
})

test('a landing that was cut short after the branch moved is written down and not done again', async () => {
  const { fleet, repo, finished, mission, change, commitOn } = await aWorkshop()
  const base = await repo.tip()
  await finished('m1', { 'new.txt': 'new\n' })
  const commit = await commitOn('made', base, { 'new.txt': 'new\n' })
  await change('missions', 'm1', { landing_commit: { commit, onto: base, branch: 'main', checked: true } })
  await repo.git('merge', '--quiet', '--ff-only', 'made')
  const tip = await repo.commit('later', { 'later.txt': 'later\n' })
  await landMission(fleet, 'm1', signal)
  expect(await mission()).toMatchObject({ status: 'done', result: 'landed', landed: { commit, onto: base } })
  expect(await repo.tip()).toBe(tip)
})

test('a landing that was cut short before the branch moved is done again on the base branch as it is', async () => {
  const { fleet, repo, finished, mission, change, commitOn } = await aWorkshop()
  const base = await repo.tip()
  await finished('m1', { 'new.txt': 'new\n' })
  const commit = await commitOn('made', base, { 'new.txt': 'new\n' })
  await change('missions', 'm1', { landing_commit: { commit, onto: base, branch: 'main', checked: true } })
  const onto = await repo.commit('meanwhile', { 'later.txt': 'later\n' })
  await landMission(fleet, 'm1', signal)
  expect((await mission()).landed).toMatchObject({ onto, commit: await repo.tip() })
  expect(await repo.filesOn('main')).toEqual(['README.md', 'later.txt', 'new.txt'])
})

test('a landing that a person cancels ends without a check, and without touching the base branch', async () => {
  const { fleet, repo, finished, mission, told } = await aWorkshop({ checks: checks('true') })
  const base = await repo.tip()
  await finished('m1', { 'new.txt': 'new\n' }, { mission: { cancel_requested: true } })
  await landMission(fleet, 'm1', signal)
  expect(await mission()).toMatchObject({ status: 'cancelled', cancel_requested: false })
  expect([await repo.tip(), await told()]).toEqual([base, ['cancelled m1']])
})

test('what a person changes on the mission in the moment it lands is kept', async () => {
  const { fleet, finished, mission, change } = await aWorkshop()
  await finished('m1', { 'new.txt': 'new\n' })
  const rename = () => change('missions', 'm1', { title: 'another title' })
  await landMission(interrupted(fleet, 'commit.landed', rename), 'm1', signal)
  expect(await mission()).toMatchObject({ title: 'another title', status: 'done', result: 'landed' })
})

test('a base branch that moves in the moment of landing is merged with, and nothing of it is lost', async () => {
  const { fleet, repo, finished, mission } = await aWorkshop()
  await finished('m1', { 'new.txt': 'new\n' })
  const commit = async () => void (await repo.commit('meanwhile', { 'later.txt': 'later\n' }))
  await landMission(interrupted(fleet, 'commit.landing-commit', commit), 'm1', signal)
  expect(await mission()).toMatchObject({ status: 'done', landed: { commit: await repo.tip() } })
  expect(await repo.filesOn('main')).toEqual(['README.md', 'later.txt', 'new.txt'])
})

test('work of another mission that nobody approved does not land in its wake', async () => {
  const { fleet, repo, finished, mission } = await aWorkshop()
  const base = await repo.tip()
  const first = await finished('m1', { 'one.txt': '1\n' }, { mission: { status: 'review', landing: 'review' } })
  await finished('m2', { 'two.txt': '2\n' }, { from: first, mission: { depends_on: ['m1'] } })
  await landMission(fleet, 'm2', signal)
  expect(await mission('m2')).toMatchObject({
    status: 'review',
    status_reason: {
      code: 'unapproved',
      text: 'It holds the work of “mission m1” (m1), which nobody has approved.',
      try: 'fleet land m1 first',
    },
  })
  expect(await repo.tip()).toBe(base)
})

test('kept work that another mission was built on lands with it, and both say so', async () => {
  const { fleet, finished, mission, told } = await aWorkshop()
  const kept = { status: 'done', result: 'kept' } as const
  const first = await finished('m1', { 'one.txt': '1\n' }, { mission: kept })
  await finished('m2', { 'two.txt': '2\n' }, { from: first, mission: { depends_on: ['m1'] } })
  await landMission(fleet, 'm2', signal)
  const { landed } = await mission('m2')
  expect(landed?.includes).toEqual([{ mission_id: 'm1', title: 'mission m1', commit: first }])
  expect(await mission('m1')).toMatchObject({ result: 'landed', landed: { with: 'm2', commit: landed?.commit } })
  expect(await told()).toEqual(['landed m1', 'landed m2'])
})

test('a check runs on the merged tree, and what fails there does not land', async () => {
  const { fleet, repo, finished, mission } = await aWorkshop({ checks: checks('test ! -e new.txt') })
  const base = await repo.tip()
  await finished('m1', { 'new.txt': 'new\n' })
  await landMission(fleet, 'm1', signal)
  const { status, status_reason } = await mission()
  expect([status, status_reason?.text]).toEqual(['review', 'The check looks failed on the merged tree.'])
  expect([await repo.tip(), existsSync(join(repo.path, 'new.txt'))]).toEqual([base, false])
  const { items } = await fleet.store.find('evidence', { index: 'mission', equals: ['m1'], limit: 5 })
  expect(items.map(({ value }) => [value.name, value.passed, value.exit_code])).toEqual([['looks', false, 1]])
})

test('a person who forces a landing gets it past its check, and the record says who and past what', async () => {
  const { fleet, repo, finished, mission, change } = await aWorkshop({ checks: checks('false') })
  const candidate = await finished('m1', { 'new.txt': 'new\n' })
  await change('missions', 'm1', { approval: approval(candidate), forced: true })
  await landMission(fleet, 'm1', signal)
  const { landed } = await mission()
  expect(landed).toMatchObject({
    commit: await repo.tip(),
    approved: { by: 'a person' },
    forced: { by: 'a person', past: 'The check looks failed on the merged tree.' },
  })
  expect(landed?.evidence).toHaveLength(1)
})

test.each<{ command: string; becomes: Partial<Mission> }>([
  { command: 'true', becomes: { status: 'done', result: 'kept' } },
  { command: 'false', becomes: { status: 'failed', result: null } },
])('work that stays on its branch is done only if its checks pass: $command', async ({ command, becomes }) => {
  const { fleet, repo, finished, mission } = await aWorkshop({ checks: checks(command), landing: 'never' })
  const base = await repo.tip()
  await finished('m1', { 'new.txt': 'new\n' })
  await landMission(fleet, 'm1', signal)
  expect(await mission()).toMatchObject(becomes)
  expect(await repo.tip()).toBe(base)
})
