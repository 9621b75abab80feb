import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { clipped } from '../text.ts'
import { OUTCOMES, type Outcome } from './session.ts'

const Items = z.array(z.string().max(4000)).max(100)
const lines = (value: unknown): unknown =>
  typeof value === 'string' ? value.split('\n').filter(line => line.trim()) : value
const ItemsOrText = z.preprocess(lines, Items).default([])

/** People open it with a click, so it must not be a script. */
export const PreviewUrl = z.url({ protocol: /^https?$/ }).max(2000)

const ClaimedStatus = z.enum(['completed', 'completed_no_changes', 'blocked'])
type ClaimedStatus = z.infer<typeof ClaimedStatus>

const ClaimedTest = z.preprocess(
  value => (typeof value === 'string' ? { details: value } : value),
  z.object({
    command: z.string().max(4000).nullable().default(null),
    status: z.string().max(100).default('claimed'),
    details: z.string().max(4000).default(''),
  }),
)

/** What an agent says about its own work. Files and commits are never taken from here. */
export const Claim = z.object({
  status: ClaimedStatus.default('completed'),
  summary: z.string().max(20_000).default(''),
  what_done: ItemsOrText,
  what_open: ItemsOrText,
  what_tested: ItemsOrText,
  what_untested: ItemsOrText,
  tests: z.array(ClaimedTest).max(100).default([]).describe('the tests it says it ran'),
  next_steps: ItemsOrText,
  errors_encountered: ItemsOrText,
  preview_url: PreviewUrl.nullable().default(null),
  files_claimed: ItemsOrText.describe('what it says it changed; files_changed is what git saw'),
})
export type Claim = z.infer<typeof Claim>

export const ChangedFile = z.object({
  path: z.string(),
  change: z.enum(['added', 'modified', 'deleted', 'renamed']),
  from: z.string().optional(),
})
export type ChangedFile = z.infer<typeof ChangedFile>

export const Report = Claim.extend({
  status: z
    .enum(['completed', 'completed_no_changes', ...OUTCOMES.filter(outcome => outcome !== 'completed')])
    .default('completed')
    .describe("how the session ended; the agent's own status counts only if it ended well"),
  claimed_status: ClaimedStatus.nullable().default(null).describe('what the agent itself said'),
  id: Id,
  mission_id: Id,
  session_id: Id,
  project_id: Id,
  source: z
    .enum(['agent', 'git'])
    .describe('git: the agent gave no report, so this one was made from git and its last words'),
  problem: z
    .string()
    .max(1000)
    .nullable()
    .default(null)
    .describe("what was wrong with the agent's own, if it gave one"),
  candidate: z.string().nullable().default(null).describe('the commit it describes; empty: there is none'),
  files_changed: z.array(ChangedFile).describe('from git'),
  files_omitted: z.number().int().default(0).describe('how many more files changed than are listed'),
  commits: z.array(z.object({ commit: z.string(), subject: z.string() })).describe('from git'),
  created_at: Timestamp,
})
export type Report = z.infer<typeof Report>

/**
 * The outcome of an agent that ended well. It says itself whether it is blocked; git says whether it changed anything.
 */
export function statusOf(outcome: Outcome, claimed: ClaimedStatus | null, changed: boolean): Report['status'] {
  if (outcome !== 'completed') return outcome
  if (claimed === 'blocked') return 'blocked'
  return changed ? 'completed' : 'completed_no_changes'
}

const FILES_BYTES = 30_000
const COMMITS_BYTES = 8000
const ITEMS_BYTES = 6000
const SUMMARY_BYTES = 15_000
export const CLAIMED_LISTS = [
  'what_done',
  'what_open',
  'what_tested',
  'what_untested',
  'next_steps',
  'errors_encountered',
  'files_claimed',
] as const

/** The same report, small enough for every store, whatever an agent claims. Cuts are marked. */
export function fitted(report: Report): Report {
  const files_changed = firstOf(report.files_changed, FILES_BYTES)
  const lists = CLAIMED_LISTS.map(name => [name, shortened(report[name])])
  return {
    ...report,
    ...Object.fromEntries(lists),
    tests: firstOf(report.tests, ITEMS_BYTES),
    summary: shortText(report.summary, SUMMARY_BYTES),
    files_changed,
    files_omitted: report.files_omitted + report.files_changed.length - files_changed.length,
    commits: firstOf(report.commits, COMMITS_BYTES),
  }
}

function shortened(items: string[]): string[] {
  const kept = firstOf(items, ITEMS_BYTES)
  return kept.length === items.length ? items : [...kept, `… and ${items.length - kept.length} more`]
}

const encoder = new TextEncoder()
const bytesOf = (value: unknown): number => encoder.encode(JSON.stringify(value)).length

/** As many items from the start as fit. */
function firstOf<T>(items: readonly T[], bytes: number): T[] {
  let left = bytes
  const end = items.findIndex(item => {
    left -= bytesOf(item)
    return left < 0
  })
  return items.slice(0, end === -1 ? undefined : end)
}

function shortText(text: string, bytes: number): string {
  return bytesOf(text) <= bytes ? text : shortText(clipped(text, Math.floor(text.length / 2)), bytes)
}
