import { OUTCOMES } from '../../domain/records/session.ts'
import type { Sample } from '../../platform/measurements.ts'

/** One measurement with its series. */
export interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: Sample[]
}

interface Described {
  type: Family['type']
  labels: readonly string[]
  /**
   * `now`: read during the scrape. `stored`: it goes on counting after a restart. `process`: it begins at 0 with each
   * server, and process_start_time_seconds says when that was.
   */
  from: 'now' | 'stored' | 'process'
  help: string
}

/** Every measurement of the fleet. A name and its labels are a promise: dashboards and alerts use them. */
export const FAMILIES = {
  fleet_info: {
    type: 'gauge',
    labels: ['version'],
    from: 'now',
    help: 'Always 1. The label is the version of the server',
  },
  fleet_ready: { type: 'gauge', labels: [], from: 'now', help: '1 if the server is ready, as GET /ready says' },
  fleet_paused: { type: 'gauge', labels: [], from: 'now', help: '1 if the whole fleet is paused' },
  fleet_missions: { type: 'gauge', labels: ['status'], from: 'now', help: 'Missions by status' },
  fleet_queue_length: { type: 'gauge', labels: [], from: 'now', help: 'Queued missions' },
  fleet_queue_blocked: {
    type: 'gauge',
    labels: [],
    from: 'now',
    help: 'Those among them that wait for missions they depend on, at most 1000',
  },
  fleet_queue_oldest_wait_seconds: {
    type: 'gauge',
    labels: [],
    from: 'now',
    help: 'How long the oldest mission that is ready to start has waited',
  },
  fleet_landing_queue_length: {
    type: 'gauge',
    labels: [],
    from: 'now',
    help: 'Missions that land or are being undone, at most 1000',
  },
  fleet_landing_oldest_wait_seconds: {
    type: 'gauge',
    labels: [],
    from: 'now',
    help: 'How long the oldest of them has been landing',
  },
  fleet_sessions_live: {
    type: 'gauge',
    labels: ['agent'],
    from: 'now',
    help: 'Sessions that have not ended, by agent',
  },
  fleet_slots: { type: 'gauge', labels: [], from: 'now', help: 'How many sessions may run at once' },
  fleet_hosts: {
    type: 'gauge',
    labels: ['place'],
    from: 'now',
    help: 'Machines that run sessions of this fleet: this one, and others named by live sessions',
  },
  fleet_questions_open: {
    type: 'gauge',
    labels: [],
    from: 'now',
    help: 'Questions of agents without an answer, at most 1000',
  },
  fleet_members: {
    type: 'gauge',
    labels: ['health'],
    from: 'now',
    help: 'Agents in teams by how they are; at most 1000 that are not healthy',
  },
  fleet_member_restarts_total: {
    type: 'counter',
    labels: [],
    from: 'stored',
    help: 'How often members of teams were started again after a bad end',
  },
  fleet_faults: {
    type: 'gauge',
    labels: ['reactor'],
    from: 'now',
    help: 'What the fleet cannot continue with now, by reactor, at most 1000',
  },
  fleet_spent_today_usd: {
    type: 'gauge',
    labels: [],
    from: 'now',
    help: 'What sessions cost today (UTC), with running ones as far as they report it',
  },
  fleet_daily_budget_usd: {
    type: 'gauge',
    labels: [],
    from: 'now',
    help: 'The daily budget of the fleet. Absent if there is none',
  },
  fleet_daily_budget_used_ratio: {
    type: 'gauge',
    labels: [],
    from: 'now',
    help: "The part of the day's budget that is spent. Absent if there is none",
  },
  fleet_disk_free_bytes: { type: 'gauge', labels: [], from: 'now', help: 'Free bytes on the disk of the home' },
  fleet_disk_required_free_bytes: {
    type: 'gauge',
    labels: [],
    from: 'now',
    help: 'Nothing starts while fewer bytes are free (min_free_disk)',
  },
  fleet_home_bytes: {
    type: 'gauge',
    labels: ['kind'],
    from: 'now',
    help: 'What the home used when it was last measured, by kind',
  },
  fleet_store_read_seconds: {
    type: 'gauge',
    labels: [],
    from: 'now',
    help: 'How long one read of the store took during this scrape',
  },
  fleet_unreadable_records: { type: 'gauge', labels: [], from: 'now', help: 'Records that were found damaged' },
  fleet_lease_held: { type: 'gauge', labels: [], from: 'now', help: '1 if this server decides for its home' },
  fleet_lease_left_seconds: {
    type: 'gauge',
    labels: [],
    from: 'now',
    help: 'How long the lease of the deciding server is still valid; 0 if nobody decides. Only where servers share the store',
  },
  fleet_servers: {
    type: 'gauge',
    labels: ['role'],
    from: 'now',
    help: 'Servers that share the store: the one that decides, and those that answer. Only where they share it',
  },
  fleet_server_heard_seconds: {
    type: 'gauge',
    labels: [],
    from: 'now',
    help: 'How long ago the quietest of these servers said that it lives',
  },
  fleet_websocket_connections: { type: 'gauge', labels: [], from: 'now', help: 'Open WebSocket connections' },
  fleet_live_streams: { type: 'gauge', labels: [], from: 'now', help: 'Open event streams' },
  fleet_event_loop_lag_seconds: {
    type: 'gauge',
    labels: ['percentile'],
    from: 'now',
    help: 'How late the server reacted since the last scrape; 100 is the worst',
  },
  fleet_scrape_seconds: {
    type: 'gauge',
    labels: [],
    from: 'now',
    help: 'How long the fleet took to read these gauges',
  },
  fleet_sessions_ended_total: {
    type: 'counter',
    labels: ['agent', 'outcome'],
    from: 'stored',
    help: 'Sessions that ended, by agent and outcome',
  },
  fleet_tokens_total: {
    type: 'counter',
    labels: ['agent', 'kind'],
    from: 'stored',
    help: 'Tokens that ended sessions used, by agent and kind',
  },
  fleet_cost_usd_total: {
    type: 'counter',
    labels: ['agent'],
    from: 'stored',
    help: 'What ended sessions cost, by agent',
  },
  fleet_faults_total: { type: 'counter', labels: ['reactor'], from: 'stored', help: 'How often each reactor failed' },
  fleet_server_starts_total: {
    type: 'counter',
    labels: [],
    from: 'stored',
    help: 'How often a server took over this home',
  },
  fleet_http_requests_total: {
    type: 'counter',
    labels: ['operation', 'status'],
    from: 'process',
    help: 'Requests by operation and class of the status',
  },
  fleet_strangers_total: {
    type: 'counter',
    labels: [],
    from: 'process',
    help: 'Requests without a valid sign-in. They are in no audit log',
  },
  fleet_refusals_total: { type: 'counter', labels: ['code'], from: 'process', help: 'Refused requests by code' },
  fleet_http_request_seconds: {
    type: 'histogram',
    labels: ['operation'],
    from: 'process',
    help: 'How long requests took, by operation, without streams',
  },
  fleet_dispatch_seconds: {
    type: 'histogram',
    labels: [],
    from: 'process',
    help: 'From queued to started, for sessions that were started',
  },
  fleet_landing_seconds: {
    type: 'histogram',
    labels: [],
    from: 'process',
    help: 'From the request to land until it landed',
  },
  fleet_check_seconds: {
    type: 'histogram',
    labels: ['result'],
    from: 'process',
    help: 'How long checks ran, by result',
  },
  fleet_store_commit_seconds: {
    type: 'histogram',
    labels: [],
    from: 'process',
    help: 'How long commits to the store took',
  },
} as const satisfies Record<string, Described>

export type FamilyName = keyof typeof FAMILIES
export const FAMILY_NAMES = Object.keys(FAMILIES) as FamilyName[]

export function family(name: FamilyName, samples: Sample[]): Family {
  const { type, help } = FAMILIES[name]
  return { name, type, help, samples }
}

/** A measurement with one series. */
export const single = (name: FamilyName, value: number): Family => family(name, [{ labels: {}, value }])

/** The values of one label with their counts. Each of `always` is there even if it is 0. */
export function byLabel(
  label: string,
  counts: Readonly<Record<string, number>>,
  always: readonly string[] = [],
): Sample[] {
  const names = new Set([...always, ...Object.keys(counts)])
  return Array.from(names, name => ({ labels: { [label]: name }, value: counts[name] ?? 0 }))
}

export const OUTCOME_LABELS: readonly string[] = OUTCOMES
