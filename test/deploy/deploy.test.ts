import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FAMILIES, FAMILY_NAMES } from '../../src/fleet/metrics/families.ts'
import { type Series, seriesIn } from '../kit/metrics.ts'
import { programOf, WHY_SKIPPED } from '../kit/prometheus.ts'
import { aScene } from '../kit/scene.ts'
import { alertQueries, dashboardQueries, groupedBy, RULES, type Selector, selectorsIn } from './queries.ts'

/** What Prometheus itself adds. */
const BY_PROMETHEUS = ['job', 'instance']
const OF_PROMETHEUS = ['up']
/** Only a store that several servers share has these: test/postgres/equal-servers.test.ts. */
const OF_SEVERAL_SERVERS = ['fleet_lease_left_seconds', 'fleet_server_heard_seconds', 'fleet_servers']

let exported: Series[] = []
const cleanUps: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const clean of cleanUps) await clean()
})

beforeAll(async () => {
  const { fleet, project } = await aScene({ env: { FLEET_DAILY_BUDGET: '50' } }, clean => cleanUps.push(clean))
  await fleet.call('update_project', { project_id: project.id, checks: [{ name: 'there', command: 'true' }] })
  await fleet.until((await fleet.mission(project, 'echo made > made.txt')).id, 'done')
  await fleet.http('/api/disk?now=true')
  exported = seriesIn(await (await fleet.http('/metrics')).text())
})

const queries = [...dashboardQueries(), ...alertQueries()]

test('every measurement that is described is exported, and no other of ours', () => {
  const names = new Set(exported.map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')))
  const ours = [...names].filter(name => name.startsWith('fleet_')).toSorted()
  expect(ours).toEqual(FAMILY_NAMES.filter(name => !OF_SEVERAL_SERVERS.includes(name)).toSorted())
})

test('each has the labels that its description names', () => {
  for (const { name, labels } of exported) {
    const known = FAMILIES[name.replace(/_(bucket|sum|count)$/, '') as keyof typeof FAMILIES]
    const { le: _, ...own } = labels
    if (known) expect([name, Object.keys(own).toSorted()]).toEqual([name, [...known.labels].toSorted()])
  }
})

test('there are queries to check', () => {
  expect(queries.length).toBeGreaterThan(50)
  expect(queries.flatMap(({ expr }) => selectorsIn(expr)).length).toBeGreaterThan(60)
  expect(selectorsIn('sum by (le, x) (rate(a_bucket{b=~"c|d",e!="f"}[5m])) > 2 * g and on (x) h == 0')).toEqual([
    {
      name: 'a_bucket',
      matchers: [
        { label: 'b', operator: '=~', value: 'c|d' },
        { label: 'e', operator: '!=', value: 'f' },
      ],
    },
    { name: 'g', matchers: [] },
    { name: 'h', matchers: [] },
  ])
})

test.each(queries.map(query => [query.of, query]))('%s names what a real server exports', (_, { expr, shown }) => {
  const selectors = selectorsIn(expr).filter(({ name }) => !OF_PROMETHEUS.includes(name))
  const found = selectors.map(selector => ({ selector, series: exported.filter(each => matches(each, selector)) }))
  for (const { selector, series } of found) expect([selector, series.length > 0]).toEqual([selector, true])
  const labels = new Set([
    ...BY_PROMETHEUS,
    ...found.flatMap(({ series }) => series.flatMap(each => Object.keys(each.labels))),
  ])
  for (const label of [...groupedBy(expr), ...shown]) expect([label, labels.has(label)]).toEqual([label, true])
  const groups = groupedBy(expr)
  // A legend shows only what the query keeps.
  for (const label of shown) if (groups.length) expect(groups).toContain(label)
})

/** Whether the series has what the selector asks for. A label that nobody exports is a mistake, also if it is excluded. */
function matches({ name, labels }: Series, selector: Selector): boolean {
  if (name !== selector.name) return false
  return selector.matchers.every(({ label, operator, value }) => {
    if (BY_PROMETHEUS.includes(label)) return true
    if (labels[label] === undefined) return false
    const isSame = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(labels[label]) : labels[label] === value
    return operator.startsWith('!') ? !isSame : isSame
  })
}

test('promtool accepts the rules', ({ skip }) => {
  const promtool = programOf('promtool')
  if (!promtool) return skip(WHY_SKIPPED)
  const { status, stdout, stderr } = spawnSync(promtool, ['check', 'rules', RULES], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toContain('SUCCESS')
})
