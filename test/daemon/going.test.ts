import { afterEach, expect, test } from 'vitest'
import { aRepository, type TestRepository } from '../../src/git/testkit.ts'
import { aFleet, eventually, type TestFleet } from '../kit/fleet.ts'

let fleet: TestFleet
let repo: TestRepository
afterEach(async () => {
  await fleet.remove()
  await repo.remove()
})

test('a server that took up an agent goes when it is asked to, and the agent stays', async () => {
  fleet = await aFleet()
  repo = await aRepository()
  await fleet.start()
  const { id } = await fleet.mission(await fleet.project(repo.path), 'exec sleep 600')
  await eventually('the agent at work', async () => (await fleet.show(id)).sessions[0]?.status === 'running')
  await fleet.kill()
  const { child } = await fleet.start()
  await eventually('the agent taken up', async () => (await fleet.events()).some(event => event.kind === 'adopted'))

  child.kill('SIGTERM')

  await eventually('the server gone', () => child.exitCode !== null)
  expect(child.exitCode).toBe(0)
  expect(fleet.processes((await fleet.show(id)).session_id!)).not.toEqual([])
})
