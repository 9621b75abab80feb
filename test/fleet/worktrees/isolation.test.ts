import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { aSmallDisk, canMount } from '../../kit/small-disk.ts'

test('a worktree that cannot be made fails the session with the reason, and nothing runs anywhere else', async () => {
  const { fleet, repo, project } = await aScene()
  const [blocked, ran] = [join(fleet.fleet.home.worktrees, project.id), join(fleet.root, 'ran')]
  writeFileSync(blocked, 'a file where a folder should be')

  const { id } = await fleet.mission(project, `pwd > '${ran}'; echo x > x.txt`)
  const mission = await fleet.until(id, 'failed', 'done', 'review')
  expect(mission.status).toBe('failed')
  expect(mission.sessions).toMatchObject([{ status: 'ended', outcome: 'failed', pid: null }])
  expect(mission.sessions[0]!.outcome_reason).toMatch(/ENOTDIR|not a directory|EEXIST/)
  expect(mission.status_reason?.text).toContain(mission.sessions[0]!.outcome_reason!)
  expect(existsSync(ran)).toBe(false)
  expect(await repo.git('status', '--porcelain')).toBe('')
  expect(await repo.git('log', '--oneline')).toMatch(/^\w+ first$/)

  rmSync(blocked)
  await fleet.call('retry_mission', { mission_id: id })
  expect((await fleet.until(id, 'done', 'failed')).result).toBe('landed')
  expect(readFileSync(ran, 'utf8')).toContain(fleet.fleet.home.worktrees)
})

test('a base branch that is gone is the reason nothing starts', async () => {
  const { fleet, repo, project } = await aScene()
  const ran = join(fleet.root, 'ran')
  await repo.git('branch', '-m', 'main', 'trunk')
  const { id } = await fleet.mission(project, `touch '${ran}'; echo x > x.txt`)
  const mission = await fleet.until(id, 'failed', 'done', 'review')
  expect(mission.status_reason).toMatchObject({ code: 'dispatch_failed', text: expect.stringContaining('main') })
  expect(existsSync(ran)).toBe(false)

  await fleet.call('update_project', { project_id: project.id, base_branch: 'trunk' })
  await fleet.call('retry_mission', { mission_id: id })
  expect((await fleet.until(id, 'done', 'failed')).result).toBe('landed')
  expect(await repo.readOn('trunk', 'x.txt')).toBe('x')
})

test('an agent that cuts its worktree off from its repository loses nothing: its files land', async () => {
  const { fleet, repo, project } = await aScene()
  const { id } = await fleet.mission(project, 'echo precious > precious.txt; rm .git; git init -q .')
  const mission = await fleet.until(id, 'failed', 'done', 'review')
  expect(mission.result).toBe('landed')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'precious.txt'])
})

test('in a linked worktree its files stay, and nothing is taken from elsewhere', async () => {
  const { fleet, repo, project } = await aScene({ project: { isolation: 'linked' } })
  const { id } = await fleet.mission(project, 'echo precious > precious.txt; rm .git')
  const mission = await fleet.until(id, 'failed', 'done', 'review')
  expect(mission.status).toBe('failed')
  expect(mission.status_reason?.text).toContain('kept in')
  expect(readFileSync(join(mission.sessions[0]!.worktree!, 'precious.txt'), 'utf8')).toBe('precious\n')
  expect(await repo.filesOn('main')).toEqual(['README.md'])

  await fleet.call('clean')
  expect(existsSync(join(mission.sessions[0]!.worktree!, 'precious.txt'))).toBe(true)
})

test('a worktree that a person threw away is made again from its branch when the mission is resumed', async () => {
  const { fleet, repo, project } = await aScene()
  const { id } = await fleet.mission(
    project,
    'if [ "$FLEET_REASON" = resume ]; then echo rest > rest.txt; exit 0; fi; echo half > half.txt; exit 1',
  )
  const failed = await fleet.until(id, 'failed')
  rmSync(failed.sessions[0]!.worktree!, { recursive: true })
  await fleet.call('resume_mission', { mission_id: id })
  expect((await fleet.until(id, 'done', 'failed', 'review')).result).toBe('landed')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'half.txt', 'rest.txt'])
})

test('hooks that reject every commit and merge, and a person without a name, keep nothing from landing', async () => {
  const { fleet, repo, project } = await aScene({ repository: { identity: false } })
  const hooks = join(repo.path, '.git/hooks')
  mkdirSync(hooks, { recursive: true })
  for (const name of [
    'pre-commit',
    'commit-msg',
    'pre-merge-commit',
    'post-merge',
    'post-checkout',
    'reference-transaction',
  ]) {
    writeFileSync(join(hooks, name), `#!/bin/sh\necho ${name} >> '${fleet.root}/hooked'\nexit 1\n`)
    chmodSync(join(hooks, name), 0o755)
  }
  const { id } = await fleet.mission(project, 'echo x > x.txt')
  const mission = await fleet.until(id, 'done', 'failed', 'review', 'needs_input')
  expect(mission).toMatchObject({ result: 'landed', status_reason: null })
  expect(await repo.read('x.txt')).toBe('x\n')
  expect(await repo.git('log', '-1', '--format=%an <%ae>', 'main')).toMatch(/^\S.* <\S+@\S+>$/)
  expect(existsSync(join(fleet.root, 'hooked'))).toBe(false)
})

test.skipIf(!canMount)('a disk that is nearly full starts nothing, and the mission says so', async () => {
  const disk = aSmallDisk(24)
  const { fleet, project } = await disk.holding(() =>
    aScene({ env: { FLEET_MIN_FREE_DISK: String(64 * 1024 * 1024) } }),
  )
  const { id } = await fleet.mission(project, 'echo x > x.txt')
  const shown = await eventually('it says what it waits for', async () => {
    const mission = await fleet.show(id)
    return mission.waits_for.length ? mission : undefined
  })
  expect(shown).toMatchObject({
    status: 'queued',
    waits_for: [{ kind: 'slot', text: expect.stringContaining('disk') }],
  })
})

test.skipIf(!canMount)(
  'a repository on a full disk: the work waits in its worktree and the mission says so',
  async () => {
    const disk = aSmallDisk(24)
    const { fleet, project, repo, repository, gate } = await aScene()
    const small = await disk.holding(() => repository())
    const cramped = await fleet.project(small.path)
    const held = gate('work')
    const { id } = await fleet.mission(cramped, `echo precious >> precious.txt; ${held.wait}`)
    await eventually('at work', () => held.reached())
    disk.fill()
    held.open()
    const mission = await fleet.until(id, 'failed', 'review', 'needs_input', 'done')
    expect(mission.status).toBe('failed')
    expect(mission.status_reason?.text).toMatch(/could not be committed and is kept in .*No space left/s)
    const { worktree } = mission.sessions[0]!
    expect(readFileSync(join(worktree!, 'precious.txt'), 'utf8')).toBe('precious\n')

    // Another repository is not affected. This one continues when there is room again.
    expect((await fleet.until((await fleet.mission(project, 'echo x > x.txt')).id, 'done')).result).toBe('landed')
    expect(await repo.read('x.txt')).toBe('x\n')
    disk.free()
    await fleet.call('resume_mission', { mission_id: id })
    expect((await fleet.until(id, 'done', 'failed', 'review')).result).toBe('landed')
    expect(await small.read('precious.txt')).toBe('precious\nprecious\n')
  },
)

test.skipIf(!canMount)('a home on a full disk: nothing is lost, and the mission lands once there is room', async () => {
  const disk = aSmallDisk(32)
  const { fleet, project, repo, gate } = await disk.holding(() =>
    aScene({ env: { FLEET_MIN_FREE_DISK: '0' }, start: false }),
  )
  const { child } = await fleet.start()
  let log = ''
  child.stderr?.on('data', chunk => {
    log += chunk
  })
  const held = gate('work')
  const { id } = await fleet.mission(project, `echo precious > precious.txt; ${held.wait}`)
  await eventually('at work', () => held.reached())
  disk.fill()
  held.open()
  await eventually(
    'the server says that the disk is full',
    () => /disk .* is full|no space/i.test(log),
    () => log,
  )
  const { worktree } = (await fleet.show(id)).sessions[0]!
  expect(readFileSync(join(worktree!, 'precious.txt'), 'utf8')).toBe('precious\n')

  disk.free()
  const landed = await fleet.until(id, 'done', 'failed', 'review').catch(error => {
    throw new Error(`${error.message}\n${log}`)
  })
  expect(landed.result).toBe('landed')
  expect(await repo.readOn('main', 'precious.txt')).toBe('precious')
})
