import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { broken } from '../../../src/config/configuration.testkit.ts'
import { parseConfiguration } from '../../../src/config/configuration.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

interface Shown {
  problem: string | null
  settings: { key: string; value: unknown; origin: string }[]
}

function faultIn(text: string): string | undefined {
  try {
    parseConfiguration(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

test('an edit of fleet.toml takes effect while everything runs, and a broken one changes nothing', async () => {
  const { fleet, project, gate } = await aScene()
  const file = join(fleet.root, 'home/fleet.toml')
  const asked = async (): Promise<Shown> => (await fleet.http('/api/settings')).json() as Promise<Shown>
  const setTo = async (key: string): Promise<unknown> => (await asked()).settings.find(each => each.key === key)?.value

  writeFileSync(file, '# one at a time\nmax_concurrent = 1\n')
  await eventually('one at a time', async () => (await setTo('max_concurrent')) === 1)
  const first = gate('first')
  const a = await fleet.mission(project, `${first.wait}; echo a > a`)
  const b = await fleet.mission(project, 'echo b > b')
  await eventually('the first to be at work', () => first.reached())
  const pid = await eventually('its process', async () => (await fleet.show(a.id)).sessions[0]!.pid)
  const waiting = await (await fleet.http(`/api/missions/${b.id}`)).json()
  expect(waiting).toMatchObject({ status: 'queued', waits_for: [{ kind: 'slot' }] })

  for (const text of broken(50, 7)) {
    writeFileSync(file, text)
    await eventually(`the fault in ${JSON.stringify(text)}`, async () => (await asked()).problem === faultIn(text))
  }
  writeFileSync(file, 'max_concurrent = "three"\n')
  await eventually('the last fault', async () => (await asked()).problem?.includes('max_concurrent'))
  expect(await setTo('max_concurrent')).toBe(1)
  expect(await fleet.show(b.id)).toMatchObject({ status: 'queued' })
  expect((await fleet.show(a.id)).sessions).toMatchObject([{ status: 'running', pid }])
  const told = (await fleet.fleetCommand(['status'])).stdout
  expect(told).toContain('fleet.toml is not applied')
  expect((await fleet.fleetCommand(['doctor'])).stdout).toMatch(/! settings +fleet.toml: max_concurrent/)
  expect(readFileSync(join(fleet.root, 'home/logs/server.log'), 'utf8')).toContain('max_concurrent')

  // A restart changes nothing: the last valid settings apply to the server and to other commands.
  await fleet.kill()
  await fleet.start()
  expect(await setTo('max_concurrent')).toBe(1)
  expect(JSON.parse((await fleet.fleetCommand(['status', '--json'])).stdout)).toMatchObject({ max_concurrent: 1 })
  expect((await fleet.show(a.id)).sessions).toMatchObject([{ status: 'running', pid }])

  writeFileSync(file, 'max_concurrent = 2\n')
  await fleet.until(b.id, 'done')
  first.open()
  await fleet.until(a.id, 'done')
  const kinds = (await fleet.events()).map(({ kind }) => kind)
  expect(kinds).toContain('settings_refused')
  expect(kinds.filter(kind => kind === 'settings_changed')).toHaveLength(2)
})

test('config set writes what holds at once, keeps the rest of the file, and refuses what will not do', async () => {
  const { fleet } = await aScene({ env: { FLEET_MAX_RETRIES: '2' } })
  const file = join(fleet.root, 'home/fleet.toml')
  writeFileSync(file, '# mine\nstop_grace = 3 # soon\n')
  const set = (...pairs: string[]) => fleet.fleetCommand(['config', 'set', ...pairs])

  expect(await set('max_concurrent=7', 'max_per_agent=shell=5', 'coder=claude')).toMatchObject({ code: 0 })
  expect(readFileSync(file, 'utf8')).toBe(
    '# mine\nstop_grace = 3 # soon\nmax_concurrent = 7\nmax_per_agent = { shell = 5 }\ndefault_agent = "claude"\n',
  )
  expect(await (await fleet.http('/api/system/status')).json()).toMatchObject({ max_concurrent: 7 })

  expect((await set('max_retries=5')).stderr).toContain('the environment or a flag of the fleet overrides it')
  const before = readFileSync(file, 'utf8')
  for (const pair of [
    'max_concurrent=0',
    'nonsense=1',
    'default_agent=nobody',
    'coder=shell',
    'max_per_agent=nobody=1',
    'stop_grace',
  ])
    expect((await set(pair)).code, pair).not.toBe(0)
  expect(readFileSync(file, 'utf8')).toBe(before)

  const shown = (await fleet.fleetCommand(['config', 'show'])).stdout
  expect(shown).toMatch(/max_concurrent +7 +\(fleet\.toml\)/)
  expect(shown).toMatch(/max_retries +2 +\(FLEET_MAX_RETRIES\)/)
  expect(shown).toMatch(/window_limit +95% +\(default\)/)
  expect((await fleet.fleetCommand(['config', 'show', '--raw'])).stdout).toBe(before)

  expect(await set('max_concurrent=')).toMatchObject({ code: 0 })
  expect(JSON.parse((await fleet.fleetCommand(['config', 'show', '--json'])).stdout).settings).toContainEqual(
    expect.objectContaining({ key: 'max_concurrent', value: 4, origin: 'default' }),
  )

  // Opening a FIFO and waiting for a writer would block everything.
  rmSync(file)
  execFileSync('mkfifo', [file])
  for (const args of [
    ['set', 'max_concurrent=8'],
    ['show', '--raw'],
  ])
    expect((await fleet.fleetCommand(['config', ...args])).stderr).toContain('is not a file')
  expect((await fleet.http('/api/system/status')).status).toBe(200)
})

test('a project comes before the file, the environment before the project, a flag before all', async () => {
  const { fleet, repo, project } = await aScene({ start: false, project: { max_retries: 1, timeout_seconds: 60 } })
  writeFileSync(join(fleet.root, 'home/fleet.toml'), 'max_retries = 3\ndefault_timeout = 300\nstop_grace = 2\n')
  await fleet.fleetCommand(
    ['up', '--detach', '--port', '0', '--set', 'stop_grace=4', '--set=max_per_agent=shell=2,claude=1'],
    {
      env: { FLEET_DEFAULT_TIMEOUT: '90' },
    },
  )
  try {
    const { stdout } = await fleet.fleetCommand(['config', 'show', '--json'], { cwd: repo.path })
    const { settings } = JSON.parse(stdout) as Shown
    const shown = Object.fromEntries(settings.map(({ key, value, origin }) => [key, [value, origin]]))
    expect(shown).toMatchObject({
      max_retries: [1, 'project'],
      default_timeout: [90, 'environment'],
      stop_grace: [4, 'flag'],
      max_per_agent: [{ shell: 2, claude: 1 }, 'flag'],
    })
    const elsewhere = JSON.parse((await fleet.fleetCommand(['config', 'show', '--json'])).stdout) as Shown
    expect(elsewhere.settings).toContainEqual(expect.objectContaining({ key: 'max_retries', value: 3, origin: 'file' }))
    const mission = await fleet.mission(project, 'exit 3')
    expect((await fleet.until(mission.id, 'failed')).sessions).toHaveLength(2)
  } finally {
    await fleet.fleetCommand(['down'])
  }
  rmSync(join(fleet.root, 'home/fleet.toml'))
})
