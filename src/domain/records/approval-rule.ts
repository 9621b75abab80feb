import * as z from 'zod'
import { Id, Timestamp } from '../ids.ts'
import { allowanceOf, toolKind } from '../rules/tool-words.ts'

/** `session`: the conversation that asked, even after it was parked. `project`: every mission of the project. */
export const RULE_SCOPES = ['session', 'project'] as const
export const RuleScope = z.enum(RULE_SCOPES)
export type RuleScope = z.infer<typeof RuleScope>

export const MAX_SUBJECT_CHARS = 8000

/** A person's standing answer: the same tool with the same command or files is allowed without a question. */
export const ApprovalRule = z.object({
  id: Id.describe('derived from what it covers, so each rule exists once'),
  scope: RuleScope,
  project_id: Id,
  mission_id: Id.nullable().describe('the mission of its session'),
  session_id: Id.nullable().describe('the session in which its conversation began'),
  tool: z.string().max(200),
  subject: z.string().max(MAX_SUBJECT_CHARS).describe('exactly what is allowed, as JSON'),
  question_id: Id.describe('the question that a person answered with this rule'),
  agent: z
    .string()
    .max(60)
    .nullable()
    .default(null)
    .describe('the agent that asked; empty for rules of earlier versions'),
  created_by: z.string().max(120),
  created_at: Timestamp,
  uses: z.number().int().min(0).default(0).describe('how often it has answered'),
  last_used_at: Timestamp.nullable().default(null),
})
export type ApprovalRule = z.infer<typeof ApprovalRule>

/** Fields that only describe a request. Two requests that differ in these alone are the same. */
const NOT_COMPARED = new Set(['description', 'reason', 'timeout'])
const PLACES = new Set(['cwd', 'workdir'])

interface Wanted {
  input: unknown
  /** The files it changes, as the agent names them; none if it changes no file. */
  files: readonly string[]
  worktree: string | null
}

/** What a rule from this request would cover; null if no rule can be made. */
export function subjectOf({ input, files, worktree }: Wanted): string | null {
  const subject = files.length ? filesIn(files, worktree) : fieldsIn(input, worktree)
  const text = subject === null ? null : canonical(subject)
  return text === null || text.length > MAX_SUBJECT_CHARS ? null : text
}

/** A changed file is identified by its path in the worktree. No rule is made for files outside it. */
function filesIn(files: readonly string[], worktree: string | null): object | null {
  const inside = files.map(file => insideOf(file, worktree))
  return inside.includes(null) ? null : { files: [...new Set(inside)].sort() }
}

function fieldsIn(input: unknown, worktree: string | null): object | null {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null
  const fields = Object.entries(input).filter(([name, value]) => !NOT_COMPARED.has(name) && value !== null)
  if (!fields.length) return null
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      PLACES.has(name) && typeof value === 'string' ? (insideOf(value, worktree) ?? value) : value,
    ]),
  )
}

/** The path from the worktree; null if it is not inside. Every mission has its own worktree. */
function insideOf(path: string, worktree: string | null): string | null {
  const plain = worktree && path.startsWith('/') ? relative(path, worktree) : path
  if (plain === null || plain.startsWith('/') || plain.includes('\0')) return null
  const parts = plain.split('/').filter(part => part !== '' && part !== '.')
  return parts.includes('..') || parts[0] === '.git' ? null : `./${parts.join('/')}`
}

function relative(path: string, worktree: string): string | null {
  if (path === worktree) return '.'
  return path.startsWith(`${worktree}/`) ? path.slice(worktree.length + 1) : null
}

/** JSON with sorted field names, so that the same request is the same text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  )
}

/** The files that a rule is about; none if it is about something else. */
export function filesOf(subject: string): string[] {
  const { files, ...rest } = JSON.parse(subject) as { files?: unknown }
  return Array.isArray(files) && Object.keys(rest).length === 0 ? files.map(String) : []
}

/** What a rule covers, in words. */
export function coverage(tool: string, subject: string): string {
  const files = filesOf(subject)
  const kind = toolKind(tool)
  const named = tool ? `${allowanceOf(tool)} (${tool})` : allowanceOf(tool)
  if (files.length)
    return kind === 'edit'
      ? `Change ${files.join(', ')}, whatever the change`
      : `${named}: ${files.join(', ')}, whatever the change`
  const { command, cwd, ...rest } = JSON.parse(subject) as { command?: unknown; cwd?: unknown }
  const isPlain = typeof command === 'string' && (cwd === undefined || cwd === './') && !Object.keys(rest).length
  if (!isPlain) return `${named}: ${subject}`
  return kind === 'run' ? `Run the command ${command}` : `${named}: ${command}`
}
