import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene, type Scene } from '../../kit/scene.ts'

const diff = ({ fleet }: Scene, mission_id: string) =>
  fleet.call<{ candidate: string; files: { path: string }[] }>('diff_mission', { mission_id })

/** A mission in review whose branch a person has checked out in their own checkout. */
async function looked() {
  const scene = await aScene({ project: { landing: 'review' } })
  const { id } = await scene.fleet.mission(scene.project, 'echo one > one.txt')
  const { branch, candidate, sessions } = await scene.fleet.until(id, 'review')
  await scene.repo.git('checkout', '--quiet', branch!)
  return { scene, id, branch: branch!, candidate: candidate!.commit, worktree: sessions[0]!.worktree! }
}

const removed = ({ fleet }: Scene) =>
  eventually('its worktree is gone', async () => (await fleet.events()).find(({ kind }) => kind === 'worktree_removed'))

test('the branch of a mission that a person has checked out outlives its landing', async () => {
  const { scene, id, branch, candidate } = await looked()
  const { fleet, repo } = scene
  await fleet.call('land_mission', { mission_id: id, expected: candidate })
  expect((await fleet.until(id, 'done', 'needs_input')).result).toBe('landed')
  expect(await removed(scene)).toMatchObject({ data: { branch_kept: branch } })
  expect(await repo.tip(branch)).toBe(candidate)
  expect(await repo.git('status', '--porcelain')).toBe('')
  expect(await repo.git('symbolic-ref', '--short', 'HEAD')).toBe(branch)
})

test('a commit of a person on the branch of a mission makes another candidate, and a look moves nothing', async () => {
  const { scene, id, branch, candidate } = await looked()
  const { fleet, repo } = scene
  const fix = await repo.commit('my fix', { 'fix.txt': 'fix\n' })
  const shown = await diff(scene, id)
  expect(shown.candidate).toBe(fix)
  expect(shown.files.map(({ path }) => path)).toEqual(['fix.txt', 'one.txt'])
  expect(await repo.tip(branch)).toBe(fix)
  expect((await fleet.events()).find(({ kind }) => kind === 'candidate_changed')).toMatchObject({
    cause: 'Somebody committed on its branch since the session ended: fix.txt.',
    data: { candidate: fix, before: candidate },
  })
  await fleet.call('land_mission', { mission_id: id, expected: fix })
  expect((await fleet.until(id, 'done', 'needs_input')).result).toBe('landed')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'fix.txt', 'one.txt'])
  await removed(scene)
  expect(await repo.tip(branch)).toBe(fix)
})

test('a commit of a person that does not go on from the work stays on the branch, and the mission says so', async () => {
  const { scene, id, branch, candidate } = await looked()
  const { fleet, repo } = scene
  await repo.git('reset', '--quiet', '--hard', 'main')
  const own = await repo.commit('my own', { 'own.txt': 'own\n' })
  expect((await diff(scene, id)).candidate).toBe(candidate)
  const { status, status_reason } = await fleet.until(id, 'review')
  expect({ status, status_reason }).toMatchObject({
    status: 'review',
    status_reason: { code: 'branch_apart', text: expect.stringContaining(`${branch} is at ${own.slice(0, 12)}`) },
  })
  await fleet.call('land_mission', { mission_id: id, expected: candidate })
  expect((await fleet.until(id, 'done', 'needs_input')).result).toBe('landed')
  await removed(scene)
  await repo.git('checkout', '--quiet', 'main')
  expect(await repo.tip(branch)).toBe(own)
  expect(await repo.filesOn('main')).toEqual(['README.md', 'one.txt'])
})
