import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGit } from '../../../src/git/testkit.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

test('a mission that makes a file lands it on the base branch and in the clean checkout', async () => {
  const { fleet, repo, project } = await aScene()
  await runGit(repo.root, ['clone', '--quiet', '--bare', 'repo', 'remote.git'])
  await repo.git('remote', 'add', 'origin', join(repo.root, 'remote.git'))
  const remote = () => runGit(join(repo.root, 'remote.git'), ['for-each-ref'])
  const [remoteBefore, tipBefore] = [await remote(), await repo.tip()]

  const { id } = await fleet.mission(project, 'echo hello > made.txt; echo I made a file')
  const mission = await fleet.until(id, 'done')

  expect(mission.result).toBe('landed')
  expect(await repo.readOn('main', 'made.txt')).toBe('hello')
  expect(await repo.read('made.txt')).toBe('hello\n')
  expect(await repo.git('status', '--porcelain', '--ignored')).toBe('')
  expect(mission.report).toMatchObject({
    summary: 'I made a file',
    files_changed: [{ path: 'made.txt', change: 'added' }],
  })

  const trailers = await repo.git('log', '-1', '--format=%P %(trailers:key=Fleet-Mission,valueonly)', 'main')
  expect(trailers.trim()).toBe(`${tipBefore} ${id}`)
  await eventually('no worktree and no branch left', async () => {
    const worktrees = (await repo.git('worktree', 'list')).split('\n').length
    const branches = await repo.git('for-each-ref', '--format=%(refname:short)', 'refs/heads')
    return worktrees === 1 && branches === 'main'
  })
  expect(readdirSync(join(fleet.fleet.home.worktrees, project.id))).toEqual([])
  expect(await remote()).toBe(remoteBefore)
})

test('the agent sees a committed state, not what the person has not committed', async () => {
  const { fleet, repo, project } = await aScene()
  await repo.write('README.md', 'half a thought')
  await repo.write('scratch.txt', 'mine')

  const { id } = await fleet.mission(project, 'cp README.md copy.md; ls -A > listing.txt')
  await fleet.until(id, 'done')

  expect(await repo.readOn('main', 'copy.md')).toBe('# A project')
  expect(await repo.readOn('main', 'listing.txt')).not.toContain('scratch.txt')
  expect(await repo.read('README.md')).toBe('half a thought')
  expect(await repo.git('status', '--porcelain')).toBe(' M README.md\n?? scratch.txt')
})

test('what landed is counted from what it landed on, not from its last session alone', async () => {
  const { fleet, project } = await aScene({ project: { landing: 'review' } })
  const { id } = await fleet.mission(project, 'echo 1 > a.txt; echo 2 > b.txt; echo ok')
  const { worktree } = (await fleet.until(id, 'review')).sessions[0]!
  writeFileSync(join(worktree!, 'by-hand.txt'), 'mine\n')
  const { candidate } = await fleet.call<{ candidate: { commit: string } }>('get_review', { mission_id: id })

  const args = ['mission', 'land', id, '--commit', candidate.commit, '--follow']
  expect((await fleet.fleetCommand(args)).stdout).toContain('(3 files changed)')
  expect((await fleet.show(id)).landed).toMatchObject({ files: 3 })
})
