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
  mission_id: z.string().nullable().describe('the mission that brought it; empty: a person did'),
  title: z.string().nullable().describe('of that mission, while it is known'),
})

const ConflictedFile = z.object({
  path: z.string(),
  kind: z.string().describe('as git says, such as contents or modify/delete'),
  regions: z
    .array(
      z.object({
        line: z.number().int().describe('where it begins, in the file with conflict markers'),
        base: z.string().describe('what landed meanwhile'),
        work: z.string().describe('what the mission has there'),
      }),
    )
    .describe('none where the file is no text, or only one side has it'),
  regions_omitted: z.number().int(),
  landed: z.array(Landed).describe('what landed meanwhile and changed the file, newest first'),
})

export const ConflictView = z.object({
  mission_id: z.string(),
  in_conflict: z.boolean().describe('as things are now, whatever was when it was last tried'),
  work: z.object({
    session_id: z.string(),
    agent: z.string(),
    branch: z.string().nullable(),
    commit: z.string(),
    worktree: z.string().nullable().describe('where a person can resolve it; empty: it was cleaned away'),
  }),
  base: z.object({ branch: z.string(), commit: z.string() }),
  files: z.array(ConflictedFile),
  files_omitted: z.number().int(),
  rounds: z
    .object({
      used: z.number().int(),
      left: z.number().int().describe('how often the agent is still sent back by itself'),
    })
    .describe('since a person last asked for it'),
  told: z
    .array(
      z.object({
        session_id: z.string(),
        number: z.number().int(),
        at: z.string(),
        outcome: z.string().nullable().describe('empty: it is at work'),
        outcome_reason: z.string().nullable(),
        text: z.string().nullable().describe('what the agent was told, its beginning'),
      }),
    )
    .describe('the sessions that were sent to resolve it, oldest first'),
})

export const conflicts = [
  query({
    name: 'get_conflict',
    summary: 'How the work of a mission and its base branch stand against each other: files, both sides, who was sent',
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
