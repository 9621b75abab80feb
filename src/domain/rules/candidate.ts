import * as z from 'zod'
import { NotAllowed, Refusal } from '../errors.ts'
import type { Candidate, Mission, StatusReason } from '../records/mission.ts'
import type { LandingPolicy } from '../records/project.ts'

/** How the work of another mission that is part of a candidate may land with it. */
export const STANDINGS = ['landed', 'approved', 'handed_on', 'unapproved'] as const

/** The work of another mission that a candidate holds as well. */
export const Included = z.object({
  mission_id: z.string(),
  title: z.string(),
  commit: z.string().describe('where that work ended'),
  files: z.array(z.string()).describe('the files it changed'),
  files_omitted: z.number().int(),
  standing: z
    .enum(STANDINGS)
    .describe(
      'landed: it is on the base branch already; approved, handed_on: it lands with this; unapproved: a person must approve it first',
    ),
})
export type Included = z.infer<typeof Included>

/**
 * Whether the work of another mission may land with the candidate that was built on it. If a person or the project
 * decides about that work, they must have approved exactly this commit. Work of a workflow stage, or of a mission that
 * lands automatically, is covered by the mission that builds on it.
 */
export function standingOf(
  of: Pick<Mission, 'workflow' | 'landing' | 'status'>,
  letLand: 'landed' | 'approved' | null,
  landing: LandingPolicy,
): Included['standing'] {
  if (letLand) return letLand
  if (of.workflow && of.landing === 'never') return 'handed_on'
  const landsAlone = landing === 'auto' || landing === 'pull-request'
  const asksFirst = !landsAlone || ['review', 'cancelled'].includes(of.status)
  return asksFirst ? 'unapproved' : 'handed_on'
}

/** Why a candidate may not land: it includes work that nobody approved. */
export function unapprovedAmong(includes: readonly Included[]): StatusReason | undefined {
  const [first, ...more] = includes.filter(({ standing }) => standing === 'unapproved')
  if (!first) return undefined
  const others = more.length ? `, and of ${more.map(({ title }) => `“${title}”`).join(', ')}` : ''
  return {
    code: 'unapproved',
    text: `It holds the work of “${first.title}” (${first.mission_id})${others}, which nobody has approved.`,
    try: `fleet land ${first.mission_id} first`,
  }
}

export function requireApproved(id: string, includes: readonly Included[]): void {
  const why = unapprovedAmong(includes)
  if (why) throw new NotAllowed(`Mission ${id} cannot land yet. ${why.text}`, { try: why.try, facts: { includes } })
}

/** The caller wants to land work without naming the commit they saw, or names another commit. */
export class NotShown extends Refusal {
  readonly code = 'not_shown'
  readonly status = 409
  readonly exit = 4
}

/** The shortest beginning of a commit id that names it. */
export const SHORTEST_COMMIT = 7

export const isExpected = ({ commit }: Candidate, expected: string | undefined): boolean =>
  expected !== undefined && expected.length >= SHORTEST_COMMIT && commit.startsWith(expected.toLowerCase())
