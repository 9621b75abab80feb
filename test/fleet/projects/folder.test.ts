import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { aFleet, type TestFleet } from '../../kit/fleet.ts'

let fleet: TestFleet
afterEach(() => fleet.remove())

test('in a folder that is no repository a mission works in the folder itself', async () => {
  fleet = await aFleet()
  await fleet.start()
  const folder = join(fleet.root, 'folder')
  mkdirSync(folder)
  const project = await fleet.project(folder, { worktree: 'none' })

  const { id } = await fleet.mission(project, 'echo hello >made.txt')
  const mission = await fleet.until(id, 'done', 'failed')

  expect(mission).toMatchObject({ status: 'done', result: 'kept' })
  expect(mission.sessions[0]).toMatchObject({ worktree: null, branch: null })
  expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe('hello\n')
})
