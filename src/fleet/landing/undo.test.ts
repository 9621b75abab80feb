import { expect, test } from 'vitest'
import { NOW } from '../../domain/samples.testkit.ts'
import { aWorkshop } from '../workshop.testkit.ts'
import { landMission } from './landing.ts'
import { undoMission } from './undo.ts'

const signal = new AbortController().signal
const undo = { requested_at: NOW, by: null, landing_commit: null }

/** A mission that landed, and that somebody wants undone. */
async function landed(changes: Record<string, string>) {
  const shop = await aWorkshop()
  await shop.finished('m1', changes)
  await landMission(shop.fleet, 'm1', signal)
  await shop.change('missions', 'm1', { undo })
  return shop
}

test('an undo takes back its own change alone, by a commit of its own, and only once', async () => {
  const { fleet, repo, mission, told } = await landed({ 'new.txt': 'new\n' })
  const later = await repo.commit('later', { 'later.txt': 'later\n' })
  await undoMission(fleet, 'm1', signal)
  const tip = await repo.tip()
  expect(await repo.git('rev-list', `${later}..main`)).toBe(tip)
  expect(await repo.filesOn('main')).toEqual(['README.md', 'later.txt'])
  expect(await mission()).toMatchObject({
    ...{ status: 'review', result: null, landed: null, undo: null },
    past_landings: [{ undone: { commit: tip } }],
    status_reason: { code: 'undone', text: 'It was undone; its work is kept and can land again.' },
  })
  expect((await fleet.store.get('projects', 'p1'))?.value.known_tip).toBe(tip)
  const events = await told()
  await undoMission(fleet, 'm1', signal)
  expect([await repo.tip(), await told()]).toEqual([tip, events])
})

test('work that was undone can land again', async () => {
  const shop = await aWorkshop()
  const base = await shop.repo.tip()
  const candidate = await shop.finished(
    'm1',
    { 'new.txt': 'new\n' },
    { session: { landable: true, descends_from: base } },
  )
  await landMission(shop.fleet, 'm1', signal)
  expect(await shop.repo.tip()).toBe(candidate)
  await shop.change('missions', 'm1', { undo })
  await undoMission(shop.fleet, 'm1', signal)
  await shop.change('missions', 'm1', { status: 'landing' })
  await landMission(shop.fleet, 'm1', signal)
  expect(await shop.mission()).toMatchObject({ status: 'done', result: 'landed' })
  expect(await shop.repo.filesOn('main')).toEqual(['README.md', 'new.txt'])
})

test('what later work changed again is not undone, and the mission says which files', async () => {
  const { fleet, repo, mission, told } = await landed({ 'new.txt': 'new\n' })
  const tip = await repo.commit('later', { 'new.txt': 'newer\n' })
  await undoMission(fleet, 'm1', signal)
  expect(await mission()).toMatchObject({
    ...{ status: 'done', result: 'landed', undo: null },
    status_reason: { code: 'undo_conflict', text: 'Later work changed the same lines: new.txt.' },
  })
  expect([await repo.tip(), (await told()).at(-1)]).toEqual([tip, 'undo_failed m1'])
})

test('an undo without which checks fail says which, and what else there is', async () => {
  const shop = await landed({ 'new.txt': 'new\n' })
  await shop.change('projects', 'p1', { checks: [{ name: 'looks', command: 'test -e new.txt', timeout_seconds: 60 }] })
  const { landed: landing } = await shop.mission()
  await undoMission(shop.fleet, 'm1', signal)
  expect((await shop.mission()).status_reason).toEqual({
    code: 'checks_failed',
    text: 'Checks fail without it. The check looks failed on the merged tree.',
    try: `To take it back all the same: git revert ${landing?.commit}`,
  })
})

test('what somebody has taken back already is told', async () => {
  const { fleet, repo, mission } = await landed({ 'new.txt': 'new\n' })
  const { landed: landing } = await mission()
  await repo.git('revert', '--no-edit', 'HEAD')
  const tip = await repo.tip()
  await undoMission(fleet, 'm1', signal)
  expect((await mission()).status_reason).toMatchObject({
    code: 'nothing_to_undo',
    text: `main no longer holds ${landing?.commit}.`,
  })
  expect(await repo.tip()).toBe(tip)
})

test('an undo that was cut short after the branch moved is written down and not done again', async () => {
  const { fleet, repo, mission, change } = await landed({ 'new.txt': 'new\n' })
  const onto = await repo.tip()
  await repo.git('revert', '--no-edit', 'HEAD')
  const commit = await repo.tip()
  await change('missions', 'm1', {
    undo: { ...undo, landing_commit: { commit, onto, branch: 'main', checked: true } },
  })
  await undoMission(fleet, 'm1', signal)
  expect(await mission()).toMatchObject({ status: 'review', past_landings: [{ undone: { commit } }] })
  expect(await repo.tip()).toBe(commit)
})

test('what came along with a landing is kept work again after its undo', async () => {
  const shop = await aWorkshop()
  const kept = { status: 'done', result: 'kept' } as const
  const first = await shop.finished('m1', { 'one.txt': '1\n' }, { mission: kept })
  await shop.finished('m2', { 'two.txt': '2\n' }, { from: first, mission: { depends_on: ['m1'] } })
  await landMission(shop.fleet, 'm2', signal)
  await shop.change('missions', 'm2', { undo })
  await undoMission(shop.fleet, 'm2', signal)
  expect(await shop.mission('m1')).toMatchObject({ ...kept, landed: null, past_landings: [{ with: 'm2' }] })
  expect((await shop.mission('m2')).status_reason?.text).toContain('and with it the work of “mission m1” (m1)')
  expect(await shop.repo.filesOn('main')).toEqual(['README.md'])
})
