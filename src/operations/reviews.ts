import * as z from 'zod'
import { Candidate } from '../domain/records/mission.ts'
import { Included } from '../domain/rules/candidate.ts'
import { Checked, Overlap, Risk, SizedFile } from '../domain/rules/risk.ts'
import { lookAtPlace } from '../fleet/landing/candidates.ts'
import { lookUp } from '../fleet/records.ts'
import { type Review, reviewOf, reviewsOf } from '../fleet/review/reviews.ts'
import { ProjectRef, Ref } from './inputs.ts'
import { query } from './operation.ts'
import { MissionView, missionView, missionViews } from './views.ts'

export const ReviewView = z.object({
  mission: MissionView,
  session_id: z.string().nullable().describe('whose work it is'),
  candidate: Candidate.nullable().describe('the commit this is about: land_mission wants it as `expected`'),
  includes: z.array(Included).describe('whose unlanded work is among it, beside its own'),
  files: z.array(SizedFile),
  files_omitted: z.number().int().describe('how many more changed than are listed'),
  added: z.number().int().describe('lines, of all files'),
  deleted: z.number().int(),
  checks: Checked,
  overlaps: z
    .array(Overlap)
    .describe('other work of the project that has not landed; what an agent at work changes counts once it has ended'),
  remarks: z.number().int().describe('that its agent was not told yet; 100: or more'),
  risk: Risk,
})

export type ReviewView = z.infer<typeof ReviewView>

const shown = ({ mission, checked, filesOmitted, ...review }: Review, view: MissionView) => ({
  ...review,
  mission: view,
  candidate: mission.candidate,
  files_omitted: filesOmitted,
  checks: checked,
})

/** Deciding about finished work. */
export const reviews = [
  query({
    name: 'list_reviews',
    summary: 'Finished work that waits for a person, the riskiest first: in review, in conflict, or kept from landing',
    http: 'GET /api/reviews',
    input: z.object({
      project_id: ProjectRef.optional(),
      limit: z.number().int().min(1).max(200).default(50),
    }),
    output: z.object({
      reviews: z.array(ReviewView),
      more: z.number().int().describe('how many wait beside those'),
    }),
    run: async ({ fleet }, { project_id, limit }) => {
      const project = project_id && (await lookUp(fleet, 'projects', project_id)).value.id
      const all = await reviewsOf(fleet, project)
      const first = all.slice(0, limit)
      const views = await missionViews(
        fleet,
        first.map(({ mission }) => mission),
      )
      return { reviews: first.map((review, at) => shown(review, views[at]!)), more: all.length - first.length }
    },
  }),
  query({
    name: 'get_review',
    summary: 'The work of one mission as a reviewer sees it: its files with their sizes, checks, overlaps and risk',
    http: 'GET /api/missions/:mission_id/review',
    inServer: true,
    input: z.object({ mission_id: Ref }),
    output: ReviewView,
    run: async ({ fleet }, { mission_id }) => {
      const { mission } = await lookAtPlace(fleet, (await lookUp(fleet, 'missions', mission_id)).value)
      return shown(await reviewOf(fleet, mission), await missionView(fleet, mission))
    },
  }),
]
