import * as z from 'zod'
import { Forbidden } from '../domain/errors.ts'
import { Reservation } from '../domain/records/reservation.ts'
import type { Team } from '../domain/records/team.ts'
import { patternOf } from '../domain/rules/reservations.ts'
import { current } from '../fleet/records.ts'
import { lookUpMember } from '../fleet/teams/members.ts'
import { overlapsOf, release, reservationsOf, reserve, reservedBy } from '../fleet/teamwork/reservations.ts'
import { actorOf, ask, Ref } from './inputs.ts'
import { type Context, command, query } from './operation.ts'
import { knownIn, memberIn, steers, teamOf } from './team-callers.ts'
import { MemberRef } from './teams.ts'

const TeamRef = Ref.optional().describe('a team; default: your own, or the only one')
const File = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[^\p{Cc}]*$/u, 'has no control characters')
  .describe('a file, a folder or a pattern with * and **, from the root of the project or inside your worktree')

const Overlap = z.object({ handle: z.string(), file: z.string(), reason: z.string(), since: z.string() })
const ReservationView = Reservation.omit({ session_id: true, mission_id: true, holder: true }).extend({
  handle: z.string().describe('who reserved it'),
  until: z.enum(['session', 'task', 'released']).describe('what ends it'),
  overlaps: z.array(Overlap).describe('what others reserved that fits the same files; at most 50 are shown'),
})

const MOST_OVERLAPS = 50

function viewOf(
  { session_id, mission_id, holder, ...shown }: Reservation,
  overlaps: readonly Reservation[],
): z.infer<typeof ReservationView> {
  return {
    ...shown,
    handle: holder.handle,
    until: mission_id ? 'task' : session_id ? 'session' : 'released',
    overlaps: overlaps
      .slice(0, MOST_OVERLAPS)
      .map(each => ({ handle: each.holder.handle, file: each.file, reason: each.reason, since: each.created_at })),
  }
}

/** Where the caller sees the files of the project. */
async function rootOf({ fleet, caller }: Context, { project_id }: Team): Promise<string | null> {
  if (caller.kind === 'session') return (await current(fleet, 'sessions', caller.session_id)).value.worktree
  return (await current(fleet, 'projects', project_id)).value.path
}

/** Whose reservations are meant. Those who steer the team release what anybody reserved. */
async function holderOf(context: Context, team: Team, named: string | undefined) {
  const caller = await memberIn(context, team)
  if (named === undefined) return caller
  const { value: holder } = await lookUpMember(context.fleet, team, named)
  if (holder.id !== caller.id && !steers(context, caller))
    throw new Forbidden(`${caller.handle} may release only what it reserved itself.`, {
      try: `Write to ${holder.handle}.`,
    })
  return holder
}

export const reservations = [
  command({
    name: 'team_claim',
    may: 'mail.send',
    touches: 'view',
    mcp: 'teams',
    summary: 'Say which file, folder or pattern you are about to change, and learn who else is. It keeps nobody away',
    http: 'POST /api/reservations',
    agentMay: () => true,
    input: z.object({ team_id: TeamRef, file: File, reason: Reservation.shape.reason }),
    output: ReservationView,
    run: async (context, { team_id, file, reason }) => {
      const { fleet, caller } = context
      const team = await teamOf(context, team_id)
      const pattern = patternOf(file, await rootOf(context, team))
      const session =
        caller.kind === 'session' ? (await current(fleet, 'sessions', caller.session_id)).value : undefined
      const wanted = { file: pattern, reason, session }
      const made = await reserve(fleet, ask(context, 'team_claim'), team, await memberIn(context, team), wanted)
      return viewOf(made.reservation, made.overlaps)
    },
  }),
  command({
    name: 'team_release',
    may: 'mail.send',
    touches: 'view',
    mcp: 'teams',
    summary: 'Release what you reserved: one file or pattern, or everything',
    http: 'POST /api/reservations/release',
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      file: File.optional().describe('as it was reserved; default: everything'),
      handle: MemberRef.optional().describe(
        'whose; default: yours. Leads and coordinators release what anybody reserved',
      ),
    }),
    output: z.object({ released: z.array(z.string()) }),
    run: async (context, { team_id, file, handle }) => {
      const team = await teamOf(context, team_id)
      const holder = await holderOf(context, team, handle)
      const pattern = file === undefined ? undefined : patternOf(file, await rootOf(context, team))
      const mine = await reservedBy(context.fleet, holder.id)
      const ids = mine.filter(each => pattern === undefined || each.file === pattern).map(({ id }) => id)
      return { released: await release(context.fleet, team, ids, actorOf(context)) }
    },
  }),
  query({
    name: 'team_reservations',
    may: 'teams.read',
    mcp: 'teams',
    summary: 'List which files the members of a team are about to change, and where they overlap',
    http: 'GET /api/reservations',
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      file: File.optional().describe('only what fits this file or pattern'),
      mine: z.boolean().default(false).describe('only your own'),
    }),
    output: z.object({ reservations: z.array(ReservationView) }),
    run: async (context, { team_id, file, mine }) => {
      const team = await teamOf(context, team_id)
      const all = await reservationsOf(context.fleet, team)
      const reader = mine ? (await knownIn(context, team))?.id : undefined
      const nobody = { member_id: '', handle: '', role: '' }
      const fitting =
        file === undefined
          ? all
          : await overlapsOf({ file: patternOf(file, await rootOf(context, team)), holder: nobody }, all)
      const shown = mine ? fitting.filter(({ holder }) => holder.member_id === reader) : fitting
      const views: z.infer<typeof ReservationView>[] = []
      for (const each of shown) views.push(viewOf(each, await overlapsOf(each, all)))
      return { reservations: views }
    },
  }),
]
