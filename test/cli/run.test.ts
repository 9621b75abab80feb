import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { gitText } from '../../src/git/run.ts'
import { aFleet, eventually, NODE, ROOT, type TestFleet } from '../kit/fleet.ts'

let fleet: TestFleet
afterEach(async () => {
  await fleet.fleetCommand(['down', '--agents'])
  await fleet.remove()
})

async function repository(root: string): Promise<string> {
  const path = join(root, 'repository')
  mkdirSync(join(path, 'lib'), { recursive: true })
  writeFileSync(join(path, 'lib', 'a.txt'), 'a\n')
  await gitText(path, ['init', '-q', '-b', 'trunk'])
  await gitText(path, ['add', '.'])
  await gitText(path, ['-c', 'user.name=T', '-c', 'user.email=t@localhost', 'commit', '-q', '-m', 'first'])
  return path
}

const idOf = (text: string): string => /mission (\w{6})/.exec(text)![1]!

test('run in a sub-directory: starts a fleet, streams, lands, and says so', async () => {
  fleet = await aFleet()
  const path = await repository(fleet.root)
  const { code, stdout, stderr } = await fleet.fleetCommand(
    ['run', '--agent', 'shell', '--landing', 'auto', 'echo hello; echo b > b.txt'],
    {
      cwd: join(path, 'lib'),
    },
  )
  expect(stderr).toContain('Added project repository')
  expect(stderr).toContain('Started the fleet in the background at http://127.0.0.1:')
  expect(stdout).toContain('hello\n')
  const commit = await gitText(path, ['rev-parse', 'trunk'])
  expect(stdout).toContain(`landed as ${commit.slice(0, 10)} on trunk (1 file changed)`)
  expect(readFileSync(join(path, 'lib', 'b.txt'), 'utf8')).toBe('b\n')
  expect(code).toBe(0)
})

test('the exit code tells how it ended', async () => {
  fleet = await aFleet()
  const cwd = await repository(fleet.root)
  await fleet.start()
  const run = (...args: string[]) => fleet.fleetCommand(['run', '--agent', 'shell', ...args], { cwd })
  const [failed, review] = [await run('echo no >&2; exit 7'), await run('echo x > x.txt', '--landing', 'review')]
  expect(failed.code).toBe(1)
  expect(failed.stdout).toContain('Exited with code 7')
  expect(failed.stderr).toContain('Try: fleet logs')
  expect(review.code).toBe(3)

  const cancelled = run('echo begun; sleep 100')
  const mission = await eventually(
    'a running mission',
    async () => (await fleet.call<{ missions: { id: string }[] }>('list_missions', { status: 'running' })).missions[0],
  )
  expect((await fleet.fleetCommand(['mission', 'cancel', mission.id.slice(0, 6)])).code).toBe(0)
  expect((await cancelled).code).toBe(130)
  const again = await fleet.fleetCommand(['mission', 'cancel', mission.id])
  expect(again.code).toBe(4)
  expect(again.stderr).toContain('is cancelled')
})

test('reading and writing state needs no server, and starts none', async () => {
  fleet = await aFleet()
  const cwd = await repository(fleet.root)
  const made = await fleet.fleetCommand(
    ['mission', 'create', 'echo x > x.txt', '--agent', 'shell', '--landing', 'auto', '--tag', 'later'],
    { cwd },
  )
  expect(made.code).toBe(0)
  const list = JSON.parse((await fleet.fleetCommand(['mission', 'list', '--tag', 'later', '--json'])).stdout)
  expect(list.missions).toHaveLength(1)
  expect((await fleet.fleetCommand(['mission', 'edit', idOf(made.stdout), '--priority', '5'])).code).toBe(0)
  expect((await fleet.fleetCommand(['mission', 'show', idOf(made.stdout), '--json'])).stdout).toContain('"priority": 5')
  expect((await fleet.fleetCommand(['status'])).stdout).toContain('The fleet is down')
  const dispatched = await fleet.fleetCommand(['mission', 'dispatch', idOf(made.stdout), '--follow'])
  expect(dispatched.stderr).toContain('Started the fleet in the background')
  expect(dispatched.stdout).toContain('landed as')
  expect((await fleet.fleetCommand(['status'])).stdout).toContain('The fleet is up')
  expect(readFileSync(join(fleet.root, 'home', 'logs', 'up.log'), 'utf8')).not.toContain('token')
})

test('fleet up where it is up prints the link; the port is kept; a taken port is named', async () => {
  fleet = await aFleet()
  const { url, child } = await fleet.start()
  const second = await fleet.fleetCommand(['up'])
  expect(second.code).toBe(0)
  expect(second.stderr).toBe(`The fleet is already up (process ${child.pid}).\n`)
  expect(second.stdout).toContain(`${url}/sign-in?token=`)
  expect((await fleet.fleetCommand(['up', '--port', '0'])).stderr).toContain('fleet down, then the same command again')
  await fleet.stop()
  expect((await fleet.start()).url).toBe(url)
  await fleet.stop()

  const squatter = createServer().listen(Number(new URL(url).port), '127.0.0.1')
  await new Promise(resolve => squatter.once('listening', resolve))
  const refused = await fleet.fleetCommand(['up'])
  squatter.close()
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain(`Port ${new URL(url).port} is taken`)
})

test('down leaves agents at work, and the next fleet takes them up; down --agents does not', async () => {
  fleet = await aFleet()
  const path = await repository(fleet.root)
  const gate = join(fleet.root, 'gate')
  const up = await fleet.start()
  const project = await fleet.project(path)
  const mission = await fleet.mission(project, `until [ -e '${gate}' ]; do sleep 0.05; done; echo x > x.txt`)
  const { session_id } = await eventually('its process', async () => {
    const now = await fleet.show(mission.id)
    return now.session_id && fleet.processes(now.session_id).length ? now : undefined
  })
  const gone = new Promise(resolve => up.child.once('exit', resolve))
  expect((await fleet.fleetCommand(['down'])).stdout).toContain('The fleet is down.')
  expect(await gone).toBe(0)
  expect(fleet.processes(session_id!)).not.toEqual([])

  await fleet.start()
  writeFileSync(gate, '')
  expect((await fleet.until(mission.id, 'done', 'failed')).result).toBe('landed')

  rmSync(gate)
  const [running, queued] = [
    await fleet.mission(project, `until [ -e '${gate}' ]; do sleep 0.05; done`),
    await fleet.mission(project, 'echo later > later.txt', { depends_on: [mission.id], priority: -5, tags: ['later'] }),
  ]
  await fleet.until(queued.id, 'done')
  const live = await eventually('its process', async () => {
    const now = await fleet.show(running.id)
    return now.session_id && fleet.processes(now.session_id).length ? now : undefined
  })
  expect((await fleet.fleetCommand(['down', '--agents'])).code).toBe(0)
  expect(fleet.processes(live.session_id!)).toEqual([])
  expect(await fleet.show(running.id)).toMatchObject({
    status: 'cancelled',
    status_reason: { code: 'cancelled', text: expect.stringContaining('fleet down --agents') },
  })
  expect((await fleet.call<{ paused: boolean }>('system_status')).paused).toBe(false)
})

test('Ctrl-C without a terminal detaches', async () => {
  fleet = await aFleet()
  const cwd = await repository(fleet.root)
  await fleet.start()
  const env = { PATH: process.env.PATH!, HOME: fleet.root, FLEET_HOME: join(fleet.root, 'home') }
  const child = spawn(NODE, [join(ROOT, 'bin/fleet.js'), 'run', '--agent', 'shell', 'echo begun; sleep 100'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  child.stdout.on('data', chunk => {
    text += chunk
  })
  child.stderr.on('data', chunk => {
    text += chunk
  })
  await eventually('its first word', () => text.includes('begun') || undefined)
  child.kill('SIGINT')
  expect(await new Promise(resolve => child.once('exit', resolve))).toBe(0)
  expect(text).toContain('Detached')
  expect((await fleet.fleetCommand(['mission', 'list', '--status', 'running'])).stdout).toContain('echo begun')
})

test('a fleet started inside a session does not pass that session on', async () => {
  fleet = await aFleet()
  const path = await repository(fleet.root)
  await fleet.start({ env: { FLEET_SESSION: 'other/session', FLEET_TOKEN: 'secret', FLEET_TASK_ID: 'other' } })
  const project = await fleet.project(path)
  const seen = join(fleet.root, 'seen')
  const mission = await fleet.mission(project, `env | grep FLEET_ > '${seen}'; echo x > x.txt`)
  await fleet.until(mission.id, 'done')
  const text = readFileSync(seen, 'utf8')
  expect(text).toContain('FLEET_SESSION=')
  expect(text).not.toMatch(/other|secret/)
})

test('doctor examines the machine', async () => {
  fleet = await aFleet()
  const { code, stdout } = await fleet.fleetCommand(['doctor', '--json'])
  expect(code).toBe(0)
  const { findings } = JSON.parse(stdout) as { findings: { name: string; state: string }[] }
  expect(findings.map(each => each.name)).toEqual(
    expect.arrayContaining(['git', 'node', 'disk', 'store', 'platform', 'shell', 'claude']),
  )
  const poor = await fleet.fleetCommand(['doctor'], { env: { PATH: '/nonexistent', FLEET_MAX_CONCURRENT: 'many' } })
  expect(poor.code).toBe(1)
  expect(poor.stdout).toContain('✗ git')
  expect(poor.stdout).toContain('✗ settings')
  expect(existsSync(join(fleet.root, 'home', 'store.db'))).toBe(true)
})
