import * as z from 'zod'
import { Id, Timestamp } from './ids.ts'

const Items = z.array(z.string().max(4000)).max(100)
const lines = (value: unknown): unknown => (typeof value === 'string' ? value.split('\n').filter(line => line.trim()) : value)
const ItemsOrText = z.preprocess(lines, Items).default([])

/** What an agent says of its own work. Files and commits are never taken from here. */
export const Claim = z.object({
  status: z.enum(['completed', 'completed_no_changes', 'blocked']).default('completed'),
  summary: z.string().max(20_000).default(''),
  what_done: ItemsOrText,
  what_open: ItemsOrText,
  what_tested: ItemsOrText,
  what_untested: ItemsOrText,
  next_steps: ItemsOrText,
  errors_encountered: ItemsOrText,
  preview_url: z.url().max(2000).nullable().default(null),
})
export type Claim = z.infer<typeof Claim>

export const ChangedFile = z.object({
  path: z.string(),
  change: z.enum(['added', 'modified', 'deleted', 'renamed']),
  from: z.string().optional(),
})
export type ChangedFile = z.infer<typeof ChangedFile>

export const Report = Claim.extend({
  id: Id,
  mission_id: Id,
  session_id: Id,
  project_id: Id,
  source: z.enum(['agent', 'git']).describe('git: the agent gave none, so it was written from git and its last words'),
  files_changed: z.array(ChangedFile).describe('from git'),
  files_omitted: z.number().int().default(0).describe('how many more files changed than are listed'),
  commits: z.array(z.object({ commit: z.string(), subject: z.string() })).describe('from git'),
  created_at: Timestamp,
})
export type Report = z.infer<typeof Report>

/** How many changed files a report lists: keeps the record far below the size every engine can hold. */
export const MAX_FILES_LISTED = 300
export const MAX_COMMITS_LISTED = 50
