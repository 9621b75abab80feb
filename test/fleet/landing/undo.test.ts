import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

const NUMBERED = { files: { 'list.txt': Array.from({ length: 9 }, (_, i) => `${i + 1}\n`).join('') } }

async function landed({ fleet, project }: Scene, script: string) {
  const { id } = await fleet.mission(project, script)
  const mission = await fleet.until(id, 'done', 'failed', 'review')
  expect(mission.result).toBe('landed')
  return mission
}

async function undo({ fleet }: Scene, id: string) {
  await fleet.call('undo_mission', { mission_id: id })
  return eventually('the undo is over', async () => {
    const mission = await fleet.show(id)
    return mission.undoing ? undefined : mission
  })
}

test('an undone mission is gone from the base branch and the checkout, and can land again, more than once', async () => {
  const scene = await aScene({ repository: NUMBERED })
  const { fleet, repo } = scene
  const before = await repo.git('rev-parse', 'main^{tree}')
  const { id } = await landed(scene, 'echo x > x.txt; sed -i "s/^5$/five/" list.txt; rm README.md 2>/dev/null; true')
  const after = await repo.git('rev-parse', 'main^{tree}')

  for (const _ of [1, 2]) {
    expect(await undo(scene, id)).toMatchObject({
      status: 'review',
      result: null,
      landed: null,
      status_reason: { code: 'undone' },
    })
    expect(await repo.git('rev-parse', 'main^{tree}')).toBe(before)
    expect(await repo.git('status', '--porcelain')).toBe('')
    await fleet.land(id)
    expect((await fleet.until(id, 'done', 'review', 'needs_input')).result).toBe('landed')
    expect(await repo.git('rev-parse', 'main^{tree}')).toBe(after)
    expect(await repo.read('x.txt')).toBe('x\n')
  }
  const subjects = (await repo.git('log', '--format=%s', 'main')).split('\n')
  expect(subjects).toEqual(['a mission', 'Undo: a mission', 'a mission', 'Undo: a mission', 'a mission', 'first'])
})

test('undo under later landings takes back its own change only', async () => {
  const scene = await aScene({ repository: NUMBERED })
  const { repo } = scene
  const first = await landed(scene, 'sed -i "s/^1$/one/" list.txt; echo x > first.txt')
  await landed(scene, 'sed -i "s/^9$/nine/" list.txt; echo y > later.txt')
  await repo.commit('by a person', { 'person.txt': 'mine\n' })

  expect((await undo(scene, first.id)).status).toBe('review')
  expect(await repo.read('list.txt')).toBe('1\n2\n3\n4\n5\n6\n7\n8\nnine\n')
  expect(await repo.filesOn('main')).toEqual(['later.txt', 'list.txt', 'person.txt'])

  await scene.fleet.land(first.id)
  await scene.fleet.until(first.id, 'done')
  expect(await repo.read('list.txt')).toBe('one\n2\n3\n4\n5\n6\n7\n8\nnine\n')
})

test('undo in conflict with later work says so and changes nothing', async () => {
  const scene = await aScene({ repository: NUMBERED })
  const { repo } = scene
  const first = await landed(scene, 'sed -i "s/^5$/five/" list.txt')
  const second = await landed(scene, 'sed -i "s/^five$/FIVE/" list.txt')
  const tip = await repo.tip()

  const refused = await undo(scene, first.id)
  expect(refused).toMatchObject({ status: 'done', result: 'landed', status_reason: { code: 'undo_conflict' } })
  expect(refused.status_reason?.text).toContain('list.txt')
  expect(await repo.tip()).toBe(tip)

  // In the order that the message gives: the later one first.
  expect((await undo(scene, second.id)).status).toBe('review')
  expect((await undo(scene, first.id)).status).toBe('review')
  expect(await repo.read('list.txt')).toBe('1\n2\n3\n4\n5\n6\n7\n8\n9\n')
})

test('undo waits for no one: what the person has not committed stays, and the mission says what is in the way', async () => {
  const scene = await aScene({ repository: NUMBERED })
  const { repo } = scene
  const { id } = await landed(scene, 'sed -i "s/^5$/five/" list.txt')
  await repo.write('list.txt', 'typing')
  const refused = await undo(scene, id)
  expect(refused).toMatchObject({ status: 'done', result: 'landed', status_reason: { code: 'in_the_way' } })
  expect(refused.status_reason?.text).toContain('list.txt')
  expect(await repo.read('list.txt')).toBe('typing')

  await repo.git('checkout', '--', 'list.txt')
  expect((await undo(scene, id)).status).toBe('review')
  expect(await repo.readOn('main', 'list.txt')).toContain('5')
})

test('the checks decide about an undo as well', async () => {
  const scene = await aScene()
  const { fleet, repo, project } = scene
  const { id } = await landed(scene, 'echo x > needed.txt')
  await fleet.call('update_project', {
    project_id: project.id,
    checks: [{ name: 'needed', command: 'test -e needed.txt' }],
  })
  expect(await undo(scene, id)).toMatchObject({ result: 'landed', status_reason: { code: 'checks_failed' } })
  expect(await repo.readOn('main', 'needed.txt')).toBe('x')
})

test('there is nothing to undo in what did not land, and only once', async () => {
  const scene = await aScene()
  const { fleet, project } = scene
  const kept = await fleet.mission(project, 'echo x > x.txt', { landing: 'never' })
  await fleet.until(kept.id, 'done')
  await expect(fleet.call('undo_mission', { mission_id: kept.id })).rejects.toThrow(/did not land/)
  const { id } = await landed(scene, 'echo y > y.txt')
  await undo(scene, id)
  await expect(fleet.call('undo_mission', { mission_id: id })).rejects.toThrow(/did not land/)
})

test('what is undone while its worktree is still shown can land again all the same', async () => {
  const scene = await aScene({ project: { preview_command: 'exec sleep 600' } })
  const { fleet, repo } = scene
  const { id } = await fleet.mission(scene.project, 'echo x > x.txt', { landing: 'review' })
  await fleet.until(id, 'review')
  // A preview keeps the worktree.
  await fleet.call('start_preview', { mission_id: id })
  await fleet.land(id)
  await fleet.until(id, 'done')
  await undo(scene, id)
  await fleet.land(id)
  expect((await fleet.until(id, 'done', 'review', 'needs_input')).result).toBe('landed')
  expect(await repo.read('x.txt')).toBe('x\n')
  await fleet.call('stop_preview', { mission_id: id })
})
