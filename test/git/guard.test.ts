import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGit } from '../../src/git/testkit.ts'
import { eventually } from '../kit/fleet.ts'
import { aScene, type Scene } from '../kit/scene.ts'

/** A real remote that accepts every push. */
async function withRemote({ repo }: Scene) {
  const path = join(repo.root, 'remote.git')
  await runGit(repo.root, ['clone', '--quiet', '--bare', 'repo', 'remote.git'])
  await repo.git('remote', 'add', 'origin', path)
  return { path, refs: () => runGit(path, ['for-each-ref']) }
}

test('an agent that moves the base branch is caught and its work waits for a person', async () => {
  const { fleet, repo, project } = await aScene({ project: { isolation: 'linked' } })
  const script = 'echo x > x.txt; git add x.txt; git commit -qm sneaky; git update-ref refs/heads/main HEAD'
  const { id } = await fleet.mission(project, script)
  const mission = await fleet.until(id, 'review', 'done', 'failed')
  expect(mission).toMatchObject({ status: 'review', status_reason: { code: 'base_moved' } })
  expect(mission.status_reason?.text).toContain(await repo.tip())
  expect(mission.waits_for).toMatchObject([{ kind: 'person' }])
})

test('an agent that moves the base branch and then fails is caught as well', async () => {
  const { fleet, project } = await aScene({ project: { isolation: 'linked' } })
  const script = 'echo x > x.txt; git add x.txt; git commit -qm sneaky; git update-ref refs/heads/main HEAD; exit 1'
  const { id } = await fleet.mission(project, script)
  const mission = await fleet.until(id, 'review', 'done', 'failed')
  expect(mission.status_reason?.text).toMatch(/main was moved/)
})

test.each([
  ['edits the shared config', 'git config core.fsmonitor "touch stolen"', 'config'],
  [
    'plants a hook',
    'hooks=$(git rev-parse --git-common-dir)/hooks; mkdir -p "$hooks"; printf "#!/bin/sh\\ntouch stolen\\n" > "$hooks/post-merge"; chmod +x "$hooks/post-merge"',
    'hooks',
  ],
])('an agent that %s is caught, and what it planted does not run', async (_, script, named) => {
  const { fleet, repo, project } = await aScene({ project: { isolation: 'linked' } })
  const { id } = await fleet.mission(project, `echo x > x.txt; ${script}`)
  const mission = await fleet.until(id, 'review', 'done', 'failed')
  expect(mission).toMatchObject({ status: 'review', status_reason: { code: 'shared_git_changed' } })
  expect(mission.status_reason?.text).toContain(named)
  expect(await repo.filesOn('main')).toEqual(['README.md'])

  // A person lands it anyway, and our own git runs nothing of it.
  await fleet.land(id)
  expect((await fleet.until(id, 'done', 'review')).result).toBe('landed')
  expect(existsSync(join(repo.path, 'stolen'))).toBe(false)
})

test('a pipe planted among the shared hooks is noticed and does not hold the session up', async () => {
  const { fleet, project } = await aScene({ project: { isolation: 'linked' } })
  const plant = 'hooks=$(git rev-parse --git-common-dir)/hooks; mkdir -p "$hooks"; mkfifo "$hooks/post-merge"'
  const { id } = await fleet.mission(project, `echo x > x.txt; ${plant}`)
  const mission = await fleet.until(id, 'review', 'done', 'failed')
  expect(mission).toMatchObject({ status: 'review', status_reason: { code: 'shared_git_changed' } })
})

test('work that points to a submodule commit only its worktree has waits for a person', async () => {
  const { fleet, repo, project, repository } = await aScene()
  const library = await repository()
  await repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.path, 'sm')
  const before = await repo.commit('with a submodule')
  const as = 'git -c user.name=a -c user.email=a@example.com'
  const { id } = await fleet.mission(
    project,
    `cd sm; echo z > new; git add new; ${as} commit -qm inner; cd ..; git add sm; git commit -qm bump`,
  )
  const mission = await fleet.until(id, 'review', 'done', 'failed')
  expect(mission).toMatchObject({ status: 'review', status_reason: { code: 'submodule_commit' } })
  expect(mission.status_reason?.text).toMatch(/\bsm\b.*[Pp]ush/)
  expect(await repo.tip()).toBe(before)
})

test.each([
  ['to a remote by name', 'git push origin HEAD:main'],
  ['to its address', 'git push "$(git config remote.origin.url)" HEAD:main HEAD:refs/heads/stolen'],
  ['with force', 'git push --force --all origin'],
])('an agent that pushes %s reaches nothing', async (_, push) => {
  const scene = await aScene()
  const { fleet, repo, project } = scene
  const remote = await withRemote(scene)
  const before = await remote.refs()
  const script = `echo x > x.txt; git add x.txt; git commit -qm work; ${push} 2> "$FLEET_ARTIFACT_DIR/push"; echo $? > "$FLEET_ARTIFACT_DIR/code"`
  const { id } = await fleet.mission(project, script)
  const mission = await fleet.until(id, 'done', 'review', 'failed')
  expect(await remote.refs()).toBe(before)
  const artifacts = join(fleet.fleet.home.task(id), 'artifacts')
  expect(readFileSync(join(artifacts, 'code'), 'utf8')).not.toBe('0\n')
  expect(readFileSync(join(artifacts, 'push'), 'utf8')).toContain('flotilla-does-not-push')
  expect(mission.result).toBe('landed')
  expect(await repo.read('x.txt')).toBe('x\n')
})

test('a project that allows it lets its agents push, and only then', async () => {
  const scene = await aScene({ project: { allow_push: true } })
  const { fleet, project } = scene
  const remote = await withRemote(scene)
  const { id } = await fleet.mission(
    project,
    'echo x > x.txt; git add x.txt; git commit -qm work; git push -q origin HEAD:refs/heads/wanted',
  )
  await fleet.until(id, 'done')
  expect(await remote.refs()).toContain('refs/heads/wanted')
})

test('a person who commits in their own checkout during a session raises no alarm', async () => {
  const { fleet, repo, project, gate } = await aScene()
  const held = gate('work')
  const { id } = await fleet.mission(project, `${held.wait}; echo x > x.txt`)
  await eventually('at work', () => held.reached())
  await repo.commit('by a person', { 'person.txt': 'mine\n' })
  await repo.commit('and again', { 'person.txt': 'mine too\n' })
  await repo.git('commit', '--quiet', '--amend', '-m', 'and amended')
  held.open()
  const mission = await fleet.until(id, 'done', 'review', 'failed')
  expect(mission).toMatchObject({ result: 'landed', status_reason: null })
  expect(await repo.read('person.txt')).toBe('mine too\n')
  expect(await repo.read('x.txt')).toBe('x\n')
})

test('an agent that moves the base branch in a repository without a checkout is caught too', async () => {
  const { fleet, project } = await aScene({ repository: { bare: true }, project: { isolation: 'linked' } })
  const as = 'git -c user.name=a -c user.email=a@example.com'
  const { id } = await fleet.mission(
    project,
    `echo x > x.txt; git add x.txt; ${as} commit -qm sneaky; git update-ref refs/heads/main HEAD`,
  )
  expect((await fleet.until(id, 'review', 'done', 'failed')).status_reason?.code).toBe('base_moved')
})

test.each([false, true])(
  'a base branch moved during a session is caught although another mission lands (bare: %s)',
  async bare => {
    const { fleet, repo, project, gate } = await aScene({ repository: { bare }, project: { isolation: 'linked' } })
    const [moved, working] = [gate('moved'), gate('working')]
    const as = 'git -c user.name=a -c user.email=a@example.com'
    const thief = await fleet.mission(
      project,
      `echo x > sneaky.txt; git add sneaky.txt; ${as} commit -qm sneaky; git update-ref refs/heads/main HEAD; ${moved.wait}`,
    )
    const honest = await fleet.mission(project, `${working.wait}; echo y > honest.txt`)
    await eventually('both at work', () => moved.reached() && working.reached())
    working.open()
    const other = await fleet.until(honest.id, 'review', 'done', 'failed')
    expect(other).toMatchObject({ status: 'review', status_reason: { code: 'base_moved' } })
    moved.open()
    expect((await fleet.until(thief.id, 'review', 'done', 'failed')).status_reason?.code).toBe('base_moved')

    // A person undoes the move, and then the honest mission lands.
    await repo.git('update-ref', 'refs/heads/main', 'refs/heads/main~1')
    await fleet.land(honest.id)
    expect((await fleet.until(honest.id, 'done', 'review')).result).toBe('landed')
    expect(await repo.filesOn('main')).toEqual(['README.md', 'honest.txt'])
  },
)

test('a base branch moved by an agent that is still at work is not landed on unseen', async () => {
  const { fleet, repo, project, gate } = await aScene({ project: { isolation: 'linked' } })
  const moved = gate('moved')
  const thief = await fleet.mission(
    project,
    `echo x > x.txt; git add x.txt; git commit -qm sneaky; git update-ref refs/heads/main HEAD; ${moved.wait}`,
  )
  await eventually('moved', () => moved.reached())
  const tip = await repo.tip()
  const later = await fleet.mission(project, 'echo y > later.txt')
  const shown = await fleet.until(later.id, 'review', 'done', 'failed')
  expect(shown).toMatchObject({ status: 'review', status_reason: { code: 'base_moved' } })
  expect(await repo.tip()).toBe(tip)
  moved.open()
  expect((await fleet.until(thief.id, 'review', 'done', 'failed')).status_reason?.code).toBe('base_moved')
})
