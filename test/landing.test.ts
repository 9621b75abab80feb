import { afterEach, expect, test } from 'vitest'
import { aRepository, type TestRepository } from '../src/git/testkit.ts'
import { aFleet, type TestFleet } from './kit/fleet.ts'

let fleet: TestFleet
let repo: TestRepository
afterEach(async () => {
  await fleet.remove()
  await repo.remove()
})

test('a mission that makes a file lands it on the base branch and in the clean checkout', async () => {
  fleet = await aFleet()
  repo = await aRepository()
  await fleet.start()
  const project = await fleet.project(repo.path)

  const { id } = await fleet.mission(project, 'echo hello > made.txt; echo I made a file')
  const mission = await fleet.until(id, 'done')

  expect(mission.result).toBe('landed')
  expect(await repo.readOn('main', 'made.txt')).toBe('hello')
  expect(await repo.read('made.txt')).toBe('hello\n')
  expect(await repo.git('status', '--porcelain', '--ignored')).toBe('')
  expect(mission.report?.files_changed).toEqual([{ path: 'made.txt', change: 'added' }])
  expect(mission.report?.summary).toBe('I made a file')
})
