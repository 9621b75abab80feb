import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { archiveOf, bomb, type Entry, manifestOf } from '../kit/archives.ts'
import type { TestFleet } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'
import { aSmallDisk, canMount } from '../kit/small-disk.ts'

/** The store of a whole backup, to build archives from. */
async function aStore(): Promise<{ fleet: TestFleet; store: Entry; project: { id: string } }> {
  const { fleet, project } = await aScene({ start: false })
  const file = join(fleet.root, 'backup.tar.gz')
  expect((await fleet.fleetCommand(['backup', file])).code).toBe(0)
  const store = execFileSync('tar', ['-xzOf', file, './store.db'], { maxBuffer: 2 ** 26 })
  return { fleet, project, store: { name: 'store.db', content: store } }
}

const modesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => {
    const { mode } = statSync(join(folder, name))
    return `${(mode & 0o7777).toString(8)} ${name}`
  })

const restoreInto = (fleet: TestFleet, file: string, home: string, ...more: string[]) =>
  fleet.fleetCommand(['restore', file, '--home', home, ...more])

/** The restore says why it refuses, and leaves nothing of the home behind. */
async function refused(fleet: TestFleet, file: string, because: RegExp, ...more: string[]): Promise<void> {
  const home = join(fleet.root, 'restored')
  const { code, stdout, stderr } = await restoreInto(fleet, file, home, ...more)
  expect([code, stderr, stdout]).toEqual([expect.any(Number), expect.stringMatching(because), ''])
  expect(code).not.toBe(0)
  expect(readdirSync(fleet.root).filter(name => name.startsWith('restored'))).toEqual([])
}

test('a restored home has our modes, whatever the archive says', async () => {
  const { fleet, store } = await aStore()
  const folder: Entry = { name: 'tasks/', type: '5', mode: 0o6777 }
  const files = [
    store,
    { name: 'tasks/run.sh', content: '#!/bin/sh\n' },
    { name: 'instructions.md', content: 'Be kind.' },
  ]
  const file = join(fleet.root, 'open.tar.gz')
  writeFileSync(file, archiveOf([folder, ...files.map(each => ({ ...each, mode: 0o6777 })), manifestOf(files)]))
  const home = join(fleet.root, 'restored')
  mkdirSync(home)
  chmodSync(home, 0o755)
  const { code, stderr } = await restoreInto(fleet, file, home)
  expect([code, stderr]).toEqual([0, ''])
  expect((statSync(home).mode & 0o7777).toString(8)).toBe('700')
  const modes = modesBelow(home)
  expect(modes).toContain('600 tasks/run.sh')
  expect(modes.filter(each => !/^[67]00 /.test(each))).toEqual([])
})

const OUTSIDE = 'fleet-restore-outside'

test('links, FIFOs and names that lead out are refused, and nothing is written outside', async () => {
  const { fleet, store } = await aStore()
  const file = join(fleet.root, 'odd.tar.gz')
  const odd: [Entry[], RegExp][] = [
    [[{ name: 'manifest.json', type: '6' }], /manifest.json is a FIFO/],
    [[{ name: `tasks/../../${OUTSIDE}` }, manifestOf([store])], /is outside the home/],
    [
      [{ name: 'tasks', type: '2', link: fleet.root }, { name: `tasks/${OUTSIDE}` }, manifestOf([store])],
      /tasks is a link/,
    ],
  ]
  for (const [entries, because] of odd) {
    writeFileSync(file, archiveOf([...entries, store]))
    await refused(fleet, file, because)
    expect(existsSync(join(fleet.root, OUTSIDE))).toBe(false)
  }
})

test('what belongs to a running home, or to none, is refused', async () => {
  const { fleet, store } = await aStore()
  const file = join(fleet.root, 'odd.tar.gz')
  for (const name of ['port', 'store.db-wal', 'sessions/x/settings.json']) {
    const files = [store, { name, content: 'x' }]
    writeFileSync(file, archiveOf([...files, manifestOf(files)]))
    await refused(fleet, file, new RegExp(`${name} does not belong to it`))
  }
})

test('a bomb stops early and leaves nothing behind', { timeout: 120_000 }, async () => {
  const { fleet, store } = await aStore()
  const file = join(fleet.root, 'bomb.tar.gz')
  await bomb(file, { name: 'notes.txt', size: 2_000_000_000 }, 200)
  expect(statSync(file).size).toBeLessThan(1024 * 1024)
  await refused(fleet, file, /more than 1 GB.*--max-gb/s, '--max-gb', '1')
  await bomb(file, { name: 'manifest.json', size: 2_000_000_000 }, 200)
  await refused(fleet, file, /manifest.json is larger than/)
  await refused(fleet, file, /must be a number/, '--max-gb', 'x')

  const many = Array.from({ length: 1200 }, (_, n) => ({ name: `tasks/${n}`, type: '5' }))
  writeFileSync(file, archiveOf([...many, store, manifestOf([store])]))
  expect((await restoreInto(fleet, file, join(fleet.root, 'plenty'))).code).toBe(0)

  // Only zeros after the end of the archive.
  const whole = archiveOf([store, manifestOf([store])])
  const zeros = spawnSync('sh', ['-c', 'head -c 100000000 /dev/zero | gzip -1'], { maxBuffer: 2 ** 26 }).stdout
  writeFileSync(file, Buffer.concat([whole, zeros]))
  await refused(fleet, file, /there is data after its end/)
})

test.skipIf(!canMount)('what the disk has no room for is refused before it is full', async () => {
  const { fleet } = await aStore()
  const disk = aSmallDisk(32)
  const file = join(fleet.root, 'bomb.tar.gz')
  await bomb(file, { name: 'notes.txt' }, 100)
  const { code, stderr } = await restoreInto(fleet, file, join(disk.path, 'home'))
  expect([code, stderr]).toEqual([expect.any(Number), expect.stringMatching(/no room/)])
  expect([code === 0, readdirSync(disk.path)]).toEqual([false, []])
})

test('parts that can act on the machine are restored only on request, and are named', { timeout: 60_000 }, async () => {
  const { fleet, project } = await aStore()
  const { path: own } = fleet.fleet.home
  const [token, key] = ['token', 'key'].map(name => readFileSync(join(own, name), 'utf8'))
  mkdirSync(join(own, 'plugins'))
  writeFileSync(join(own, 'plugins/mine.mjs'), 'export default {}')
  writeFileSync(join(own, 'plugins/mine.json'), '{}')
  writeFileSync(join(own, 'agents.json'), '[]')
  writeFileSync(join(own, 'instructions.md'), 'Be kind.')
  writeFileSync(join(own, 'fleet.toml'), 'max_concurrent = 2\n')
  await fleet.call('update_project', {
    project_id: project.id,
    checks: [{ name: 'tests', command: 'true' }],
    setup_command: 'true',
  })
  await fleet.call('add_mcp_server', { project_id: project.id, name: 'docs', command: ['docs-server'] })
  const file = join(fleet.root, 'power.tar.gz')
  expect((await fleet.fleetCommand(['backup', file, '--with-tokens'])).code).toBe(0)

  const safe = join(fleet.root, 'safe')
  const told = await restoreInto(fleet, file, safe)
  expect([told.code, told.stderr]).toEqual([0, ''])
  expect(readFileSync(join(safe, 'token'), 'utf8')).not.toBe(token)
  expect(readFileSync(join(safe, 'key'), 'utf8')).not.toBe(key)
  expect(existsSync(join(safe, 'plugins'))).toBe(false)
  expect(readFileSync(join(safe, 'agents.json'), 'utf8')).toBe('[]')
  for (const part of [
    /plugins\/.*--with-plugins/,
    /token and .*key.*--with-tokens/,
    /agents\.json/,
    /fleet\.toml/,
    /instructions\.md/,
    /docs.*docs-server/,
    /checks and setup/,
  ])
    expect(told.stdout).toMatch(part)
  expect(told.stdout).not.toContain(token)

  const all = join(fleet.root, 'all')
  const json = await restoreInto(fleet, file, all, '--with-tokens', '--with-plugins', '--json')
  expect(readFileSync(join(all, 'token'), 'utf8')).toBe(token)
  expect(readFileSync(join(all, 'plugins/mine.mjs'), 'utf8')).toBe('export default {}')
  expect(JSON.parse(json.stdout)).toMatchObject({ not_taken: [], powers: expect.any(Array) })
})
