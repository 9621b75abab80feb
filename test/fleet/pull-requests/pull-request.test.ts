import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runGit } from '../../../src/git/testkit.ts'
import { eventually } from '../../kit/fleet.ts'
import { aGitHub, WITH_GH } from '../../kit/github.ts'
import { aScene } from '../../kit/scene.ts'

const NEVER_BY_ITSELF = { FLEET_PULL_REQUEST_EVERY: '86400' }

async function aProposingScene(env: Record<string, string> = NEVER_BY_ITSELF, settings: object = {}) {
  const scene = await aScene({ env: { ...WITH_GH, ...env } })
  const github = await aGitHub(scene.repo)
  await scene.fleet.call('update_project', { project_id: scene.project.id, landing: 'pull-request', ...settings })
  const land = (id: string) => scene.fleet.land(id)
  const until = (id: string, code: string) =>
    eventually(
      `${id} ${code}`,
      async () => {
        const mission = await scene.fleet.show(id)
        return mission.status_reason?.code === code ? mission : undefined
      },
      async () => JSON.stringify((await scene.fleet.show(id)).status_reason),
    )
  return { ...scene, github, land, until }
}

test('work is pushed and proposed with its report, waits visibly, and is done when the pull request was merged', async () => {
  const checks = [{ name: 'whole', command: 'test -e bread.txt' }]
  const { fleet, repo, project, github } = await aProposingScene({ FLEET_PULL_REQUEST_EVERY: '5' }, { checks })
  const report = { summary: 'Baked $(it).', what_done: ['Dough'], what_tested: ['Tasted'] }
  const script = `echo bread > bread.txt; printf '%s' '${JSON.stringify(report)}' > "$FLEET_RESULT_FILE"`
  const before = await repo.tip()
  const mission = await fleet.mission(project, script, { title: '-bake "it"' })
  const next = await fleet.mission(project, 'cat bread.txt > toast.txt', { depends_on: [mission.id], landing: 'never' })

  const waiting = await fleet.until(mission.id, 'review')
  const [pull] = github.pulls()
  expect(waiting).toMatchObject({
    result: null,
    status_reason: { code: 'pull_request', text: `Its pull request waits to be merged: ${pull!.url}` },
    pull_request: { state: 'open', url: pull!.url, number: 1, branch: waiting.branch },
    waits_for: [{ kind: 'person', text: expect.stringContaining(pull!.url) }],
  })
  expect(pull).toMatchObject({ head: waiting.branch, base: 'main', title: '-bake "it"' })
  expect(pull!.body).toBe(
    [
      'Baked $(it).',
      '### Done',
      '- Dough',
      '### Tested',
      '- Tasted',
      'Checks that passed on this commit: whole.',
      `Fleet-Mission: ${mission.id}\n`,
    ].join('\n\n'),
  )
  expect(await github.git('show', `${pull!.head}:bread.txt`)).toBe('bread')
  expect(await github.git('log', '--format=%P', '-1', pull!.head)).toBe(before)
  expect(await repo.tip()).toBe(before)
  expect((await fleet.show(next.id)).waits_for).toMatchObject([{ kind: 'review', on: [mission.id] }])
  const shown = await fleet.fleetCommand(['mission', 'show', mission.id])
  expect(shown.stdout).toContain(`${pull!.url} (open)`)

  const merged = await github.squash(1)
  const done = await fleet.until(mission.id, 'done')
  expect(done).toMatchObject({
    result: 'landed',
    landed: { commit: merged, onto: before, branch: 'main' },
    pull_request: { state: 'merged', merge_commit: merged },
  })
  expect(await repo.tip()).toBe(merged)
  expect(await repo.read('bread.txt')).toBe('bread\n')
  expect(await repo.git('status', '--porcelain')).toBe('')
  expect((await fleet.until(next.id, 'done')).result).toBe('kept')
  await expect(fleet.call('undo_mission', { mission_id: mission.id })).rejects.toThrow(/landed by a pull request/)
  expect(github.asked('create')).toHaveLength(1)
})

test("a server killed between push and pull request, and after it was made, makes no second one and takes no one else's for its own", async () => {
  const { fleet, project, github, until } = await aProposingScene()
  github.fail('offline')
  const mission = await fleet.mission(project, 'echo a > a.txt')
  await eventually('it is pushed', async () => (await github.git('branch', '--list', 'fleet/*')) !== '')
  await fleet.kill()
  github.fail()
  const pushed = (await fleet.fleet.store.get('missions', mission.id))!.value.pull_request!
  github.proposeFromFork(pushed.branch, pushed.commit)
  await fleet.start()
  const { pull_request } = await until(mission.id, 'pull_request')
  expect(pull_request?.number).toBe(2)
  expect(github.pulls()).toHaveLength(2)

  // As if it was killed between gh's answer and its own commit.
  await fleet.kill()
  const { value, version } = (await fleet.fleet.store.get('missions', mission.id))!
  const opening = { ...pull_request!, state: 'opening' as const, url: null, number: null }
  const landing = { ...value, status: 'landing' as const, status_reason: null, pull_request: opening }
  await fleet.fleet.store.commit({
    changes: [{ put: 'missions', value: landing, expects: version }],
    events: [],
  })
  await fleet.start()
  expect((await until(mission.id, 'pull_request')).pull_request?.number).toBe(2)
  expect(github.pulls()).toHaveLength(2)
  expect(github.asked('create')).toHaveLength(1)
})

test('closed unmerged it goes back to a person, who may have it changed or proposed again; open ones are changed in place', async () => {
  const { fleet, project, github, land, until } = await aProposingScene()
  const mission = await fleet.mission(project, 'echo "$FLEET_REASON" >> a.txt')
  const { branch } = await until(mission.id, 'pull_request')
  github.change(1, { reviewDecision: 'CHANGES_REQUESTED' })
  await land(mission.id)
  await eventually('the wish', async () =>
    (await fleet.show(mission.id)).status_reason?.text.startsWith('Changes were requested'),
  )

  await fleet.call('resume_mission', { mission_id: mission.id, message: 'More of it.' })
  await eventually('the same one is changed', async () => {
    const { status, sessions } = await fleet.show(mission.id)
    return status === 'review' && sessions.length === 2
  })
  expect(await github.git('show', `${branch}:a.txt`)).toBe('first\nresume')
  expect(github.pulls()).toHaveLength(1)

  github.change(1, { state: 'CLOSED' })
  await land(mission.id)
  const closed = await until(mission.id, 'pull_request_closed')
  expect(closed).toMatchObject({ status: 'review', pull_request: { state: 'closed' } })
  expect(closed.status_reason?.text).toContain(github.pulls()[0]!.url)
  await land(mission.id)
  expect((await until(mission.id, 'pull_request')).pull_request).toMatchObject({ number: 2, state: 'open' })
})

test('a branch that others changed is not overwritten, and main follows as soon as it can', async () => {
  const { fleet, repo, project, github, land, until } = await aProposingScene()
  const mission = await fleet.mission(project, 'echo agent >> a.txt')
  const { branch } = await until(mission.id, 'pull_request')
  const clone = join(repo.root, 'clone')
  await runGit(repo.root, ['clone', '--quiet', '--branch', branch!, github.path, clone])
  const identity = ['-c', 'user.name=Bob', '-c', 'user.email=bob@example.com']
  await runGit(clone, [...identity, 'commit', '--quiet', '--allow-empty', '-m', 'theirs'])
  await runGit(clone, ['push', '--quiet', 'origin', `HEAD:${branch}`])
  const theirs = await github.git('rev-parse', branch!)
  await fleet.call('resume_mission', { mission_id: mission.id })
  await fleet.until(mission.id, 'running')
  const refused = await until(mission.id, 'landing_failed')
  expect(refused.status_reason?.text).toContain(`was changed by someone else, to ${theirs}`)
  expect(await github.git('rev-parse', branch!)).toBe(theirs)

  const other = await fleet.mission(project, 'echo b > b.txt')
  const { pull_request } = await until(other.id, 'pull_request')
  writeFileSync(join(repo.path, 'b.txt'), 'mine')
  const merged = await github.squash(pull_request!.number!)
  await land(other.id)
  await eventually('it says what is in the way', async () =>
    (await fleet.show(other.id)).status_reason?.text.includes('b.txt'),
  )
  expect(await repo.read('b.txt')).toBe('mine')
  await repo.git('clean', '--quiet', '--force')
  await land(other.id)
  expect((await fleet.until(other.id, 'done')).landed?.commit).toBe(merged)
  expect(await repo.read('b.txt')).toBe('b\n')
})

test('commits that were never pushed are not pushed along', async () => {
  const { fleet, repo, project, github, until } = await aProposingScene()
  await repo.commit('private')
  const mission = await fleet.mission(project, 'echo a > a.txt')
  expect((await until(mission.id, 'base_unpushed')).status).toBe('review')
  expect(await github.git('branch', '--list', 'fleet/*')).toBe('')
})

test('without a remote, gh or a sign-in it is refused with a sentence, and asking does not go on for ever', async () => {
  const { fleet, project, repo } = await aScene({ start: false, env: { PATH: '/nowhere' } })
  const policy = { project_id: project.id, landing: 'pull-request' }
  await expect(fleet.call('update_project', policy)).rejects.toThrow(/has no remote/)
  const mission = { project_id: project.id, title: 'x', detailed_prompt: 'x', landing: 'pull-request' }
  await expect(fleet.call('create_mission', mission)).rejects.toThrow(/has no remote/)
  await aGitHub(repo)
  await expect(fleet.call('update_project', policy)).rejects.toThrow(/gh, the program of GitHub, was not found/)

  const scene = await aProposingScene({ FLEET_PULL_REQUEST_EVERY: '5' })
  scene.github.fail('signed out')
  const { id } = await scene.fleet.mission(scene.project, 'echo a > a.txt')
  expect((await scene.until(id, 'landing_failed')).status_reason?.text).toContain('is not signed in. gh auth login')
  scene.github.fail()
  await scene.land(id)
  await scene.until(id, 'pull_request')
  scene.github.fail('offline')
  await eventually('it is asked later', async () => (await scene.fleet.show(id)).pull_request?.unanswered === 1)
  const { look_at } = (await scene.fleet.show(id)).pull_request!
  expect(Date.parse(look_at!) - Date.now()).toBeGreaterThan(5000)

  // A failed request of a person does not stop the regular ones.
  await scene.land(id)
  await eventually('it says so', async () =>
    (await scene.fleet.show(id)).status_reason?.text.endsWith('error connecting to api.github.com'),
  )
  scene.github.fail()
  await scene.github.squash(1)
  expect((await scene.fleet.until(id, 'done')).pull_request?.state).toBe('merged')
}, 90_000)
