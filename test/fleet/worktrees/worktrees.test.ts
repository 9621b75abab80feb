import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGit } from '../../../src/git/testkit.ts'
import type { ListedWorktree } from '../../../src/operations/worktrees.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

test('worktrees are listed with whose they are and what they take, and removed once their mission is over', async () => {
  const { fleet, project, gate } = await aScene({
    project: { landing: 'review', checks: [{ name: 'true', command: 'true', timeout_seconds: 60 }] },
  })
  const done = await fleet.mission(project, 'head -c 300000 /dev/urandom >large; git add -A; git stash -q; echo x >x')
  await fleet.until(done.id, 'review')
  const wait = gate('at work')
  const busy = await fleet.mission(project, wait.wait)
  await eventually('it is at work', () => wait.reached())

  const { worktrees, bytes } = await fleet.call<{ worktrees: ListedWorktree[]; bytes: number }>('list_worktrees', {})
  const [first, second] = [done, busy].map(({ id }) => worktrees.find(({ mission_id }) => mission_id === id))
  expect(first).toMatchObject({ state: 'review', isolation: 'private', project_id: project.id, title: done.title })
  // Its stash is only in its own repository.
  expect(first!.repository_bytes).toBeGreaterThan(300_000)
  expect(second).toMatchObject({ state: 'at work' })
  expect(bytes).toBe(worktrees.reduce((sum, each) => sum + each.bytes + each.repository_bytes, 0))

  const list = await fleet.fleetCommand(['worktree', 'list'])
  expect(list.stdout).toMatch(/MISSION +STATE +FILES +REPOSITORY +AGE/)
  expect(list.stdout).toContain('at work')
  const refused = await fleet.fleetCommand(['worktree', 'remove', done.id])
  expect([refused.code, refused.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining('its work waits for review'),
  ])
  expect(refused.code).not.toBe(0)
  await fleet.call('cancel_mission', { mission_id: done.id })
  const removed = await fleet.fleetCommand(['worktree', 'remove', done.id])
  expect([removed.code, removed.stdout]).toEqual([0, expect.stringContaining(`Removed ${first!.path}`)])
  expect(existsSync(first!.path)).toBe(false)
  expect(existsSync(join(first!.path, '../../../repositories', project.id, first!.path.split('/').at(-1)!))).toBe(false)
  wait.open()
  await fleet.until(busy.id, 'done', 'review', 'failed')
})

test('a worktree that holds something which no commit does stays, is not counted as freed, and it is said why', async () => {
  const { fleet, project } = await aScene({ project: { landing: 'review' } })
  const { id } = await fleet.mission(project, 'echo made >made.txt')
  const { sessions } = await fleet.until(id, 'review')
  await fleet.call('cancel_mission', { mission_id: id })
  const { worktree } = sessions[0]!
  writeFileSync(join(worktree!, 'precious.txt'), 'mine')
  const cleaned = await fleet.call<{ freed_bytes: number; worktrees: { kept_because?: string }[] }>('clean', {})
  expect(cleaned).toMatchObject({
    freed_bytes: 0,
    worktrees: [{ kept_because: expect.stringContaining('precious.txt') }],
  })
  expect(readFileSync(join(worktree!, 'precious.txt'), 'utf8')).toBe('mine')
})

test('a project whose worktrees hold what it does not is not forgotten, unless that is said', async () => {
  const { fleet, repo, project } = await aScene({ project: { landing: 'never' } })
  const kept = async (script: string) => {
    const { id } = await fleet.mission(project, script)
    return (await fleet.until(id, 'done', 'review')).sessions[0]!.worktree!
  }
  const [edited, committed] = [await kept('echo one >one.txt'), await kept('echo two >two.txt')]
  writeFileSync(join(edited, 'precious.txt'), 'mine')
  writeFileSync(join(committed, 'three.txt'), 'three\n')
  await runGit(committed, ['add', 'three.txt'])
  await runGit(committed, ['commit', '--quiet', '-m', 'By the person'])
  const commit = await runGit(committed, ['rev-parse', 'HEAD'])

  const refused = await fleet.fleetCommand(['project', 'remove', project.id])
  expect([refused.code, refused.stderr]).toEqual([expect.any(Number), expect.stringContaining('precious.txt')])
  expect(refused.stderr).toContain(`fleet project remove ${project.id} --discard`)
  expect(readFileSync(join(edited, 'precious.txt'), 'utf8')).toBe('mine')
  const left = (path: string, name: string) => ({ path, left_behind: expect.stringContaining(name) })
  await expect(fleet.call('delete_project', { project_id: project.id })).rejects.toMatchObject({
    facts: { worktrees: expect.arrayContaining([left(edited, 'precious.txt'), left(committed, 'three.txt')]) },
  })
  expect(await fleet.call('get_project', { project_id: project.id })).toMatchObject({ id: project.id })

  const removed = await fleet.fleetCommand(['project', 'remove', project.id, '--discard'])
  expect([removed.code, removed.stdout]).toEqual([0, expect.stringContaining('Removed project')])
  expect([edited, committed].map(existsSync)).toEqual([false, false])
  // The project holds its commits before the worktree is removed.
  expect(await repo.git('for-each-ref', '--contains', commit)).toContain('refs/fleet/sessions/')
})

test('a session that left work behind keeps its project, until that is discarded', async () => {
  const { fleet, project } = await aScene({ project: { landing: 'never' } })
  const bad = 'git hash-object -t commit -w --literally --stdin'
  const { id } = await fleet.mission(
    project,
    `echo w >w; git update-ref refs/heads/bad $(printf 'tree %s\\nauthor a <> 0 +0000\\ncommitter bad 0 +0000\\n\\nx\\n' $(git rev-parse HEAD^{tree}) | ${bad})`,
  )
  const { worktree } = (await fleet.until(id, 'done', 'review', 'failed')).sessions[0]!
  await expect(fleet.call('delete_project', { project_id: project.id })).rejects.toThrow(/refuses/)
  expect(existsSync(worktree!)).toBe(true)
  await fleet.call('delete_project', { project_id: project.id, discard: true })
  expect(existsSync(worktree!)).toBe(false)
})

test('a linked worktree with a file of a person in it stays too, whoever would remove it', async () => {
  const { fleet, repo, project, gate } = await aScene({ project: { landing: 'never', isolation: 'linked' } })
  const { id } = await fleet.mission(project, 'echo made >made.txt')
  const { worktree } = (await fleet.until(id, 'done')).sessions[0]!
  const precious = join(worktree!, 'precious.txt')
  writeFileSync(precious, 'mine')
  const cleaned = await fleet.call<{ worktrees: { kept_because?: string }[] }>('clean', { older_than_hours: 0 })
  expect(cleaned.worktrees).toMatchObject([{ kept_because: expect.stringContaining('precious.txt') }])
  await expect(fleet.call('delete_mission', { mission_id: id })).rejects.toThrow(/precious\.txt/)
  await expect(fleet.call('delete_project', { project_id: project.id })).rejects.toThrow(/precious\.txt/)
  expect(readFileSync(precious, 'utf8')).toBe('mine')
  await fleet.call('delete_mission', { mission_id: id, discard: true })
  expect(existsSync(worktree!)).toBe(false)

  const held = gate('check')
  await fleet.call('update_project', {
    project_id: project.id,
    landing: 'auto',
    checks: [{ name: 'held', command: held.wait, timeout_seconds: 60 }],
  })
  const [late, plain] = [await fleet.mission(project, 'echo late >late.txt'), await fleet.mission(project, 'echo x >x')]
  await eventually('its check runs', () => held.reached())
  const [kept, gone] = await Promise.all(
    [late, plain].map(async each => (await fleet.show(each.id)).sessions[0]!.worktree!),
  )
  writeFileSync(join(kept!, 'precious.txt'), 'mine')
  held.open()
  for (const each of [late, plain]) expect((await fleet.until(each.id, 'done')).result).toBe('landed')
  await eventually('the other one is tidied', () => !existsSync(gone!))
  await eventually('it is said', async () => (await fleet.show(late.id)).sessions[0]!.left_behind?.includes('precious'))
  expect(readFileSync(join(kept!, 'precious.txt'), 'utf8')).toBe('mine')
  expect(await repo.filesOn('main')).toEqual(expect.arrayContaining(['late.txt', 'x']))
})

test('a worktree is one row however many sessions worked in it, and one at work is said to be', async () => {
  const scene = await aScene({ project: { landing: 'review' } })
  const { fleet, project } = scene
  const { id } = await fleet.mission(project, 'echo $FLEET_REASON >>made.txt')
  await fleet.until(id, 'review')
  await fleet.call('send_back_mission', { mission_id: id, message: 'More.' })
  await eventually('a second session has ended', async () => {
    const { sessions, status } = await fleet.show(id)
    return sessions.length === 2 && status === 'review'
  })
  const cleaned = await fleet.call<{ worktrees: { kept_because?: string }[] }>('clean', { dry_run: true })
  expect(cleaned.worktrees).toMatchObject([{ kept_because: 'its work waits for review' }])

  const held = scene.gate('held')
  const busy = await fleet.mission(project, held.wait)
  await fleet.until(busy.id, 'running')
  const refused = await fleet.fleetCommand(['worktree', 'remove', busy.id])
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('is at work in its worktree')])
  held.open()
})
