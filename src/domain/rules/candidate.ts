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
  files: z.array(z.string()).describe('that it changed'),
  files_omitted: z.number().int(),
  standing: z
    .enum(STANDINGS)
    .describe(
      'landed: it is on the base branch already; approved, handed_on: it lands with this; unapproved: somebody must let it land first',
    ),
})
export type Included = z.infer<typeof Included>

/**
 * Whether work may ride along with what was built on it. Where a person or the project wants to decide about it, only
 * if they did, about that very commit; what a stage or an automatic landing hands on is covered by who takes it up.
 */
export function standingOf(
  of: Pick<Mission, 'workflow' | 'landing' | 'status'>,
  letLand: 'landed' | 'approved' | null,
  landing: LandingPolicy,
): Included['standing'] {
  if (letLand) return letLand
  if (of.workflow && of.landing === 'never') return 'handed_on'
  const asksFirst = landing === 'never' || landing === 'review' || ['review', 'cancelled'].includes(of.status)
  return asksFirst ? 'unapproved' : 'handed_on'
}

/** Why a candidate may not land: it would take something along that nobody let land. */
export function unapprovedAmong(includes: readonly Included[]): StatusReason | undefined {
  const [first, ...more] = includes.filter(({ standing }) => standing === 'unapproved')
  if (!first) return undefined
  const others = more.length ? `, and of ${more.map(({ title }) => `“${title}”`).join(', ')}` : ''
  return {
    code: 'unapproved',
    text: `It holds the work of “${first.title}” (${first.mission_id})${others}, which nobody has let land.`,
    try: `fleet mission land ${first.mission_id} first`,
  }
}

export function requireApproved(id: string, includes: readonly Included[]): void {
  const why = unapprovedAmong(includes)
  if (why) throw new NotAllowed(`Mission ${id} cannot land yet. ${why.text}`, { try: why.try, facts: { includes } })
}

/** Somebody wants to land work without saying what they were shown, or other work than there is. */
export class NotShown extends Refusal {
  readonly code = 'not_shown'
  readonly status = 409
  readonly exit = 4
}

/** The shortest beginning of a commit id that names it. */
export const SHORTEST_COMMIT = 7

export const isExpected = ({ commit }: Candidate, expected: string | undefined): boolean =>
  expected !== undefined && expected.length >= SHORTEST_COMMIT && commit.startsWith(expected.toLowerCase())
