import { OUTCOMES } from '../../domain/records/session.ts'
import type { Sample } from '../../platform/measurements.ts'

/** One measurement with its series. */
export interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: Sample[]
}

/**
 * Every measurement of the fleet. A name and its labels are a promise: dashboards and alerts use them. The word at the
 * end says where a counter comes from: `stored` survives a restart, `process` begins at 0 with each server.
 */
const FAMILIES = {
  fleet_info: ['gauge', 'Always 1. The label is the version of the server'],
  fleet_ready: ['gauge', '1 if the server is ready, as GET /ready says'],
  fleet_paused: ['gauge', '1 if the whole fleet is paused'],
  fleet_missions: ['gauge', 'Missions by status'],
  fleet_queue_length: ['gauge', 'Queued missions'],
  fleet_queue_blocked: ['gauge', 'Those among them that wait for missions they depend on, at most 1000'],
  fleet_queue_oldest_wait_seconds: ['gauge', 'How long the oldest mission that is ready to start has waited'],
  fleet_landing_queue_length: ['gauge', 'Missions that land or are being undone, at most 1000'],
  fleet_landing_oldest_wait_seconds: ['gauge', 'How long the oldest of them has been landing'],
  fleet_sessions_live: ['gauge', 'Sessions that have not ended, by agent'],
  fleet_slots: ['gauge', 'How many sessions may run at once'],
  fleet_hosts: ['gauge', 'Machines that run sessions of this fleet: this one, and others named by live sessions'],
  fleet_questions_open: ['gauge', 'Questions of agents without an answer, at most 1000'],
  fleet_faults: ['gauge', 'What the fleet cannot continue with now, by reactor, at most 1000'],
  fleet_spent_today_usd: ['gauge', 'What sessions cost today (UTC), with running ones as far as they report it'],
  fleet_daily_budget_usd: ['gauge', 'The daily budget of the fleet. Absent if there is none'],
  fleet_daily_budget_used_ratio: ['gauge', "The part of the day's budget that is spent. Absent if there is none"],
  fleet_disk_free_bytes: ['gauge', 'Free bytes on the disk of the home'],
  fleet_disk_required_free_bytes: ['gauge', 'Nothing starts while fewer bytes are free (min_free_disk)'],
  fleet_home_bytes: ['gauge', 'What the home used when it was last measured, by kind'],
  fleet_store_read_seconds: ['gauge', 'How long one read of the store took during this scrape'],
  fleet_unreadable_records: ['gauge', 'Records that were found damaged'],
  fleet_lease_held: ['gauge', '1 if this server decides for its home'],
  fleet_websocket_connections: ['gauge', 'Open WebSocket connections'],
  fleet_live_streams: ['gauge', 'Open event streams'],
  fleet_scrape_seconds: ['gauge', 'How long the fleet took to read these gauges'],
  fleet_sessions_ended_total: ['counter', 'Sessions that ended, by agent and outcome (stored)'],
  fleet_tokens_total: ['counter', 'Tokens that ended sessions used, by agent and kind (stored)'],
  fleet_cost_usd_total: ['counter', 'What ended sessions cost, by agent (stored)'],
  fleet_faults_total: ['counter', 'How often each reactor failed (stored)'],
  fleet_server_starts_total: ['counter', 'How often a server took over this home (stored)'],
  fleet_http_requests_total: ['counter', 'Requests by operation and class of the status (process)'],
  fleet_refusals_total: ['counter', 'Refused requests by code (process)'],
  fleet_http_request_seconds: ['histogram', 'How long requests took, by operation, without streams (process)'],
  fleet_dispatch_seconds: ['histogram', 'From queued to started, for sessions that were started (process)'],
  fleet_landing_seconds: ['histogram', 'From the request to land until it landed (process)'],
  fleet_check_seconds: ['histogram', 'How long checks ran, by result (process)'],
  fleet_store_commit_seconds: ['histogram', 'How long commits to the store took (process)'],
} as const satisfies Record<string, readonly [Family['type'], string]>

export type FamilyName = keyof typeof FAMILIES
export const FAMILY_NAMES = Object.keys(FAMILIES) as FamilyName[]

export function family(name: FamilyName, samples: Sample[]): Family {
  const [type, help] = FAMILIES[name]
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
