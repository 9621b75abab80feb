import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { identityOf, isAlive } from '../../../src/runner/processes.ts'
import { eventually, scaled } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

const STUBBORN = "trap '' TERM; echo half > half.txt; while :; do sleep 0.1; done"

test('an agent that takes too long is stopped, tree and all; a person may raise the limit and resume', async () => {
  const { fleet, repo, project } = await aScene()
  const { id } = await fleet.mission(project, `[ "$FLEET_REASON" = resume ] && exit 0; ${STUBBORN}`, {
    timeout_seconds: 1,
  })
  const mission = await fleet.until(id, 'needs_input', 'failed', 'done')
  expect(mission).toMatchObject({
    status: 'needs_input',
    status_reason: { code: 'limit', text: 'It reached its time limit of 1 seconds.' },
    sessions: [{ outcome: 'limited' }],
  })
  expect(fleet.processes(mission.sessions[0]!.id)).toEqual([])
  expect(await repo.readOn(mission.branch!, 'half.txt')).toBe('half')
  expect((await fleet.events()).some(event => event.kind === 'limit_reached' && event.mission_id === id)).toBe(true)

  await fleet.call('resume_mission', { mission_id: id, timeout_seconds: 60 })
  expect((await fleet.until(id, 'done', 'failed', 'needs_input')).result).toBe('landed')
  expect(await repo.readOn('main', 'half.txt')).toBe('half')
})

test('time that passed before a crash of the server counts', async () => {
  const { fleet, project } = await aScene()
  const { id } = await fleet.mission(project, STUBBORN, { timeout_seconds: 2 })
  await eventually('running', async () => (await fleet.show(id)).sessions[0]?.status === 'running')
  await fleet.kill()
  await fleet.start()
  const mission = await fleet.until(id, 'needs_input', 'failed')
  const { started_at, ended_at } = mission.sessions[0]!
  expect(mission.status_reason?.code).toBe('limit')
  expect(Date.parse(ended_at!) - Date.parse(started_at!)).toBeGreaterThanOrEqual(2000)
})

test('an agent that prints without end is stopped', async () => {
  const { fleet, project } = await aScene({ env: { FLEET_TRANSCRIPT_LIMIT: '4096' } })
  const { id } = await fleet.mission(project, 'while :; do echo the same line again; done')
  const mission = await fleet.until(id, 'needs_input', 'failed', 'done')
  expect(mission.status_reason).toMatchObject({ code: 'limit', text: 'It printed more than 4096 bytes.' })
  expect(fleet.processes(mission.sessions[0]!.id)).toEqual([])
})

/** Five gigabytes in the full run. Only the limit stops it from writing all of that. */
const FLOOD_BYTES = scaled(100e6, 5e9)

test('an agent that prints far more than it may is stopped at its limit, and the server answers meanwhile', async () => {
  const limit = scaled(10e6, 512 * 1024 * 1024)
  const { fleet, project } = await aScene({ env: { FLEET_TRANSCRIPT_LIMIT: String(limit) } })
  const flood = `yes 'a line as an agent might print it, no longer than most' | head -c ${FLOOD_BYTES}`
  const look = async (): Promise<number> => {
    const asked = performance.now()
    expect((await fleet.http('/health')).ok).toBe(true)
    await pause(20)
    return performance.now() - asked - 20
  }
  // Other programs may use this machine, so only what the flood adds counts.
  const before: number[] = []
  while (before.length < 50) before.push(await look())
  const { id } = await fleet.mission(project, `renice -n 19 $$ >&2; : >/dev/stdout; ${flood}; sleep 60`)
  const took: number[] = []
  let mission = await fleet.show(id)
  while (!['needs_input', 'failed', 'done'].includes(mission.status)) {
    took.push(await look())
    if (took.length % 10 === 0) mission = await fleet.show(id)
  }
  expect(mission.status_reason).toMatchObject({ code: 'limit', text: `It printed more than ${limit} bytes.` })
  const transcript = statSync(join(fleet.fleet.home.session(mission.sessions[0]!.id), 'agent-1', 'stdout'))
  expect(transcript.size).toBeGreaterThan(limit)
  expect(transcript.size).toBeLessThan(limit + 1024)
  const p95 = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)]!
  console.info(`/health, p95: ${p95(before).toFixed(0)} ms before, ${p95(took).toFixed(0)} ms in the flood`)
  expect(p95(took) - p95(before)).toBeLessThan(100)
})

test('a failed session is tried again after a while, so often and no more, and each cause is recorded', async () => {
  const { fleet, project } = await aScene()
  const { id } = await fleet.mission(project, 'echo it is broken >&2; exit 7', { max_retries: 1 })
  const waiting = await eventually('it waits before it tries again', async () => {
    const mission = await fleet.show(id)
    return mission.waits_for[0]?.kind === 'not_before' ? mission : undefined
  })
  expect(waiting.status_reason?.text).toContain('it is broken')

  const mission = await fleet.until(id, 'failed', 'done')
  expect(mission.status_reason).toMatchObject({
    code: 'agent_failed',
    text: expect.stringContaining('It was tried 2 times.'),
  })
  expect(mission.sessions.map(({ reason, outcome, exit_code }) => ({ reason, outcome, exit_code }))).toEqual([
    { reason: 'first', outcome: 'failed', exit_code: 7 },
    { reason: 'retry', outcome: 'failed', exit_code: 7 },
  ])
  const [first, second] = mission.sessions
  expect(Date.parse(second!.created_at) - Date.parse(first!.ended_at!)).toBeGreaterThanOrEqual(1000)
  const causes = (await fleet.events()).filter(
    event => event.mission_id === id && ['requeued', 'failed'].includes(event.kind),
  )
  expect(causes.map(event => [event.kind, event.cause?.includes('it is broken')])).toEqual([
    ['requeued', true],
    ['failed', true],
  ])
})

test('a session that is lost is resumed, twice at most, and never beside what is left of it', async () => {
  const { fleet, repo, project } = await aScene()
  const pids = join(fleet.root, 'pids')
  // The agent kills the wrapper that would have recorded its end, and continues.
  const { id } = await fleet.mission(
    project,
    `echo $$ >> '${pids}'; echo $$ >> work.txt; kill -9 $PPID; while :; do sleep 0.1; done`,
  )
  const mission = await fleet.until(id, 'failed', 'done', 'review')
  expect(mission.status_reason).toMatchObject({ code: 'lost', text: expect.stringContaining('third time') })
  expect(mission.sessions.map(({ reason, outcome }) => ({ reason, outcome }))).toEqual([
    { reason: 'first', outcome: 'lost' },
    { reason: 'resume', outcome: 'lost' },
    { reason: 'resume', outcome: 'lost' },
  ])
  const agents = readFileSync(pids, 'utf8').trim().split('\n').map(Number)
  expect(agents).toHaveLength(3)
  expect(agents.flatMap(pid => identityOf(pid) ?? []).filter(isAlive)).toEqual([])
  expect((await repo.readOn(mission.branch!, 'work.txt')).split('\n')).toHaveLength(3)
})

test('a setup command that fails fails the session with its output, however long; the agent does not start', async () => {
  const { fleet, project } = await aScene()
  const setup_command = 'seq 1 2000; echo "no such compiler" >&2; exit 4'
  await fleet.call('update_project', { project_id: project.id, setup_command })
  const ran = join(fleet.root, 'ran')
  const { id } = await fleet.mission(project, `touch '${ran}'; echo x > x.txt`)
  const mission = await fleet.until(id, 'failed', 'done', 'review')
  expect(mission.status).toBe('failed')
  expect(mission.status_reason?.text).toMatch(/setup command failed \(exit code 4\).*no such compiler/s)
  expect(mission.sessions).toMatchObject([{ outcome: 'failed' }])
  expect(existsSync(ran)).toBe(false)
})

test('a setup command is held to the time limit of the mission', async () => {
  const { fleet, project } = await aScene({ project: { setup_command: 'echo preparing; sleep 60' } })
  const { id } = await fleet.mission(project, 'echo never', { timeout_seconds: 1 })
  const mission = await fleet.until(id, 'needs_input', 'failed', 'done')
  expect(mission).toMatchObject({
    status: 'needs_input',
    status_reason: {
      code: 'limit',
      text: expect.stringMatching(/limit of 1 seconds in its setup command.*preparing/s),
    },
    sessions: [{ outcome: 'limited' }],
  })
})

test('a setup command prepares the worktree, not the checkout', async () => {
  const { fleet, repo, project } = await aScene({ repository: { files: { '.gitignore': 'built\n' } } })
  await fleet.call('update_project', { project_id: project.id, setup_command: 'pwd > built' })
  const { id } = await fleet.mission(project, 'cp built copy.txt')
  await fleet.until(id, 'done')
  expect(await repo.readOn('main', 'copy.txt')).toContain(fleet.fleet.home.worktrees)
  expect(existsSync(join(repo.path, 'built'))).toBe(false)
})

test('ignored files that the project names are there for the agent, and stay out of the commit', async () => {
  const { fleet, repo, project } = await aScene({ repository: { files: { '.gitignore': '.env\nkeys/\n' } } })
  await repo.write('.env', 'SECRET=1\n')
  await repo.write('keys/a', 'key\n')
  await fleet.call('update_project', { project_id: project.id, copy_files: ['.env', 'keys', 'not-there'] })
  const { id } = await fleet.mission(project, 'wc -c .env keys/a > sizes.txt')
  const mission = await fleet.until(id, 'done', 'review', 'failed')
  expect(mission.result).toBe('landed')
  expect(await repo.readOn('main', 'sizes.txt')).toMatch(/9 .env/)
  expect(await repo.filesOn('main')).toEqual(['.gitignore', 'sizes.txt'])
})

test('copied files that git does not ignore are not committed, also when a person then lands the rest', async () => {
  const { fleet, repo, project } = await aScene()
  await repo.write('.env', 'SECRET=1\n')
  for (let i = 0; i < 400; i++) await repo.write(`secrets/a-file-with-quite-a-long-name-${i}`, 'x')
  await fleet.call('update_project', { project_id: project.id, copy_files: ['.env', 'secrets'] })
  const { id } = await fleet.mission(project, 'git add -A; echo x > x.txt')
  const mission = await fleet.until(id, 'review', 'done', 'failed')
  expect(mission).toMatchObject({ status: 'review', status_reason: { code: 'left_out' } })
  expect(mission.status_reason?.text).toContain('.env')
  expect(mission.report?.files_changed).toEqual([{ path: 'x.txt', change: 'added' }])

  await fleet.land(id)
  expect((await fleet.until(id, 'done', 'review', 'needs_input')).result).toBe('landed')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'x.txt'])
  expect(await repo.git('log', '--all', '--format=%h', '--', '.env', 'secrets')).toBe('')
})

test.each([
  ['that git ignores, by force', '.env\n'],
  ['that git does not ignore', ''],
])('an agent that itself commits a copied file %s is caught before it lands', async (_, ignored) => {
  const { fleet, repo, project } = await aScene({ repository: { files: { '.gitignore': ignored } } })
  await repo.write('.env', 'SECRET=1\n')
  await repo.git('checkout', '--quiet', '-b', 'elsewhere')
  await fleet.call('update_project', { project_id: project.id, copy_files: ['.env'] })
  const { id } = await fleet.mission(project, 'echo x > x.txt; git add -f .env x.txt; git commit -qm everything')
  const mission = await fleet.until(id, 'review', 'done', 'failed')
  expect(mission).toMatchObject({ status: 'review', status_reason: { code: 'secret_committed' } })
  expect(mission.status_reason?.text).toContain('.env')
  expect(await repo.filesOn('main')).toEqual(['.gitignore'])
})

test('a file over 20 MB is not committed: the mission goes to review, and the file stays in the worktree', async () => {
  const { fleet, repo, project } = await aScene()
  const { id } = await fleet.mission(project, 'head -c 21000000 /dev/zero > big.bin; echo x > x.txt')
  const mission = await fleet.until(id, 'review', 'done', 'failed')
  expect(mission).toMatchObject({ status: 'review', status_reason: { code: 'left_out' } })
  expect(mission.status_reason?.text).toContain('big.bin (it is larger than 20 MB)')
  expect(await repo.filesOn(mission.branch!)).toEqual(['README.md', 'x.txt'])
  expect(readFileSync(join(mission.sessions[0]!.worktree!, 'big.bin')).length).toBe(21_000_000)
})

test('a conflict in hundreds of files is still told', { timeout: 90_000 }, async () => {
  const names = Array.from({ length: 200 }, (_, i) => `a-folder-with-a-long-name/file-number-${i}.txt`)
  const { fleet, project, gate } = await aScene({
    repository: { files: Object.fromEntries(names.map(name => [name, 'first\n'])) },
  })
  const gates = [gate('one'), gate('two')]
  const missions = await Promise.all(
    gates.map((one, i) =>
      fleet.mission(
        project,
        `[ "$FLEET_REASON" = conflict ] && exit 0; ${one.wait}; for f in */*.txt; do echo ${i} > $f; done`,
      ),
    ),
  )
  await eventually('both at work', () => gates.every(one => one.reached()))
  for (const one of gates) one.open()
  const shown = await Promise.all(missions.map(({ id }) => fleet.until(id, 'done', 'review', 'needs_input', 'failed')))
  expect(shown.map(mission => mission.result).sort()).toEqual(['landed', null])
  expect(shown.find(mission => mission.result === null)?.status_reason?.code).toBe('conflict')
})
