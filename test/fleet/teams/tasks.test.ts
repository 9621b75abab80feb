import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'
import { aTeam } from '../../kit/team.ts'
import { doer, steps, type TaskView } from '../../kit/team-tasks.ts'

async function aCrew(s: Scene, handles: readonly string[]) {
  const crew = await aTeam(s, [])
  for (const handle of handles) await crew.add(handle, { charter: doer(join(s.fleet.root, 'journal')) })
  const make = (title: string, description: string, more: object = {}) =>
    s.fleet.call<TaskView>('create_team_task', { team_id: crew.team.id, title, description, ...more })
  const show = (id: string) => s.fleet.call<TaskView>('get_team_task', { task_id: id })
  return {
    ...crew,
    make,
    show,
    is: (id: string, state: string) =>
      eventually(
        `${id} is ${state}`,
        async () => (await show(id)).state === state,
        async () => JSON.stringify(await show(id)),
      ),
  }
}

test('tasks with a dependency: reviewed, landed under the name of the member, each from a clean base', async () => {
  const s = await aScene({ repository: { files: { 'tide.txt': 'low\n' } }, project: { landing: 'review' } })
  const crew = await aCrew(s, ['ada'])
  const first = await crew.make('Measure the tide', steps('echo high > tide.txt', 'echo draft > notes.txt'), {
    agent: 'ada',
  })
  const second = await crew.make('Paint the pier', steps('ls > seen.txt', 'cat tide.txt >> seen.txt'), {
    agent: 'ada',
    blocked_by: [first.id],
  })
  expect(second).toMatchObject({ state: 'blocked', blockers: [{ id: first.id }] })
  await expect(s.fleet.call('team_complete', { task_id: second.id })).rejects.toThrow(first.id)
  await crew.is(first.id, 'review')
  expect((await crew.show(first.id)).candidate).not.toBeNull()

  await s.fleet.kill()
  await s.fleet.start()
  const { candidate } = await crew.show(first.id)
  await s.fleet.call('land_mission', { mission_id: first.id, expected: candidate })
  await crew.is(first.id, 'done')
  const message = await s.repo.git('log', '-1', '--format=%B', 'main')
  expect(message).toContain('Measure the tide')
  expect(message).toContain('Fleet-Member: ada (crew)')

  await crew.is(second.id, 'review')
  const done = await crew.show(second.id)
  const seen = await s.repo.git('show', `${done.candidate}:seen.txt`)
  expect(seen.split('\n').sort()).toEqual(['high', 'notes.txt', 'seen.txt', 'tide.txt'])
  // One place for both, and for mail.
  const sessions = await Promise.all(
    [first.id, second.id].map(async id => (await s.fleet.show(id)).sessions as { worktree: string; branch: string }[]),
  )
  expect(new Set(sessions.flat().map(({ worktree }) => worktree)).size).toBe(1)
  expect(new Set(sessions.flat().map(({ branch }) => branch)).size).toBe(2)
})
