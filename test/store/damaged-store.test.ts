import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { readJson, type TestFleet } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'

async function withMissions(): Promise<{ fleet: TestFleet; ids: string[]; file: string }> {
  const { fleet, project } = await aScene({ start: false })
  const ids: string[] = []
  for (const title of ['One', 'Two', 'Three']) {
    const made = await fleet.call<{ id: string }>('create_mission', {
      project_id: project.id,
      title,
      detailed_prompt: 'true',
    })
    ids.push(made.id)
  }
  return { fleet, ids, file: fleet.fleet.home.storeFile }
}

function change(file: string, sql: string): void {
  const db = new Database(file)
  db.exec(sql)
  db.close()
}

const gone = (file: string) => {
  for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each, { force: true })
}

test.each<[string, (file: string) => unknown]>([
  ['vanished', gone],
  [
    'was emptied',
    file => {
      gone(file)
      writeFileSync(file, '')
    },
  ],
])('a store that %s is not replaced by an empty fleet, until a person says so', async (_, lose) => {
  const { fleet, file } = await withMissions()
  lose(file)
  for (const args of [['mission', 'list'], ['up', '--detach'], ['doctor']]) {
    const { code, stdout, stderr } = await fleet.fleetCommand(args)
    expect([args[0], code, stdout + stderr]).toEqual([
      args[0],
      1,
      expect.stringContaining('The store of this home is gone'),
    ])
  }
  rmSync(`${file}.made`)
  rmSync(file, { force: true })
  expect((await fleet.fleetCommand(['mission', 'list'])).code).toBe(0)
})

test.each([
  ['all missions', 'DELETE FROM records_missions'],
  ['one mission', 'DELETE FROM records_missions WHERE id = (SELECT min(id) FROM records_missions)'],
  ['projects and every index', 'DELETE FROM records_projects; DELETE FROM index_entries'],
  [
    'everything',
    ['projects', 'missions', 'sessions', 'fleet'].map(each => `DELETE FROM records_${each};`).join(' ') +
      'DELETE FROM index_entries; DELETE FROM events; DELETE FROM tallies',
  ],
])('records that were deleted from the store are missed: %s', async (_, sql) => {
  const { fleet, file } = await withMissions()
  change(file, sql)
  for (const args of [['mission', 'list'], ['up', '--detach'], ['doctor']]) {
    const { code, stdout, stderr } = await fleet.fleetCommand(args)
    expect([args[0], code, stdout + stderr]).toEqual([
      args[0],
      1,
      expect.stringMatching(/Records are missing from the store.*fleet doctor --repair/s),
    ])
  }
  expect((await fleet.fleetCommand(['doctor', '--repair'])).stdout).toContain('up to date and has no errors')
  expect((await fleet.fleetCommand(['mission', 'list'])).code).toBe(0)
})

test('what the fleet itself makes and deletes is never missed', async () => {
  const { fleet, ids } = await withMissions()
  await fleet.call('delete_mission', { mission_id: ids[0]! })
  const { stdout } = await fleet.fleetCommand(['doctor'])
  expect(stdout).toContain('up to date and has no errors')
})

test('lost indexes are noticed, and made anew by fleet doctor --repair', async () => {
  const { fleet, ids, file } = await withMissions()
  change(file, 'DELETE FROM index_entries')
  const list = await fleet.fleetCommand(['mission', 'list'])
  expect([list.code, list.stderr]).toEqual([1, expect.stringContaining('fleet doctor --repair')])
  expect((await fleet.fleetCommand(['up', '--detach'])).code).toBe(1)
  expect((await fleet.fleetCommand(['doctor', '--repair'])).stdout).toContain('up to date and has no errors')
  const { missions } = JSON.parse((await fleet.fleetCommand(['mission', 'list', '--json'])).stdout)
  expect(missions.map(({ id }: { id: string }) => id).toSorted()).toEqual(ids.toSorted())
  // If only some entries are missing, nothing reports it, but doctor does.
  change(file, "DELETE FROM index_entries WHERE name = 'missions.created'")
  const found = await fleet.fleetCommand(['doctor'])
  expect([found.code, found.stdout]).toEqual([1, expect.stringContaining('3 entries of its indexes are wrong')])
})

test.each(['{"half', '[]', 'null', '{}'])('one damaged record (%s) costs itself, not the list', async body => {
  const { fleet, ids, file } = await withMissions()
  const db = new Database(file)
  db.prepare('UPDATE records_missions SET body = ? WHERE id = ?').run(body, ids[1])
  db.close()
  const list = await fleet.fleetCommand(['mission', 'list', '--json'])
  expect(list.code).toBe(0)
  expect(
    JSON.parse(list.stdout)
      .missions.map(({ id }: { id: string }) => id)
      .toSorted(),
  ).toEqual([ids[0], ids[2]].toSorted())
  const doctor = await fleet.fleetCommand(['doctor'])
  expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringContaining(`1 damaged: missions/${ids[1]}`)])
  const shown = await fleet.fleetCommand(['mission', 'show', ids[1]!])
  expect([shown.code, shown.stderr]).toEqual([1, expect.stringMatching(/damaged/)])
  expect((await fleet.fleetCommand(['up', '--detach'])).code).toBe(0)
  // The list says that it is not complete.
  expect(list.stderr).toContain(`no list shows: missions/${ids[1]}. See fleet doctor`)
  const token = { headers: { authorization: `Bearer ${await fleet.fleet.keys.ownerToken()}` } }
  const { url } = readJson<{ url: string }>(join(fleet.fleet.home.path, 'holder.json'))
  await fetch(`${url}/api/missions`, token)
  const overview = await (await fetch(`${url}/api/overview`, token)).json()
  expect(overview).toMatchObject({ unreadable_records: 1 })
  await fleet.fleetCommand(['down'])
})
