import * as z from 'zod'
import { MAX_CONFLICT_ROUNDS } from '../domain/rules/ending.ts'
import { clipped } from '../domain/text.ts'
import { conflictOf } from '../fleet/landing/conflicts.ts'
import { lookUp } from '../fleet/records.ts'
import { Ref } from './inputs.ts'
import { query } from './operation.ts'

const TOLD_CHARS = 8000

const Landed = z.object({
  commit: z.string(),
  at: z.string(),
  author: z.string(),
  subject: z.string(),
  mission_id: z.string().nullable().describe('the mission it came from; empty: a person committed it'),
  title: z.string().nullable().describe('the title of that mission, if it still exists'),
})

const ConflictedFile = z.object({
  path: z.string(),
  kind: z.string().describe('as git names it, such as contents or modify/delete'),
  regions: z
    .array(
      z.object({
        line: z.number().int().describe('its first line, in the file with conflict markers'),
        base: z.string().describe('what landed in the meantime'),
        work: z.string().describe('what the mission wrote'),
      }),
    )
    .describe('empty if the file is not text, or if only one side has it'),
  regions_omitted: z.number().int(),
  landed: z.array(Landed).describe('commits that landed in the meantime and changed the file, newest first'),
})

export const ConflictView = z.object({
  mission_id: z.string(),
  in_conflict: z.boolean().describe('the current state, not that of the last attempt'),
  work: z.object({
    session_id: z.string(),
    agent: z.string(),
    branch: z.string().nullable(),
    commit: z.string(),
    worktree: z.string().nullable().describe('where a person can resolve it; empty: it was removed'),
  }),
  base: z.object({ branch: z.string(), commit: z.string() }),
  files: z.array(ConflictedFile),
  files_omitted: z.number().int(),
  rounds: z
    .object({
      used: z.number().int(),
      left: z.number().int().describe('how many more times the agent is sent back automatically'),
    })
    .describe('since a person last asked for it'),
  told: z
    .array(
      z.object({
        session_id: z.string(),
        number: z.number().int(),
        at: z.string(),
        outcome: z.string().nullable().describe('empty: it is running'),
        outcome_reason: z.string().nullable(),
        text: z.string().nullable().describe('the beginning of what the agent was told'),
      }),
    )
    .describe('the sessions that tried to resolve it, oldest first'),
})

export const conflicts = [
  query({
    name: 'get_conflict',
    may: 'missions.read',
    mcp: 'review',
    summary:
      'Show the conflict between a mission and its base branch: files, both sides, sessions that tried to resolve it',
    http: 'GET /api/missions/:mission_id/conflict',
    input: z.object({ mission_id: Ref }),
    output: ConflictView,
    run: async ({ fleet }, { mission_id }) => {
      const { value: mission } = await lookUp(fleet, 'missions', mission_id)
      const { work, files, filesOmitted, rounds, ...base } = await conflictOf(fleet, mission)
      return {
        mission_id: mission.id,
        in_conflict: files.length > 0,
        work: {
          session_id: work.id,
          agent: work.agent,
          branch: mission.branch ?? work.branch,
          commit: work.end_commit!,
          worktree: work.worktree_kept ? work.worktree : null,
        },
        base: { branch: base.baseBranch, commit: base.baseCommit },
        files: files.map(({ regionsOmitted, ...file }) => ({ ...file, regions_omitted: regionsOmitted })),
        files_omitted: filesOmitted,
        rounds: { used: mission.conflicts, left: Math.max(0, MAX_CONFLICT_ROUNDS - mission.conflicts) },
        told: await Promise.all(
          rounds.map(async ({ id, number, created_at, outcome, outcome_reason, prompt }) => ({
            session_id: id,
            number,
            at: created_at,
            outcome,
            outcome_reason,
            text: prompt && clipped(await fleet.blobs.read(prompt), TOLD_CHARS),
          })),
        ),
      }
    },
  }),
]
