import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, ROOT, type TestFleet } from '../kit/fleet.ts'
import { programOf } from '../kit/prometheus.ts'
import { aScene } from '../kit/scene.ts'
import { alertQueries, dashboardQueries, RULES } from './queries.ts'

const WHY_SKIPPED = 'a real Prometheus is started only by npm run test:metrics'

interface Result {
  metric: Record<string, string>
  value: [number, string]
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Prometheus with the configuration that we ship, changed only in the address, the token's place and the pace. */
async function aPrometheus(program: string, fleet: TestFleet, url: string) {
  const folder = join(fleet.root, 'prometheus')
  mkdirSync(folder)
  const { stdout } = await fleet.fleetCommand(['metrics', '--token'])
  writeFileSync(join(folder, 'fleet-scrape-token'), stdout, { mode: 0o600 })
  const shipped = readFileSync(join(ROOT, 'deploy/prometheus/prometheus.yml'), 'utf8')
  const config = shipped
    .replace('127.0.0.1:3847', new URL(url).host)
    .replace('scrape_interval: 15s', 'scrape_interval: 1s')
  expect(config).not.toBe(shipped)
  writeFileSync(join(folder, 'prometheus.yml'), config)
  copyFileSync(RULES, join(folder, 'alerts.yml'))
  const port = await freePort()
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]
  const child = spawn(program, args, { cwd: folder, stdio: 'ignore' })
  onTestFinished(async () => {
    child.kill('SIGKILL')
  })
  const at = `http://127.0.0.1:${port}`
  return async (path: string): Promise<{ status: string; data: { result: Result[]; [more: string]: unknown } }> =>
    (await fetch(at + path)).json() as never
}

test('Prometheus scrapes a real server, and every query of the dashboard and of the alerts returns numbers', {
  timeout: 180_000,
}, async ({ skip }) => {
  const program = process.env.FLEET_TEST_PROMETHEUS ? programOf('prometheus') : undefined
  const promtool = programOf('promtool')
  if (!program || !promtool) return skip(WHY_SKIPPED)
  const { fleet, project } = await aScene({ env: { FLEET_DAILY_BUDGET: '50' } })
  const url = ((await (await fleet.http('/api/system/status')).json()) as { server: { url: string } }).server.url
  await fleet.call('update_project', { project_id: project.id, checks: [{ name: 'there', command: 'test -d .' }] })
  await fleet.http('/api/disk?now=true')
  const ask = await aPrometheus(program, fleet, url)
  const query = async (expr: string): Promise<Result[]> => {
    const { status, data } = await ask(`/api/v1/query?query=${encodeURIComponent(expr)}`)
    expect([expr, status]).toEqual([expr, 'success'])
    return data.result
  }
  await eventually('the first scrape', () =>
    query('up{job="flotilla"} == 1').then(
      found => found[0],
      () => undefined,
    ),
  )

  // A query of a rate needs something that happens between two scrapes.
  const scrapes = async () => Number((await query('count_over_time(fleet_info[10m])'))[0]?.value[1] ?? 0)
  const work = async () => {
    for (const script of ['echo $FLEET_TASK_ID > made-$FLEET_TASK_ID.txt', 'exit 1'])
      await fleet.until((await fleet.mission(project, script, { max_retries: 0 })).id, 'done', 'failed')
    await fleet.call('update_project', { project_id: project.id, checks: [{ name: 'there', command: 'false' }] })
    await fleet.until((await fleet.mission(project, 'date +%N > odd.txt')).id, 'needs_input', 'failed', 'review')
    await fleet.call('update_project', { project_id: project.id, checks: [{ name: 'there', command: 'true' }] })
    await fleet.http('/api/missions/nobody')
    return scrapes()
  }
  const before = await work()
  await eventually('more scrapes', async () => ((await scrapes()) > before + 1 ? true : undefined))
  await work()
  const last = await scrapes()
  await eventually('a scrape after the work', async () => ((await scrapes()) > last + 1 ? true : undefined))

  const isNumber = ({ value }: Result) => Number.isFinite(Number(value[1]))
  const empty: string[] = []
  for (const { of, expr } of dashboardQueries()) if (!(await query(expr)).some(isNumber)) empty.push(`${of}: ${expr}`)
  // An alert that does not fire is empty; its comparison as a number is not.
  const asNumbers = (expr: string) => expr.replace(/ (==|>|<) /g, ' $1 bool ')
  for (const { of, expr } of alertQueries())
    if (!(await query(asNumbers(expr))).some(isNumber)) empty.push(`${of}: ${expr}`)
  expect(empty).toEqual([])

  const rules = await ask('/api/v1/rules')
  const loaded = (rules.data as unknown as { groups: { rules: { name: string; health: string }[] }[] }).groups[0]!.rules
  expect(loaded).toHaveLength(alertQueries().length)
  const check = spawnSync(promtool, ['check', 'config', join(fleet.root, 'prometheus', 'prometheus.yml')], {
    encoding: 'utf8',
  })
  expect([check.status, check.stderr]).toEqual([0, ''])
  const text = await (await fleet.http('/metrics')).text()
  // promtool complains about names that are against the conventions, some of which are of Node's own metrics.
  const linted = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' })
  const complaints = linted.stdout + linted.stderr
  expect(complaints.split('\n').filter(line => line.startsWith('fleet_'))).toEqual([])
  console.log(`${dashboardQueries().length} queries of the dashboard and ${loaded.length} alerts returned numbers`)
})
