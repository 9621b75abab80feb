import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { eventually, scaled } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

test.each([30, 300, 1500])('a lock held for %i ms does not end an automatic landing', async ms => {
  const { fleet, repo, project } = await aScene()
  const lock = join(repo.path, '.git/index.lock')
  writeFileSync(lock, '')
  const { id } = await fleet.mission(project, 'echo one > one.txt')
  await fleet.until(id, 'landing', 'needs_input', 'review')
  await pause(ms)
  rmSync(lock)
  const { result, sessions } = await fleet.until(id, 'done', 'needs_input', 'review')
  expect({ result, sessions: sessions.length }).toEqual({ result: 'landed', sessions: 1 })
  expect(await repo.read('one.txt')).toBe('one\n')
})

test('a landing behind a lock says what it waits for, lets itself be cancelled, and lands when that is gone', async () => {
  const { fleet, repo, project } = await aScene()
  const lock = join(repo.path, '.git/index.lock')
  writeFileSync(lock, '')
  const missions = [
    await fleet.mission(project, 'echo one > one.txt'),
    await fleet.mission(project, 'echo two > two.txt'),
  ]
  for (const { id } of missions)
    await eventually('it says what it waits for', async () => {
      const { status, status_reason } = await fleet.show(id)
      return status === 'landing' && status_reason?.text.includes('another git command')
    })
  const [first, second] = missions
  await fleet.call('cancel_mission', { mission_id: second!.id })
  await fleet.until(second!.id, 'cancelled')
  rmSync(lock)
  expect((await fleet.until(first!.id, 'done', 'needs_input', 'review')).result).toBe('landed')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'one.txt'])
  const waits = (await fleet.events()).filter(
    ({ kind, mission_id }) => kind === 'landing_waits' && mission_id === first!.id,
  )
  expect(waits).toHaveLength(1)
})

const MISSIONS = scaled(20, 100)

test(`${MISSIONS} missions land while a person commits every 150 ms`, { timeout: 240_000 }, async () => {
  const { fleet, repo, project, gate } = await aScene()
  const go = gate('go')
  const missions = await Promise.all(
    Array.from({ length: MISSIONS }, (_, n) => fleet.mission(project, `${go.wait}; echo ${n} > work-${n}.txt`)),
  )
  let [working, commits, kept] = [true, 0, 0]
  const person = (async () => {
    for (; working; commits++) {
      await repo.write(`person-${commits}.txt`, 'mine\n')
      // If the index is locked, the commit fails and the next round tries again, like a person would.
      const done = await repo.commit(`by a person ${commits}`).catch(() => undefined)
      kept += done ? 1 : 0
      await pause(150)
    }
  })()
  go.open()
  try {
    for (const { id } of missions) {
      const { status, status_reason, result } = await fleet.until(id, 'done', 'needs_input', 'review', 'failed')
      expect({ status, status_reason, result }).toEqual({ status: 'done', status_reason: null, result: 'landed' })
    }
  } finally {
    working = false
    await person
  }
  await repo.commit('the last')
  const files = await repo.filesOn('main')
  expect(files).toEqual(expect.arrayContaining(missions.map((_, n) => `work-${n}.txt`)))
  expect(files).toEqual(expect.arrayContaining(Array.from({ length: commits }, (_, n) => `person-${n}.txt`)))
  expect(kept).toBeGreaterThan(5)
  expect(await repo.git('status', '--porcelain')).toBe('')
})
