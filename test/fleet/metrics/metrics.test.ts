import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { fill } from '../../../bench/past.ts'
import { eventually, type TestFleet } from '../../kit/fleet.ts'
import { counterNames, type Series, seriesIn, valueIn } from '../../kit/metrics.ts'
import { aScene } from '../../kit/scene.ts'

async function scrape(fleet: TestFleet): Promise<{ series: Series[]; text: string; ms: number }> {
  const began = performance.now()
  const answer = await fleet.http('/metrics')
  expect(answer.status).toBe(200)
  const text = await answer.text()
  return { series: seriesIn(text), text, ms: performance.now() - began }
}

/** Counts the rows themselves, with none of our code. */
function rowsOf(fleet: TestFleet, table: string, ...fields: string[]): Record<string, number> {
  const db = new Database(fleet.fleet.home.storeFile, { readonly: true })
  try {
    const keys = fields.map(field => `(body ->> '$.${field}')`).join(` || ' ' || `)
    const rows = db.prepare(`SELECT ${keys} AS key, count(*) AS count FROM records_${table} GROUP BY 1`).all()
    return Object.fromEntries((rows as { key: string; count: number }[]).map(({ key, count }) => [key, count]))
  } finally {
    db.close()
  }
}

/** What a gauge says, by the values of its labels; zeros left out. */
const said = (series: readonly Series[], name: string, ...labels: string[]): Record<string, number> =>
  Object.fromEntries(
    series
      .filter(each => each.name === name && each.value !== 0)
      .map(({ labels: given, value }) => [labels.map(label => given[label]).join(' '), value]),
  )

function expectAsStored(fleet: TestFleet, series: readonly Series[]): void {
  expect(said(series, 'fleet_missions', 'status')).toEqual(rowsOf(fleet, 'missions', 'status'))
  const sessions = Object.entries(rowsOf(fleet, 'sessions', 'agent', 'outcome'))
  const ended = Object.fromEntries(sessions.filter(([key]) => key !== 'null'))
  expect(said(series, 'fleet_sessions_ended_total', 'agent', 'outcome')).toEqual(ended)
}

const OVER = ['done', 'failed', 'cancelled', 'review', 'needs_input']

test('after 200 missions the gauges are what the store says, and a kill keeps counters honest', {
  timeout: 300_000,
}, async () => {
  const { fleet, project } = await aScene({ env: { FLEET_MAX_CONCURRENT: '8', FLEET_MAX_RETRIES: '0' } })
  await fleet.call('update_project', { project_id: project.id, checks: [{ name: 'there', command: 'test -d .' }] })
  const works = 'echo $FLEET_TASK_ID > made-$FLEET_TASK_ID.txt'
  // The last changes nothing, which is a failure too.
  const scripts = [works, 'exit 3', 'sleep 600', works, 'true']
  const missions = await Promise.all(
    Array.from({ length: 200 }, (_, i) => fleet.mission(project, scripts[i % scripts.length]!)),
  )
  const endless = missions.filter((_, i) => i % scripts.length === 2)
  // Some are cancelled in the queue, some at work.
  const cancelling = (async () => {
    for (const { id } of endless) await fleet.call('cancel_mission', { mission_id: id })
  })()
  await eventually(
    'half of them to be over',
    async () => {
      const rows = rowsOf(fleet, 'missions', 'status')
      return OVER.reduce((sum, status) => sum + (rows[status] ?? 0), 0) >= 100 || undefined
    },
    undefined,
    200_000,
  )
  const before = await scrape(fleet)
  await cancelling
  await fleet.kill()
  await fleet.start()
  const after = await scrape(fleet)
  const isNew =
    valueIn(after.series, 'process_start_time_seconds')! > valueIn(before.series, 'process_start_time_seconds')!
  const names = counterNames(before.text)
  const decreased = before.series
    .filter(({ name }) => names.some(each => name === each || name.startsWith(`${each}_`)))
    .filter(({ name, labels, value }) => (valueIn(after.series, name, labels) ?? 0) < value)
    .map(({ name }) => name)
  expect(isNew).toBe(true)
  // What is stored goes on counting; only what a process counts begins anew, and the start time says so.
  expect(decreased.filter(name => STORED.some(each => name.startsWith(each)))).toEqual([])
  expect(valueIn(after.series, 'fleet_server_starts_total')).toBe(
    valueIn(before.series, 'fleet_server_starts_total')! + 1,
  )

  for (const { id } of missions) await fleet.until(id, ...OVER)
  await eventually('every session to have ended', async () => !rowsOf(fleet, 'sessions', 'status').running || undefined)
  const { series } = await scrape(fleet)
  expectAsStored(fleet, series)
  expect(Object.values(rowsOf(fleet, 'missions', 'status')).reduce((a, b) => a + b)).toBe(200)
  expect(said(series, 'fleet_missions', 'status')).toMatchObject({ cancelled: 40, failed: 80, done: 80 })
  expect(valueIn(series, 'fleet_landing_queue_length')).toBe(0)
  expect(valueIn(series, 'fleet_queue_length')).toBe(0)
  expect(said(series, 'fleet_sessions_live', 'agent')).toEqual({})
  expect(valueIn(series, 'fleet_landing_seconds_count')).toBeGreaterThan(0)
  expect(valueIn(series, 'fleet_check_seconds_count', { result: 'passed' })).toBeGreaterThan(0)
  expect(valueIn(series, 'fleet_dispatch_seconds_count')).toBeGreaterThan(0)

  await waitingWork(fleet, project)
})

const STORED = [
  ...['fleet_sessions_ended_total', 'fleet_tokens_total', 'fleet_cost_usd_total', 'fleet_faults_total'],
  'fleet_server_starts_total',
]

/** The queue as it is: with a pause nothing leaves it. */
async function waitingWork(fleet: TestFleet, project: { id: string }): Promise<void> {
  await fleet.call('pause', {})
  const first = await fleet.mission(project, 'true')
  for (let i = 0; i < 5; i++) await fleet.mission(project, 'true')
  await fleet.mission(project, 'true', { depends_on: [first.id] })
  await fleet.mission(project, 'true', { auto_dispatch: false })
  const { series } = await scrape(fleet)
  expectAsStored(fleet, series)
  expect(valueIn(series, 'fleet_paused')).toBe(1)
  expect(valueIn(series, 'fleet_queue_length')).toBe(7)
  expect(valueIn(series, 'fleet_queue_blocked')).toBe(1)
  const { queued_at } = (await fleet.fleet.store.get('missions', first.id))!.value
  const waited = (Date.now() - Date.parse(queued_at!)) / 1000
  const told = valueIn(series, 'fleet_queue_oldest_wait_seconds')!
  expect(told).toBeGreaterThan(0)
  expect(told).toBeLessThanOrEqual(waited)
}

test('a scrape costs about the same with 10,000 finished missions as with none', { timeout: 180_000 }, async () => {
  const median = async (fleet: TestFleet): Promise<number> => {
    await scrape(fleet)
    const times: number[] = []
    for (let i = 0; i < 9; i++) times.push((await scrape(fleet)).ms)
    return times.toSorted((a, b) => a - b)[4]!
  }
  const young = await aScene()
  const empty = await median(young.fleet)
  const { fleet } = await aScene({ start: false })
  await fill(fleet.fleet, 10_000)
  await fleet.start()
  // An earlier version kept no totals. The server counts the sessions once.
  await eventually(
    'the totals',
    async () => (await fleet.fleet.store.get('counts', 'missions'))?.value.totals ?? undefined,
  )
  const full = await median(fleet)
  console.log(`a scrape: ${empty.toFixed(1)} ms in an empty home, ${full.toFixed(1)} ms with 10,000 finished missions`)
  expectAsStored(fleet, (await scrape(fleet)).series)
  // To read all of them takes a second.
  expect(full).toBeLessThan(empty * 3 + 50)
})
