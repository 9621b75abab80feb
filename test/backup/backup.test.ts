import { spawnSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Manifest } from '../../src/backup/manifest.ts'
import { aFleet, endProcess, eventually, readJson, scaled, type TestFleet } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'

const backUp = async (fleet: TestFleet, file: string, ...more: string[]) => {
  const { code, stdout, stderr } = await fleet.fleetCommand(['backup', file, '--json', ...more])
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout) as { files: number; left_out: string[] }
}

/** A home restored from a backup, and its server. */
async function restored(file: string, ...more: string[]) {
  const fleet = await aFleet()
  const env = { FLEET_HOME: join(fleet.root, 'restored') }
  const command = async (...args: string[]) => {
    const { code, stdout, stderr } = await fleet.fleetCommand(args, { env })
    expect(code, stderr).toBe(0)
    return stdout
  }
  const told = JSON.parse(await command('restore', file, '--json', ...more)) as { lost: number; asking: string[] }
  await fleet.start({ env })
  const show = async (id: string) => JSON.parse(await command('mission', 'show', id, '--json')) as Seen
  return { told, command, show, remove: () => fleet.remove() }
}

interface Seen {
  status: string
  result: string | null
  status_reason: { code: string; text: string } | null
  sessions: { id: string; outcome: string | null; status: string }[]
}

test('a backup made while missions run and land is whole, and what was at work is lost and goes on there', async () => {
  const { fleet, repo, project, gate } = await aScene({ env: { FLEET_MAX_CONCURRENT: '3' } })
  const held = gate('held')
  const long = 'x'.repeat(60_000)
  const at = await fleet.mission(project, `echo half > half.txt; git add half.txt; git commit -qm half; ${held.wait}`)
  await eventually('it is at work', () => held.reached())
  const ids: string[] = []
  let over = false
  const load = (async () => {
    for (let n = 0; !over || n < 6; n++) {
      const { id } = await fleet.mission(project, `echo ${n} > ${n}.txt; echo did ${n}; : ${long}`)
      ids.push(id)
      await fleet.until(id, 'done')
    }
  })()
  const files = Array.from({ length: scaled(2, 10) }, (_, n) => join(fleet.root, `backup-${n}.tar.gz`))
  await eventually('some have landed', () => ids.length > 1)
  for (const file of files) await backUp(fleet, file)
  over = true
  await load

  for (const file of files) {
    const folder = `${file}.unpacked`
    mkdirSync(folder)
    spawnSync('tar', ['-xzf', file, '-C', folder])
    consistent(folder)
  }
  expect(statSync(files[0]!).mode & 0o077).toBe(0)
  expect(readdirSync(fleet.root).filter(name => name.includes('being'))).toEqual([])

  // The original machine is lost, and the home with it.
  await fleet.kill()
  for (const { id } of (await fleet.show(at.id)).sessions) for (const pid of fleet.processes(id)) endProcess(pid)
  rmSync(fleet.fleet.home.path, { recursive: true })
  const copy = await restored(files.at(-1)!)
  try {
    expect(copy.told.lost).toBeGreaterThan(0)
    const lost = await copy.show(at.id)
    expect(lost).toMatchObject({ status: 'queued', sessions: [{ status: 'ended', outcome: 'lost' }] })
    const done = await copy.show(ids[0]!)
    expect(done).toMatchObject({ status: 'done', result: 'landed' })
    expect(await copy.command('logs', ids[0]!)).toContain('did 0')

    held.open()
    await copy.command('unpause')
    await eventually(
      'it was gone on with',
      async () => (await copy.show(at.id)).status === 'done',
      async () => JSON.stringify(await copy.show(at.id)),
    )
    expect((await repo.git('show', 'main:half.txt')).trim()).toBe('half')
  } finally {
    await copy.remove()
  }
}, 120_000)

/** Everything that the copy of the store refers to is there. */
function consistent(folder: string): void {
  const { files } = readJson<Manifest>(join(folder, 'manifest.json'))
  const db = new Database(join(folder, 'store.db'), { readonly: true })
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  const bodies = (collection: string) =>
    (db.prepare(`SELECT body FROM records_${collection}`).all() as { body: string }[]).map(({ body }) => body)
  const blobs = ['missions', 'sessions', 'evidence']
    .flatMap(bodies)
    .flatMap(body => body.match(/"blob":"[0-9a-f]{64}/g) ?? [])
  expect(blobs.length).toBeGreaterThan(0)
  for (const blob of blobs) expect(Object.keys(files)).toContain(`blobs/${blob.slice('"blob":"'.length)}`)
  const sessions = bodies('sessions').map(body => JSON.parse(body) as { id: string; outcome: string | null })
  for (const { id } of sessions.filter(({ outcome }) => outcome === 'completed'))
    expect(readFileSync(join(folder, `sessions/${id}/agent-1/stdout`), 'utf8')).toContain('did ')
  db.close()
}

test('a home restored beside the one it comes from leaves that alone', async () => {
  const { fleet, repo, project, gate } = await aScene()
  const [held, checked] = [gate('held'), gate('checked')]
  const { id } = await fleet.mission(project, `echo x > x.txt; ${held.wait}`)
  await eventually('it is at work', () => held.reached())
  await fleet.call('update_project', { project_id: project.id, checks: [{ name: 'c', command: checked.wait }] })
  const landing = await fleet.mission(project, 'echo y > y.txt')
  await eventually('the other one is checked', () => checked.reached())
  const file = join(fleet.root, 'backup.tar.gz')
  await backUp(fleet, file)
  const tip = await repo.git('rev-parse', 'main')
  const copy = await restored(file, '--unpaused')
  try {
    expect(copy.told).toMatchObject({ lost: 1, asking: [id], landing: [landing.id] })
    expect(await copy.show(id)).toMatchObject({
      status: 'needs_input',
      status_reason: { code: 'restored', text: expect.stringContaining(fleet.fleet.home.worktrees) },
    })
    expect(await copy.show(landing.id)).toMatchObject({ status: 'review', status_reason: { code: 'restored' } })
    expect(await repo.git('rev-parse', 'main')).toBe(tip)
    held.open()
    checked.open()
    expect(await fleet.until(landing.id, 'done')).toMatchObject({ result: 'landed' })
    expect(await fleet.until(id, 'done')).toMatchObject({ result: 'landed', sessions: [{ outcome: 'completed' }] })
  } finally {
    await copy.remove()
  }
})

test('what was cut short or changed is refused, and so is a home with something in it', async () => {
  const { fleet, project } = await aScene({ start: false })
  await fleet.call('create_mission', { project_id: project.id, title: 'a draft', detailed_prompt: 'x'.repeat(60_000) })
  writeFileSync(join(fleet.fleet.home.path, 'instructions.md'), 'Be kind.')
  const file = join(fleet.root, 'backup.tar.gz')
  const { left_out } = await backUp(fleet, file)
  expect(left_out.join()).toMatch(/token/)
  expect((await fleet.fleetCommand(['backup', file])).stderr).toContain('already exists')

  const home = join(fleet.root, 'other')
  const refused = async (archive: string, because: RegExp) => {
    const { code, stderr } = await fleet.fleetCommand(['restore', archive, '--home', home])
    expect(code, stderr).not.toBe(0)
    expect(stderr).toMatch(because)
    expect(existsSync(home)).toBe(false)
    expect(readdirSync(fleet.root).filter(name => name.includes('being'))).toEqual([])
  }
  const folder = join(fleet.root, 'unpacked')
  mkdirSync(folder)
  spawnSync('tar', ['-xzf', file, '-C', folder])
  expect(readdirSync(folder).toSorted()).toEqual(['blobs', 'instructions.md', 'manifest.json', 'store.db'])
  const altered = (change: () => void): string => {
    const archive = join(fleet.root, 'altered.tar.gz')
    change()
    spawnSync('tar', ['-czf', archive, '-C', folder, '.'])
    return archive
  }
  await refused(
    altered(() => writeFileSync(join(folder, 'instructions.md'), 'Be cruel')),
    /instructions.md was changed/,
  )
  await refused(
    altered(() => rmSync(join(folder, 'instructions.md'))),
    /instructions.md is missing/,
  )
  writeFileSync(join(folder, 'instructions.md'), 'Be kind.')
  await refused(
    altered(() => writeFileSync(join(folder, 'more'), '')),
    /more does not belong/,
  )
  rmSync(join(folder, 'more'))
  await refused(
    altered(() => spawnSync('ln', ['-s', '/etc/passwd', join(folder, 'link')])),
    /link is a link/,
  )
  for (const share of [0.3, 0.999]) {
    const cut = join(fleet.root, 'cut.tar.gz')
    spawnSync('cp', [file, cut])
    truncateSync(cut, Math.floor(statSync(file).size * share))
    await refused(cut, /is not a complete backup/)
  }

  expect((await fleet.fleetCommand(['restore', file])).stderr).toMatch(/is not empty/)
  await fleet.start()
  expect((await fleet.fleetCommand(['restore', file])).stderr).toMatch(/is used by a running fleet/)

  // Files that any command creates when it looks for a home do not count.
  await fleet.fleetCommand(['doctor', '--home', home])
  expect((await fleet.fleetCommand(['restore', file, '--home', home])).code).toBe(0)
  expect(readFileSync(join(home, 'instructions.md'), 'utf8')).toBe('Be kind.')
  expect(readFileSync(join(home, 'id'), 'utf8')).not.toBe(fleet.fleet.home.id)
})

test('what a person put into the home comes along; a backup is no part of itself, and a link to a home stays one', async () => {
  const { fleet } = await aScene({ start: false })
  const own = fleet.fleet.home.path
  writeFileSync(join(own, 'notes.txt'), 'Mine.')
  writeFileSync(join(own, 'manifest.json'), '{}')
  const within = await fleet.fleetCommand(['backup', join(own, 'below/backup.tar.gz')])
  expect([within.code, within.stderr]).toEqual([4, expect.stringContaining('is in the home itself')])
  expect(existsSync(join(own, 'below'))).toBe(false)

  const file = join(fleet.root, 'backup.tar.gz')
  expect((await backUp(fleet, file)).left_out.join()).toContain('manifest.json')
  const [linked, place, plain] = ['linked', 'place', 'plain'].map(name => join(fleet.root, name)) as [
    string,
    string,
    string,
  ]
  symlinkSync('place', linked)
  writeFileSync(plain, '')
  const restore = (home: string) => fleet.fleetCommand(['restore', file, '--home', home])
  expect(await restore(plain)).toMatchObject({ code: 4, stderr: expect.stringContaining('is not a folder') })
  const { code, stderr } = await restore(linked)
  expect(code, stderr).toBe(0)
  expect(lstatSync(linked).isSymbolicLink()).toBe(true)
  expect(readFileSync(join(place, 'notes.txt'), 'utf8')).toBe('Mine.')
})
