import * as z from 'zod'
import { MAX_CONFLICT_ROUNDS } from '../domain/rules/ending.ts'
import { clipped } from '../domain/text.ts'
import { CHOICES, conflictOf } from '../fleet/landing/conflicts.ts'
import { resolveConflict } from '../fleet/landing/resolving.ts'
import { lookUp } from '../fleet/records.ts'
import { ask, Ref } from './inputs.ts'
import { command, query } from './operation.ts'
import { MissionView, missionView } from './views.ts'

const TOLD_CHARS = 8000

const Landed = z.object({
  commit: z.string(),
  at: z.string(),
  author: z.string(),
  subject: z.string(),
  mission_id: z.string().nullable().describe('the mission it came from; empty: a person committed it'),
  title: z.string().nullable().describe('the title of that mission, if it still exists'),
})

const SideState = z.enum(['file', 'link', 'submodule', 'deleted'])

const ConflictedFile = z.object({
  path: z.string(),
  kind: z.string().describe('as git names it, such as contents or modify/delete'),
  about: z.string().describe('what is in conflict, as a sentence'),
  sides: z.object({ base: SideState, work: SideState }).describe('what each side has there'),
  choices: z
    .array(z.enum(CHOICES))
    .describe('how resolve_conflict can settle it: place by place, or by one side; empty: only in its worktree'),
  regions: z
    .array(
      z.object({
        line: z.number().int().describe('its first line on the base branch'),
        base: z.string().describe('what landed in the meantime'),
        work: z.string().describe('what the mission wrote'),
        cut: z.boolean().describe('a side is too long to be shown whole, or is not UTF-8'),
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

const MAX_TEXT_CHARS = 200_000
const MOST_PLACES = 100

const Resolution = z.object({
  path: z.string().min(1).max(4096).describe('as get_conflict names it'),
  take: z.enum(['base', 'work']).optional().describe('the whole file of one side, also if that side deleted it'),
  places: z
    .array(z.union([z.enum(['base', 'work', 'both']), z.object({ text: z.string().max(MAX_TEXT_CHARS) })]))
    .max(MOST_PLACES)
    .optional()
    .describe('one decision for each place, in order: a side, both, or a text'),
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
      const { work, commit, files, filesOmitted, rounds, ...base } = await conflictOf(fleet, mission)
      return {
        mission_id: mission.id,
        in_conflict: files.length > 0,
        work: {
          session_id: work.id,
          agent: work.agent,
          branch: mission.branch ?? work.branch,
          commit,
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
  command({
    name: 'resolve_conflict',
    may: 'missions.review',
    mcp: 'review',
    summary: 'Resolve the conflict of a mission with its base branch; the result is a new candidate to review',
    http: 'POST /api/missions/:mission_id/conflict/resolve',
    inServer: true,
    input: z.object({
      mission_id: Ref,
      expected: z.string().min(7).max(64).describe('the commit of the mission that you were shown'),
      base: z.string().min(40).max(64).describe('the commit of the base branch that you were shown'),
      files: z.array(Resolution).min(1).max(500).describe('every file in conflict'),
    }),
    output: MissionView,
    run: async (context, { mission_id, ...wish }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      const mission = await resolveConflict(context.fleet, ask(context, 'resolve_conflict'), value, wish)
      return missionView(context.fleet, mission)
    },
  }),
]
