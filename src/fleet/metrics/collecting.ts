import { AGENTS } from '../../agents/index.ts'
import { StoreTrouble, Unavailable } from '../../domain/errors.ts'
import type { Totals } from '../../domain/records/fleet.ts'
import { HEALTH_STATES } from '../../domain/records/health.ts'
import { STATUSES } from '../../domain/records/mission.ts'
import type { Usage } from '../../domain/records/session.ts'
import { LEASE } from '../../domain/records/store.ts'
import { OTHER_AGENT } from '../../domain/rules/totals.ts'
import { type Sample, secondsBetween } from '../../platform/measurements.ts'
import { VERSION } from '../../platform/version.ts'
import { countsAndTotals } from '../counts.ts'
import { lastUse } from '../disk/use.ts'
import { freeDisk, liveSessions } from '../dispatch/capacity.ts'
import { dayOf, spentSince } from '../dispatch/holds.ts'
import type { Fleet } from '../fleet.ts'
import { fleetState } from '../records.ts'
import { teamsOf } from '../teams/teams.ts'
import { byLabel, type Family, family, OUTCOME_LABELS, single } from './families.ts'
import { loopLag } from './loop-lag.ts'
import { leaseOf, readiness } from './readiness.ts'

/** Every agent, question or landing at work is in a small index. No scrape reads more of one than this. */
const MOST_READ = 1000

/**
 * Everything that is measured, as it is now. The state comes from the store's counts and from indexes that hold
 * unfinished work only, so finished work costs nothing.
 */
export async function collect(fleet: Fleet): Promise<Family[]> {
  const began = performance.now()
  const parts = await Promise.all(
    [work, landing, atWork, members, money, disk, faults, server].map(part => asFarAsKnown(part(fleet))),
  )
  return [...parts.flat(), ...ofThisProcess(fleet), single('fleet_scrape_seconds', secondsSince(began))]
}

/** What a store in trouble does not tell is absent. The rest says that it is in trouble. */
const asFarAsKnown = (part: Promise<Family[]>): Promise<Family[]> =>
  part.catch(error => {
    if (error instanceof Unavailable || error instanceof StoreTrouble) return []
    throw error
  })

const secondsSince = (began: number): number => (performance.now() - began) / 1000
const tallied = <T>(items: readonly T[], key: (item: T) => string): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(items, key)].map(([name, group]) => [name, group.length]))

/** Built-in agents are there from the start, so that a rate sees the first session of each. */
const BUILT_IN = (): string[] => AGENTS.map(({ name }) => name)

async function work(fleet: Fleet): Promise<Family[]> {
  const { store } = fleet
  const [{ counts, totals }, oldest, blocked] = await Promise.all([
    countsAndTotals(fleet),
    store.find('missions', { index: 'ready_since', limit: 1 }),
    store.find('missions', { index: 'unready', limit: MOST_READ }),
  ])
  const [first] = oldest.items.map(({ value }) => value)
  return [
    family('fleet_missions', byLabel('status', counts, STATUSES)),
    single('fleet_queue_length', counts.queued ?? 0),
    single('fleet_queue_blocked', blocked.items.length),
    single('fleet_queue_oldest_wait_seconds', first ? waited(fleet, first.queued_at ?? first.created_at) : 0),
    family('fleet_sessions_ended_total', ended(totals)),
    family('fleet_tokens_total', tokens(totals)),
    family('fleet_cost_usd_total', byLabel('agent', perAgent(totals, 'cost_usd'), BUILT_IN())),
  ]
}

const perAgent = ({ usage }: Totals, key: keyof Usage): Record<string, number> =>
  Object.fromEntries(Object.entries(usage).map(([agent, used]) => [agent, used[key]]))

function ended({ sessions }: Totals): Sample[] {
  const agents = new Set([...BUILT_IN(), ...Object.keys(sessions)])
  return [...agents].flatMap(agent =>
    byLabel('outcome', sessions[agent] ?? {}, OUTCOME_LABELS).map(({ labels, value }) => ({
      labels: { agent, ...labels },
      value,
    })),
  )
}

const TOKENS = {
  input: 'input_tokens',
  output: 'output_tokens',
  cache_read: 'cache_read_tokens',
  cache_write: 'cache_write_tokens',
} as const

const tokens = (totals: Totals): Sample[] =>
  Object.entries(TOKENS).flatMap(([kind, key]) =>
    byLabel('agent', perAgent(totals, key), BUILT_IN()).map(({ labels, value }) => ({
      labels: { ...labels, kind },
      value,
    })),
  )

const waited = (fleet: Fleet, since: string): number => Math.max(0, secondsBetween(since, fleet.now()))

async function landing(fleet: Fleet): Promise<Family[]> {
  const { items } = await fleet.store.find('missions', { index: 'landing', limit: MOST_READ })
  const [oldest] = items.map(({ value }) => value.landing_at ?? value.updated_at).toSorted()
  return [
    single('fleet_landing_queue_length', items.length),
    single('fleet_landing_oldest_wait_seconds', oldest ? waited(fleet, oldest) : 0),
  ]
}

async function atWork(fleet: Fleet): Promise<Family[]> {
  const [live, questions] = await Promise.all([
    liveSessions(fleet),
    fleet.store.find('questions', { index: 'open', limit: MOST_READ }),
  ])
  const known = new Set(fleet.agents.all.map(({ name }) => name))
  const agents = tallied(live, ({ agent }) => (known.has(agent) ? agent : OTHER_AGENT))
  const elsewhere = new Set(live.flatMap(({ host }) => host ?? [])).difference(new Set([fleet.home.host]))
  return [
    family('fleet_sessions_live', byLabel('agent', agents, BUILT_IN())),
    single('fleet_slots', fleet.settings.maxConcurrent),
    family('fleet_hosts', byLabel('place', { here: 1, elsewhere: elsewhere.size })),
    single('fleet_questions_open', questions.items.length),
  ]
}

async function members(fleet: Fleet): Promise<Family[]> {
  const [teams, ill, { totals }] = await Promise.all([
    teamsOf(fleet),
    fleet.store.find('members', { index: 'ill', limit: MOST_READ }),
    countsAndTotals(fleet),
  ])
  const agents = teams.flatMap(({ roster }) => roster.filter(({ is_agent }) => is_agent)).length
  const states = tallied(ill.items, ({ value }) => value.health.state)
  const counted = { ...states, healthy: Math.max(0, agents - ill.items.length) }
  return [
    family('fleet_members', byLabel('health', counted, HEALTH_STATES)),
    single('fleet_member_restarts_total', totals.restarts),
  ]
}

async function money(fleet: Fleet): Promise<Family[]> {
  const { rows } = await spentSince(fleet, dayOf(fleet.now()))
  const spent = rows.reduce((sum, { cost_usd }) => sum + cost_usd, 0)
  const budget = fleet.settings.dailyBudget
  const whereSet = (value: number): Sample[] => (budget === null ? [] : [{ labels: {}, value }])
  return [
    single('fleet_spent_today_usd', spent),
    family('fleet_daily_budget_usd', whereSet(budget ?? 0)),
    family('fleet_daily_budget_used_ratio', whereSet(budget ? spent / budget : 1)),
  ]
}

async function disk(fleet: Fleet): Promise<Family[]> {
  const used = lastUse(fleet)
  const kinds = used && {
    worktrees: used.worktrees.bytes + used.repositories.bytes,
    warm: used.warm.bytes,
    transcripts: used.transcripts.bytes,
    store: used.store,
    total: used.total_bytes,
  }
  return [
    single('fleet_disk_free_bytes', freeDisk(fleet)),
    single('fleet_disk_required_free_bytes', fleet.settings.minFreeDisk),
    family('fleet_home_bytes', kinds ? byLabel('kind', kinds) : []),
  ]
}

async function faults(fleet: Fleet): Promise<Family[]> {
  const [{ items }, { value: state }] = await Promise.all([
    fleet.store.find('faults', { index: 'since', limit: MOST_READ }),
    fleetState(fleet),
  ])
  const open = tallied(items, ({ value }) => value.reactor)
  const names = fleet.measurements.reactors
  return [
    family('fleet_faults', byLabel('reactor', open, names)),
    family('fleet_faults_total', byLabel('reactor', state.fault_counts, names)),
    single('fleet_paused', state.paused ? 1 : 0),
  ]
}

async function sharing({ store: { heartbeats } }: Fleet): Promise<Family[]> {
  if (!heartbeats) return []
  const [{ leftMs, server: decider }, servers] = await Promise.all([heartbeats.held(), heartbeats.servers()])
  const deciding = leftMs > 0 && servers.some(({ id }) => id === decider?.id) ? 1 : 0
  return [
    single('fleet_lease_left_seconds', Math.max(0, leftMs) / 1000),
    family('fleet_servers', byLabel('role', { decides: deciding, answers: servers.length - deciding })),
    single('fleet_server_heard_seconds', Math.max(0, ...servers.map(({ quietMs }) => quietMs)) / 1000),
  ]
}

async function server(fleet: Fleet): Promise<Family[]> {
  const began = performance.now()
  const lease = (await fleet.store.get('lease', LEASE).catch(() => undefined))?.value
  const read = secondsSince(began)
  const [{ ready }, state, shared] = await Promise.all([readiness(fleet), leaseOf(fleet), sharing(fleet)])
  return [
    ...shared,
    family('fleet_info', [{ labels: { version: VERSION }, value: 1 }]),
    single('fleet_ready', ready ? 1 : 0),
    single('fleet_lease_held', state === 'held' ? 1 : 0),
    family('fleet_server_starts_total', lease ? [{ labels: {}, value: lease.epoch }] : []),
    single('fleet_store_read_seconds', read),
    single('fleet_unreadable_records', fleet.store.unreadable.size),
  ]
}

function ofThisProcess({ measurements: seen }: Fleet): Family[] {
  return [
    single('fleet_websocket_connections', seen.sockets),
    single('fleet_live_streams', seen.streams),
    family('fleet_event_loop_lag_seconds', loopLag()),
    family('fleet_http_requests_total', seen.requests.samples()),
    single('fleet_strangers_total', seen.strangers),
    family('fleet_refusals_total', seen.refusals.samples()),
    family('fleet_http_request_seconds', seen.requestSeconds.samples()),
    family('fleet_dispatch_seconds', seen.dispatchSeconds.samples()),
    family('fleet_landing_seconds', seen.landingSeconds.samples()),
    family('fleet_check_seconds', seen.checkSeconds.samples()),
    family('fleet_store_commit_seconds', seen.commitSeconds.samples()),
  ]
}
