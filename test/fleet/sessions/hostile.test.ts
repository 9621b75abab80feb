import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

test.each([
  ['its result', 'mkfifo "$FLEET_RESULT_FILE"'],
  ['an endless result', 'ln -s /dev/zero "$FLEET_RESULT_FILE"'],
  [
    'the file of its exit',
    'cd "$(dirname "$FLEET_RESULT_FILE")/.."; mkfifo times2; rm -f times; mkfifo times; cd "$OLDPWD"',
  ],
  [
    'a hook',
    'mkfifo "$(git rev-parse --git-common-dir)/hooks/zz" 2>/dev/null || { mkdir -p "$(git rev-parse --git-common-dir)/hooks"; mkfifo "$(git rev-parse --git-common-dir)/hooks/zz"; }',
  ],
])('a fifo or device in place of %s holds nobody up', async (_what, plant) => {
  const { fleet, project } = await aScene()
  const { id } = await fleet.mission(project, `echo x > x.txt; ${plant}; echo done`)
  await fleet.until(id, 'done', 'review')
  expect((await fleet.http('/health')).status).toBe(200)
  await fleet.kill()
  await fleet.start()
  expect((await fleet.http('/health')).status).toBe(200)
})

test('an agent starts inside its worktree, whatever a link in the repository says', async () => {
  const { fleet, repo, project } = await aScene()
  symlinkSync(repo.path, join(repo.path, 'self'))
  await repo.commit('a link to the checkout itself')
  const { id } = await fleet.mission(project, 'echo harm > README.md', { subdirectory: 'self' })
  const mission = await fleet.until(id, 'failed', 'done')
  expect(mission.status_reason?.text).toMatch(/no folder self inside/)
  expect(await repo.read('README.md')).toBe('# A project\n')
})

test('a folder that an agent makes beside its launch is not taken for one', async () => {
  const { fleet, project, gate } = await aScene()
  const held = gate('planted')
  const { id } = await fleet.mission(
    project,
    `echo run >> "$FLEET_TASK_DIR/runs"; mkdir "$(dirname "$FLEET_RESULT_FILE")/../../agent-99"; ${held.wait}; cp "$FLEET_TASK_DIR/runs" runs.txt`,
  )
  await eventually('it is planted', () => held.reached())
  await fleet.kill()
  await fleet.start()
  held.open()
  const mission = await fleet.until(id, 'done', 'failed')
  expect(mission.sessions).toHaveLength(1)
  const { text } = await fleet.call<{ text: string }>('diff_mission', { mission_id: id })
  expect(text.match(/^\+run$/gm)).toHaveLength(1)
})

test('work that no commit holds is not tidied away by a retry, a clean or a delete', async () => {
  const { fleet, project } = await aScene()
  const script =
    'if [ "$FLEET_REASON" = retry ]; then echo ok > ok.txt; exit 0; fi; git checkout -q --orphan other; git rm -rfq .; echo precious > precious.txt; exit 1'
  const { id } = await fleet.mission(project, script, { max_retries: 1 })
  const mission = await fleet.until(id, 'done', 'failed', 'review')
  const precious = join(mission.sessions[0]!.worktree!, 'precious.txt')
  await eventually('the second is tidied', async () => (await fleet.show(id)).sessions[1]?.worktree_kept === false)
  expect(existsSync(precious)).toBe(true)

  const cleaned = await fleet.call<{ worktrees: { kept_because?: string }[] }>('clean', {})
  expect(cleaned.worktrees.map(worktree => worktree.kept_because)).toEqual([
    expect.stringMatching(/work that no commit does/),
  ])
  await expect(fleet.call('delete_mission', { mission_id: id })).rejects.toThrow(/holds work that no commit does/)
  expect(existsSync(precious)).toBe(true)
  await fleet.call('delete_mission', { mission_id: id, discard: true })
  expect(existsSync(precious)).toBe(false)
})

test('what a check leaves running is ended with it', async () => {
  const { fleet, project } = await aScene({ project: { checks: [{ name: 'leaves', command: 'sleep 777 & exit 0' }] } })
  const { id } = await fleet.mission(project, 'echo x > x.txt')
  await fleet.until(id, 'done')
  expect(fleet.processes(`check-${id}`)).toEqual([])
})

test('a check that prints without end is stopped', async () => {
  const { fleet, project } = await aScene({ project: { checks: [{ name: 'floods', command: 'yes' }] } })
  const { id } = await fleet.mission(project, 'echo x > x.txt')
  expect(await fleet.until(id, 'done', 'review')).toMatchObject({
    status: 'review',
    status_reason: { code: 'checks_failed' },
  })
})

test('a base branch that is not there is refused when it is written', async () => {
  const { fleet, repo, project } = await aScene()
  await expect(fleet.call('update_project', { project_id: project.id, base_branch: 'nope' })).rejects.toThrow(
    /no branch "nope"/,
  )
  const other = await aScene({ start: false })
  await expect(fleet.call('create_project', { name: 'x', path: other.repo.path, base_branch: 'nope' })).rejects.toThrow(
    /no branch "nope"/,
  )
  expect(await repo.tip()).toBeTruthy()
})

test('no copied file is led out of the worktree by a link', async () => {
  const { fleet, repo, project } = await aScene()
  const elsewhere = join(fleet.root, 'elsewhere')
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, '.env'), 'of another project')
  mkdirSync(join(repo.path, 'config'))
  writeFileSync(join(repo.path, 'config/.env'), 'SECRET=1')
  await fleet.call('update_project', { project_id: project.id, copy_files: ['config/.env'] })
  const { id } = await fleet.mission(project, `rm -r config; ln -s '${elsewhere}' config; exit 1`)
  await fleet.until(id, 'failed')

  await fleet.call('resume_mission', { mission_id: id })
  await eventually('it was tried again', async () => (await fleet.show(id)).sessions.length > 1)
  const { status_reason } = await fleet.until(id, 'failed', 'done')
  expect(status_reason?.text).toContain('leads out of')
  expect(readFileSync(join(elsewhere, '.env'), 'utf8')).toBe('of another project')
})

test.each([
  ['its last words', 'a title', String.raw`printf 'done\000well \377\376 \033[31mred\n'`],
  ['its report', 'a title', String.raw`printf '{"summary":"nul \\u0000 lone \\ud800"}' > "$FLEET_RESULT_FILE"`],
  ['its title', 'a\0title\ud800', 'true'],
  ['nothing but a NUL for a title', '\0', 'true'],
])(
  'a NUL or broken UTF-8 in %s does not make finished work fail, and its landing can be undone',
  async (_, title, say) => {
    const { fleet, repo, project } = await aScene()
    const { id } = await fleet.mission(project, `echo x > x.txt; ${say}`, { title })
    const mission = await fleet.until(id, 'done', 'failed', 'review')
    expect(mission.status_reason?.text).toBeUndefined()
    expect(mission).toMatchObject({ status: 'done', result: 'landed' })
    expect(await repo.readOn('main', 'x.txt')).toBe('x')
    await fleet.call('undo_mission', { mission_id: id })
    await eventually('it is undone', async () => !(await repo.filesOn('main')).includes('x.txt'))
  },
)
