import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aFleet, type TestFleet } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'

/** Every file with a fixed name, and whether the fleet works without its content. */
const FIXED: Record<string, 'needed' | 'spare'> = {
  id: 'needed',
  token: 'needed',
  key: 'needed',
  'store.db': 'needed',
  'lease.db': 'needed',
  'logs/server.log': 'needed',
  'logs/up.log': 'needed',
  port: 'spare',
  spawner: 'spare',
  'holder.json': 'spare',
  'fleet.toml': 'spare',
  'agents.json': 'spare',
  'prices.json': 'spare',
  'models.json': 'spare',
  'plugin-agents.json': 'spare',
  'mcp-clients.json': 'spare',
  'plugins/webhook.json': 'spare',
}

const IN_ITS_PLACE: Record<string, (path: string) => void> = {
  'a FIFO': path => void execFileSync('mkfifo', [path]),
  'a folder': path => mkdirSync(path),
  'a device': path => execFileSync('ln', ['-s', '/dev/zero', path]),
}

/** A command that waits for a FIFO without a writer never ends, so it gets a time limit. */
const PATIENCE_MS = 25_000
const within = async <T>(what: string, does: Promise<T>): Promise<T> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`${what} hangs`)), PATIENCE_MS)
  return Promise.race([does, late.promise]).finally(() => clearTimeout(timer))
}

async function whatHappens(fleet: TestFleet, what: string): Promise<{ lists: number; up: number; said: string }> {
  const lists = await within(`${what}: fleet mission list`, fleet.fleetCommand(['mission', 'list']))
  const doctor = await within(`${what}: fleet doctor`, fleet.fleetCommand(['doctor']))
  const up = await within(`${what}: fleet up --detach`, fleet.fleetCommand(['up', '--detach']))
  const answers = up.code === 0 && (await within(what, fleet.fleetCommand(['status']))).code === 0
  await within(`${what}: fleet down`, fleet.fleetCommand(['down']))
  expect(up.code === 0 ? answers : true, `${what}: said to be up and is not`).toBe(true)
  return { lists: lists.code!, up: up.code!, said: `${lists.stderr}${up.stderr}${doctor.stdout}${doctor.stderr}` }
}

/** Replaces files by something else, and puts them back. */
async function inThePlaceOf(home: string, names: readonly string[], odd: string, does: () => Promise<void>) {
  const kept = names.map(name => join(home, name)).filter(path => existsSync(path))
  for (const path of kept) renameSync(path, `${path}.kept`)
  for (const name of names) {
    mkdirSync(join(home, name, '..'), { recursive: true })
    IN_ITS_PLACE[odd]!(join(home, name))
  }
  await does()
  for (const name of names) rmSync(join(home, name), { recursive: true, force: true })
  for (const path of kept) renameSync(`${path}.kept`, path)
}

const named = (need: 'needed' | 'spare') => Object.keys(FIXED).filter(name => FIXED[name] === need)

test.each(Object.keys(IN_ITS_PLACE))(
  '%s in the place of any file that is read by its name hangs neither server nor command',
  { timeout: 400_000 },
  async odd => {
    const fleet = await aFleet({ env: { FLEET_PLUGINS: 'webhook' } })
    const { path: home } = fleet.fleet.home
    for (const name of named('needed'))
      await inThePlaceOf(home, [name], odd, async () => {
        const up = await within(`${odd} as ${name}: fleet up`, fleet.fleetCommand(['up', '--detach']))
        expect([name, up.code, up.stderr]).toEqual([name, 1, expect.stringContaining(join(home, name))])
      })
    // All files that the fleet works without, at once.
    await inThePlaceOf(home, named('spare'), odd, async () => {
      const { lists, up, said } = await whatHappens(fleet, odd)
      expect([lists, up, said]).toEqual([0, 0, expect.any(String)])
    })
  },
)

test('half-written state files are survived, and a server that dies is not said to be up', {
  timeout: 120_000,
}, async () => {
  const { fleet } = await aScene({ start: false })
  const { path: home } = fleet.fleet.home
  const names = ['spawner', 'port', 'holder.json', 'models.json', 'plugin-agents.json', 'mcp-clients.json']
  for (const text of ['', '{"pid":', 'null', '\0\0\0']) {
    for (const name of names) writeFileSync(join(home, name), text)
    const { lists, up, said } = await whatHappens(fleet, `${JSON.stringify(text)} in each`)
    expect([text, lists, up, said]).toEqual([text, 0, 0, expect.any(String)])
  }
})

test('a damaged key, token or id is refused with what to do, and never taken for an empty one', async () => {
  const { fleet } = await aScene({ start: false })
  const { path: home } = fleet.fleet.home
  for (const name of ['key', 'token', 'id']) {
    const file = join(home, name)
    const before = readFileSync(file, 'utf8')
    const odd = [
      '',
      ' \n',
      before.slice(0, 3),
      ...(name === 'key' ? [before.slice(2), `${before}00`, 'z'.repeat(64)] : []),
    ]
    for (const text of odd) {
      writeFileSync(file, text)
      for (const args of [
        ['mission', 'list'],
        ['up', '--detach'],
      ]) {
        const { code, stderr } = await fleet.fleetCommand(args)
        expect([name, text, code, stderr]).toEqual([name, text, 1, expect.stringMatching(/is damaged[\s\S]*backup/)])
      }
      expect(readFileSync(file, 'utf8')).toBe(text)
    }
    writeFileSync(file, before)
  }
  expect((await fleet.fleetCommand(['mission', 'list'])).code).toBe(0)
})

test('a home that was there as 0755 is closed to others, with everything in it that holds something', async () => {
  const { fleet } = await aScene()
  await fleet.stop()
  const { path: home } = fleet.fleet.home
  writeFileSync(join(home, 'fleet.toml'), '')
  mkdirSync(join(home, 'plugins'), { recursive: true })
  const files = ['token', 'key', 'id', 'store.db', 'fleet.toml']
  const folders = ['.', 'logs', 'blobs', 'sessions', 'plugins']
  for (const name of folders) chmodSync(join(home, name), 0o755)
  for (const name of files) chmodSync(join(home, name), 0o644)
  expect((await fleet.fleetCommand(['mission', 'list'])).code).toBe(0)
  const modes = (names: string[]) => names.map(name => [name, (statSync(join(home, name)).mode & 0o777).toString(8)])
  expect(modes(folders)).toEqual(folders.map(name => [name, '700']))
  expect(modes(files)).toEqual(files.map(name => [name, '600']))
})
