import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { Included } from '../domain/rules/candidate.ts'
import { SizedFile } from '../domain/rules/risk.ts'
import { lookUp } from '../fleet/records.ts'
import { fileAt, missionDiff, newestSession, sessionDiff } from '../fleet/review/diffs.ts'
import { Ref } from './inputs.ts'
import { query } from './operation.ts'

const Path = z.string().min(1).max(4096)
const Wish = {
  path: Path.optional().describe('only this file, up to 8 MiB of its diff'),
  context: z.number().int().min(0).max(100_000).optional().describe('lines of context around each change; absent: 3'),
  text: z.boolean().default(true).describe('false: only the list of changed files'),
}

export const Diff = z.object({
  text: z.string().describe('the diff as git prints it'),
  truncated: z.boolean().describe('the diff is longer: request the files one by one'),
  files: z.array(SizedFile),
  files_omitted: z.number().int().describe('how many changed files are not listed'),
  added: z.number().int().describe('lines in all files'),
  deleted: z.number().int(),
})

export const diffs = [
  query({
    name: 'diff_session',
    may: 'missions.read',
    mcp: 'review',
    summary: 'Show what a session changed, also while it runs: everything, or one file',
    http: 'GET /api/sessions/:session_id/diff',
    input: z.object({ session_id: Ref, ...Wish }),
    output: Diff,
    agentMay: (caller, input) => caller.session_id === input.session_id,
    run: async ({ fleet }, { session_id, ...wish }) =>
      sessionDiff(fleet, (await lookUp(fleet, 'sessions', session_id)).value, wish),
  }),
  query({
    name: 'diff_mission',
    may: 'missions.read',
    mcp: 'review',
    summary:
      'Show everything a mission would land on its base branch, or one file of it; while an agent works, its changes so far',
    http: 'GET /api/missions/:mission_id/diff',
    inServer: true,
    input: z.object({ mission_id: Ref, ...Wish }),
    output: Diff.extend({
      candidate: z
        .string()
        .nullable()
        .describe('the commit of this diff: pass it to land_mission as `expected`; empty: an agent is working'),
      includes: z.array(Included).describe('other missions whose work is included'),
    }),
    agentMay: (caller, input) => caller.mission_id === input.mission_id,
    run: async ({ fleet }, { mission_id, ...wish }) =>
      missionDiff(fleet, (await lookUp(fleet, 'missions', mission_id)).value, wish),
  }),
  query({
    name: 'read_file_at',
    may: 'missions.read',
    mcp: 'review',
    summary: 'Read lines of a file before a session, or as the session has it',
    http: 'GET /api/files/at',
    input: z.object({
      session_id: Ref.optional(),
      mission_id: Ref.optional().describe('the file as in the diff of this mission'),
      path: Path,
      side: z.enum(['base', 'work']).default('work').describe('base: the file before the change'),
      from: z.number().int().min(1).default(1).describe('the first line'),
      count: z.number().int().min(1).max(5000).default(500).describe('how many lines'),
    }),
    output: z.object({
      lines: z.array(z.string()).nullable().describe('empty: the file is not text'),
      first_line: z.number().int(),
      total_lines: z.number().int(),
    }),
    run: async ({ fleet }, { session_id, mission_id, ...wanted }) => {
      if (!session_id === !mission_id) throw new InvalidInput('session_id', 'name either a session or a mission')
      if (session_id) return fileAt(fleet, { session: (await lookUp(fleet, 'sessions', session_id)).value }, wanted)
      const { value: mission } = await lookUp(fleet, 'missions', mission_id!)
      return fileAt(fleet, { session: await newestSession(fleet, mission), mission }, wanted)
    },
  }),
]
