import { execFile, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { aRepository } from '../../src/git/testkit.ts'
import { aFleet, eventually, readJson, type TestFleet } from '../kit/fleet.ts'

const run = promisify(execFile)

/** Every file and folder below one, so that nothing is left unnoticed. */
const everythingIn = (folder: string): string[] => readdirSync(folder, { recursive: true }).map(String).toSorted()

async function aPlace() {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-service-'))
  const fleet = await aFleet({ root })
  onTestFinished(() => fleet.remove())
  const config = join(root, 'config of $HOME 100%')
  mkdirSync(config)
  const service = (args: string[], env: Record<string, string> = {}) =>
    fleet.fleetCommand(['service', ...args], { env: { XDG_CONFIG_HOME: config, ...env } })
  return { root, fleet, config, service }
}

const has = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0
const NO_SYSTEMD = 'systemd is not on this machine'

test('the unit is written as it is printed, and removing it leaves every byte as before', async ({ skip }) => {
  if (!has('systemctl')) return skip(NO_SYSTEMD)
  const { config, service } = await aPlace()
  writeFileSync(join(config, 'mine.conf'), 'mine')
  const printed = await service(['install', '--print'])
  expect([printed.code, everythingIn(config)]).toEqual([0, ['mine.conf']])
  const installed = await service(['install', '--no-start'])
  expect([installed.code, installed.stderr]).toEqual([0, expect.stringContaining('API keys')])
  const [unit] = everythingIn(config).filter(name => name.endsWith('.service'))
  expect(readFileSync(join(config, unit!), 'utf8')).toBe(printed.stdout)
  // Again is free.
  expect((await service(['install', '--no-start'])).code).toBe(0)
  const status = JSON.parse((await service(['status', '--json'])).stdout)
  expect(status).toMatchObject({ manager: 'systemd', installed: true, changed_by_hand: false, active: false })
  expect((await service(['remove'])).code).toBe(0)
  expect(everythingIn(config)).toEqual(['mine.conf'])
  expect((await service(['remove'])).stdout).toContain('No service is installed')
})

test('a unit that somebody changed or wrote is left alone', async ({ skip }) => {
  if (!has('systemctl')) return skip(NO_SYSTEMD)
  const { config, service } = await aPlace()
  await service(['install', '--no-start'])
  const unit = join(config, everythingIn(config).find(name => name.endsWith('.service'))!)
  const changed = `${readFileSync(unit, 'utf8')}\n# mine\n`
  writeFileSync(unit, changed)
  for (const args of [['remove'], ['install', '--no-start']]) {
    const { code, stderr } = await service(args)
    expect([code, stderr]).toEqual([4, expect.stringContaining('left alone')])
  }
  expect(readFileSync(unit, 'utf8')).toBe(changed)
  expect(JSON.parse((await service(['status', '--json'])).stdout)).toMatchObject({ changed_by_hand: true })
})

test('where there is no service manager, or none that answers, it says so and writes nothing', async ({ skip }) => {
  const { root, config, service } = await aPlace()
  const bin = join(root, 'bin')
  mkdirSync(bin)
  const none = await service(['install'], { PATH: bin })
  expect([none.code, none.stderr]).toEqual([
    1,
    expect.stringMatching(/neither systemd nor launchd[\s\S]*fleet up --detach/),
  ])
  expect(everythingIn(config)).toEqual([])
  if (!has('systemctl')) return skip(NO_SYSTEMD)
  const silent = await service(['install'], { XDG_RUNTIME_DIR: bin, DBUS_SESSION_BUS_ADDRESS: `unix:path=${bin}/none` })
  expect([silent.code, silent.stderr]).toEqual([
    1,
    expect.stringMatching(/does not run for this user[\s\S]*Nothing was written/),
  ])
  expect(everythingIn(config)).toEqual([])
})

test('systemd accepts the unit, also with odd names in it', async ({ skip }) => {
  if (!has('systemd-analyze')) return skip(NO_SYSTEMD)
  const { root, service } = await aPlace()
  const odd = join(root, 'a "home" of 100% $HOME \\ and é')
  mkdirSync(odd)
  const { stdout } = await service(['install', '--print', '--host', '127.0.0.1', '--allow-host', 'a.example'], {
    FLEET_HOME: odd,
  })
  const unit = join(root, 'flotilla.service')
  writeFileSync(unit, stdout)
  const runtime = join(root, 'runtime')
  mkdirSync(runtime, { mode: 0o700 })
  const env = { ...process.env, XDG_RUNTIME_DIR: runtime }
  const verified = spawnSync('systemd-analyze', ['verify', '--user', unit], { env, encoding: 'utf8' })
  expect([verified.status, verified.stdout, verified.stderr]).toEqual([0, '', ''])
})

/** A real systemd of this user. It runs only where the system was started by systemd, or seems to have been. */
async function aSystemd(root: string): Promise<Record<string, string> | string> {
  if (!has('systemctl') || !existsSync('/lib/systemd/systemd')) return NO_SYSTEMD
  if (process.getuid?.() !== 0) return 'only root can start a systemd in a namespace of its own'
  const runtime = join(root, 'runtime')
  mkdirSync(runtime, { mode: 0o700 })
  chmodSync(runtime, 0o700)
  // In a mount namespace, so that nobody else on this machine believes that systemd started it.
  const script = 'mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && exec /lib/systemd/systemd --user'
  const env = { PATH: process.env.PATH!, HOME: root, XDG_RUNTIME_DIR: runtime, XDG_CONFIG_HOME: join(root, 'config') }
  const child = spawn('unshare', ['-m', 'sh', '-c', script], { env, stdio: 'ignore', detached: true })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const answers = () =>
    run('systemctl', ['--user', 'show-environment'], { env }).then(
      () => true,
      () => undefined,
    )
  const isUp = await eventually(
    'systemd',
    async () => (child.exitCode !== null ? 'gone' : await answers()),
    undefined,
    15_000,
  ).catch(() => 'gone')
  return isUp === 'gone'
    ? 'systemd does not start in a namespace here'
    : { XDG_RUNTIME_DIR: runtime, XDG_CONFIG_HOME: env.XDG_CONFIG_HOME }
}

const holderOf = (fleet: TestFleet) => readJson<{ pid: number }>(join(fleet.fleet.home.path, 'holder.json')).pid

test('a real systemd runs it, starts it again when it is killed, and agents go on all the while', {
  timeout: 120_000,
}, async ({ skip }) => {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-service-'))
  const systemd = await aSystemd(root)
  if (typeof systemd === 'string') {
    rmSync(root, { recursive: true })
    return skip(systemd)
  }
  const fleet = await aFleet({ root })
  onTestFinished(() => fleet.remove())
  const repo = await aRepository()
  onTestFinished(() => repo.remove())
  const env = { ...systemd }
  const fleetCommand = (...args: string[]) => fleet.fleetCommand(args, { env })
  const installed = await fleetCommand('service', 'install', '--port', '0')
  expect([installed.code, installed.stderr]).toEqual([0, expect.any(String)])
  onTestFinished(async () => void (await fleetCommand('service', 'remove')))
  const isReady = () => eventually('the server', async () => (await fleetCommand('health')).code === 0 || undefined)
  await isReady()
  const first = holderOf(fleet)
  expect(JSON.parse((await fleetCommand('service', 'status', '--json')).stdout)).toMatchObject({
    active: true,
    server: first,
  })

  const project = await fleet.project(repo.path)
  const gate = join(root, 'gate')
  const { id } = await fleet.mission(project, `while [ ! -e '${gate}' ]; do sleep 0.05; done; echo made > made.txt`)
  const { sessions } = await fleet.until(id, 'running')
  const agents = await eventually('the agent', () => {
    const found = fleet.processes(sessions[0]!.id)
    return found.length ? found : undefined
  })
  // Restarted by a person, then killed: each time another server, and the same agent.
  await run(
    'systemctl',
    [
      '--user',
      'restart',
      readdirSync(join(env.XDG_CONFIG_HOME!, 'systemd/user')).find(name => name.endsWith('.service'))!,
    ],
    { env: { ...process.env, ...env } },
  )
  await isReady()
  const second = holderOf(fleet)
  expect(second).not.toBe(first)
  process.kill(second, 'SIGKILL')
  await eventually(
    'a third server',
    async () => ((await fleetCommand('health')).code === 0 && holderOf(fleet) !== second) || undefined,
  )
  expect(fleet.processes(sessions[0]!.id)).toEqual(expect.arrayContaining([agents[0]!]))
  writeFileSync(gate, '')
  expect((await fleet.until(id, 'done', 'failed')).status).toBe('done')

  const removed = await fleetCommand('service', 'remove')
  expect([removed.code, removed.stderr]).toEqual([0, ''])
  expect((await fleetCommand('health')).code).toBe(5)
  expect(everythingIn(root).filter(name => name.includes('flotilla') && name.endsWith('.service'))).toEqual([])
})

test('fleet up --status and --stop are fleet status and fleet down', async () => {
  const fleet = await aFleet()
  onTestFinished(() => fleet.remove())
  expect((await fleet.fleetCommand(['up', '--status'])).stdout).toContain('The fleet is down')
  expect((await fleet.fleetCommand(['up', '--detach', '--port', '0'])).code).toBe(0)
  expect((await fleet.fleetCommand(['up', '--status'])).stdout).toContain('The fleet is up')
  const health = await fleet.fleetCommand(['health', '--json'])
  expect([health.code, JSON.parse(health.stdout)]).toMatchObject([0, { status: 'ok', ready: true, lease: 'held' }])
  const shown = await fleet.fleetCommand(['metrics'])
  expect(shown.stdout).toMatch(/fleet_ready +1\n/)
  const { stdout: token } = await fleet.fleetCommand(['metrics', '--token'])
  // On another machine, a monitor has no home: only the address and its token.
  const url = readJson<{ url: string }>(join(fleet.fleet.home.path, 'holder.json')).url
  const elsewhere = { FLEET_HOME: join(fleet.root, 'elsewhere'), FLEET_TOKEN: token.trim() }
  expect((await fleet.fleetCommand(['metrics', '--json', '--url', url], { env: elsewhere })).code).toBe(0)
  expect((await fleet.fleetCommand(['list', '--url', url], { env: elsewhere })).code).toBe(4)
  expect((await fleet.fleetCommand(['metrics', '--revoke-token'])).stdout).toContain('revoked')
  expect((await fleet.fleetCommand(['metrics', '--json', '--url', url], { env: elsewhere })).code).toBe(4)
  expect((await fleet.fleetCommand(['up', '--stop'])).stdout).toContain('The fleet is down.')
  for (const args of [['health'], ['metrics']]) {
    const { code, stderr } = await fleet.fleetCommand(args)
    expect([code, stderr]).toEqual([5, expect.stringContaining('fleet up --detach')])
  }
})
