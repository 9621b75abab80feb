import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { OPERATIONS } from '../../src/operations/index.ts'
import { COLLECTIONS, type Collection } from '../../src/store/collections.ts'
import { damageRecord, inStore } from '../kit/damage.ts'
import { eventually, type TestFleet } from '../kit/fleet.ts'
import { aScene, type Scene } from '../kit/scene.ts'

const logOf = (fleet: TestFleet): string => readFileSync(join(fleet.fleet.home.logs, 'server.log'), 'utf8')

/** Unfinished work of many kinds in one project. */
async function busyHome(): Promise<Scene> {
  const scene = await aScene({ project: { name: 'harbour', landing: 'review', preview_command: 'exec sleep 600' } })
  const { fleet, project, gate } = scene
  const named = { project_id: project.id }
  const over = await fleet.mission(project, 'echo x > x.txt')
  await fleet.until(over.id, 'review')
  await fleet.call('comment_mission', { mission_id: over.id, body: 'look again' })
  await fleet.call('start_preview', { mission_id: over.id })
  await fleet.mission(project, gate('work').wait)
  const scheduled = await fleet.call<{ id: string }>('create_mission', { ...named, title: 's', prompt: 'true' })
  await fleet.call('schedule_mission', { mission_id: scheduled.id, cron: '@hourly' })
  await fleet.call('create_workflow', { ...named, stages: [{ name: 'one', prompt: gate('stage').wait }] })
  await fleet.call('pause')
  await fleet.call('unpause')
  await eventually('both are at work', () => gate('work').reached() && gate('stage').reached())
  return scene
}

const HOLDS_OTHERS: readonly Collection[] = ['projects', 'missions', 'sessions']

interface Damage {
  name: string
  mend(): void | Promise<void>
}

/** Makes a record of a project or of the fleet unreadable. If the home has none, adds one that is unreadable. */
async function damage(fleet: TestFleet, collection: Collection, project: string): Promise<Damage> {
  const table = `records_${collection}`
  const found = inStore(fleet, db =>
    db.prepare(`SELECT id FROM ${table} ORDER BY instr(body, ?) = 0, rowid DESC LIMIT 1`).get(`"${project}"`),
  ) as { id: string } | undefined
  if (found) return { name: `${collection}/${found.id}`, mend: await damageRecord(fleet, collection, found.id) }
  const change = (sql: string, ...values: unknown[]) => inStore(fleet, db => db.prepare(sql).run(...values))
  change(`INSERT INTO ${table} VALUES ('odd', 1, '{"half')`)
  change('UPDATE tallies SET records = records + 1 WHERE collection = ?', collection)
  for (const index of Object.keys(COLLECTIONS[collection].indexes))
    change('INSERT INTO index_entries VALUES (?, ?, ?)', `${collection}.${index}`, Buffer.from('x'), 'odd')
  const mend = () => {
    change(`DELETE FROM ${table} WHERE id = 'odd'`)
    change('UPDATE tallies SET records = records - 1 WHERE collection = ?', collection)
    change("DELETE FROM index_entries WHERE id = 'odd'")
  }
  return { name: `${collection}/odd`, mend }
}

/** Other collections are read only on request. */
const READ_BY_THE_SERVER: readonly Collection[] = [
  ...(['projects', 'missions', 'sessions', 'workflows', 'schedules', 'processes', 'questions'] as const),
  ...(['plans', 'loops'] as const),
]
/** Collections that others depend on come last, because without them the others would stop. */
const ORDER = (Object.keys(COLLECTIONS) as Collection[]).toSorted(
  (one, other) => Number(HOLDS_OTHERS.includes(one)) - Number(HOLDS_OTHERS.includes(other)),
)

/** Everything that can be asked about the whole fleet, and was refused. */
async function failingLists(fleet: TestFleet): Promise<string[]> {
  const lists = OPERATIONS.filter(({ kind, input }) => kind === 'query' && input.safeParse({}).success)
  const failed: string[] = []
  for (const { name, http } of lists) {
    if (http.includes('/:')) continue
    const answer = await fleet.http(http.slice(http.indexOf('/')))
    // A plugin or an agent may be missing on this machine, but nothing may be damaged or break.
    if (answer.status === 422 || answer.status >= 500) failed.push(`${name}: ${answer.status} ${await answer.text()}`)
  }
  return failed
}

test('a damaged record of any kind stops nobody else, and is named', { timeout: 300_000 }, async () => {
  const { fleet, project, repository } = await busyHome()
  const other = await repository()
  const ship = await fleet.project(other.path, { name: 'ship' })
  let mendLast: Damage['mend'] = () => {}
  for (const collection of ORDER) {
    await fleet.kill()
    await mendLast()
    const { name, mend } = await damage(fleet, collection, project.id)
    mendLast = mend
    await fleet.start()
    const { id } = await fleet.mission(ship, `echo ${collection} > ${collection}.txt`)
    const { status, status_reason } = await fleet.until(id, 'done', 'failed')
    expect([collection, status, status_reason]).toEqual([collection, 'done', null])
    expect(await other.readOn('main', `${collection}.txt`)).toBe(collection)
    expect(await failingLists(fleet), `lists beside a damaged record of ${collection}`).toEqual([])
    const told = () => fleet.fleetCommand(['status'])
    expect([collection, (await told()).code]).toEqual([collection, 0])
    if (!READ_BY_THE_SERVER.includes(collection)) continue
    await eventually(`${name} is named`, async () => (await told()).stdout.includes(name))
    expect(await fleet.call('get_overview')).toMatchObject({ faults: expect.any(Number) })
    expect(logOf(fleet), collection).toContain(name)
  }
  await fleet.kill()
  await mendLast()
  await fleet.start()
  await fleet.fleetCommand(['doctor', '--retry'])
  await eventually(
    'nothing is stuck any more',
    async () => !(await fleet.fleetCommand(['status'])).stdout.includes('Stuck'),
    async () => (await fleet.fleetCommand(['status'])).stdout,
  )
})

test('records that the fleet keeps for itself, with fields of other types, keep nobody from working', async () => {
  const { fleet, repo, project } = await aScene()
  await fleet.call('pause')
  await fleet.call('unpause')
  await fleet.kill()
  inStore(fleet, db => {
    for (const table of ['fleet', 'lease', 'migrations', 'counts'])
      for (const { id } of db.prepare(`SELECT id FROM records_${table}`).all() as { id: string }[]) {
        const body = JSON.stringify({ id, epoch: 'x', steps: 'x', paused: [], counts: 7, fault_counts: null })
        db.prepare(`UPDATE records_${table} SET body = ? WHERE id = ?`).run(body, id)
      }
    const windows = JSON.stringify({ id: 'shell', held_until: null, reason: '', windows: 'x', updated_at: 'x' })
    db.prepare("INSERT INTO records_providers VALUES ('shell', 1, ?)").run(windows)
    db.prepare("UPDATE tallies SET records = records + 1 WHERE collection = 'providers'").run()
  })
  await fleet.start()
  const { id } = await fleet.mission(project, 'echo a > a.txt')
  await fleet.until(id, 'done')
  expect(await repo.readOn('main', 'a.txt')).toBe('a')
  expect(await failingLists(fleet)).toEqual([])
  expect((await fleet.fleetCommand(['status'])).code).toBe(0)
})

test('a damaged event stops nobody, and doctor names it', async () => {
  const { fleet, repo, project } = await aScene()
  inStore(fleet, db => db.prepare("INSERT INTO events (body) VALUES ('{\"half')").run())
  const { id } = await fleet.mission(project, 'echo a > a.txt')
  await fleet.until(id, 'done')
  expect(await repo.readOn('main', 'a.txt')).toBe('a')
  expect(await failingLists(fleet)).toEqual([])
  const { stdout } = await fleet.fleetCommand(['doctor'])
  expect(stdout).toMatch(/1 damaged: events\/\d+/)
})
