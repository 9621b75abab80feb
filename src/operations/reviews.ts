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
  session_id: z.string().nullable().describe('the session that did the work'),
  candidate: Candidate.nullable().describe('the commit under review: pass it to land_mission as `expected`'),
  includes: z.array(Included).describe('other missions whose unlanded work is included'),
  files: z.array(SizedFile),
  files_omitted: z.number().int().describe('how many changed files are not listed'),
  added: z.number().int().describe('lines in all files'),
  deleted: z.number().int(),
  checks: Checked,
  overlaps: z
    .array(Overlap)
    .describe('other unlanded work of the project; changes of a running agent count once its session has ended'),
  comments: z.number().int().describe('comments that its agent has not received yet; 100 means 100 or more'),
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

export const reviews = [
  query({
    name: 'list_reviews',
    may: 'missions.read',
    mcp: 'review',
    summary:
      'List finished work that waits for a person, the riskiest first: in review, in conflict, or kept from landing',
    http: 'GET /api/reviews',
    input: z.object({
      project_id: ProjectRef.optional(),
      limit: z.number().int().min(1).max(200).default(50),
    }),
    output: z.object({
      reviews: z.array(ReviewView),
      more: z.number().int().describe('how many more are waiting'),
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
    may: 'missions.read',
    mcp: 'review',
    summary: 'Show the work of one mission for review: its files with their sizes, checks, overlaps and risk',
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
