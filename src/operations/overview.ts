import * as z from 'zod'
import { missionCounts } from '../fleet/counts.ts'
import { liveSessions } from '../fleet/dispatch/capacity.ts'
import { dayOf } from '../fleet/dispatch/holds.ts'
import { providersOf } from '../fleet/dispatch/windows.ts'
import { faultsOf } from '../fleet/faults.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { countOf, MOST_LOOKED_AT, waitingForPerson } from '../fleet/missions/waiting.ts'
import { fleetState } from '../fleet/records.ts'
import { isToReview } from '../fleet/review/reviews.ts'
import { isPrincipal, reachFor, seenBy } from './authorize.ts'
import { actorOf } from './inputs.ts'
import { type Caller, query } from './operation.ts'
import { Budgets, budgetsOf } from './spending.ts'
import { ProviderView } from './system.ts'
import { MissionView, missionViews } from './views.ts'

const MOST_LANDED_SHOWN = 20

export const overview = [
  query({
    name: 'get_overview',
    may: 'missions.read',
    mcp: 'history',
    summary: 'Show the fleet today: what needs you, what is running, what landed, and the cost against the budgets',
    http: 'GET /api/overview',
    input: z.object({}),
    output: z.object({
      day: z.iso.date().describe('in UTC, like budgets'),
      paused: z.boolean(),
      missions: z.record(z.string(), z.number().int()).describe('the count for each status'),
      needs_you: z
        .object({
          count: z
            .number()
            .int()
            .describe('questions, plans, reviews, stuck missions and mail: the same count as the inbox'),
          questions: z.number().int(),
          plans: z.number().int(),
          mail: z.number().int().describe('messages of teams to you, or held back'),
          reviews: z.number().int().describe('finished work, including conflicts'),
          conflicts: z.number().int(),
          stuck: z.number().int().describe('cannot continue for another reason, such as a limit'),
          failed_today: z.number().int(),
        })
        .describe(`each at most ${MOST_LOOKED_AT}`),
      live_sessions: z.number().int(),
      max_concurrent: z.number().int(),
      landed_today: z.object({
        count: z.number().int(),
        more: z.boolean().describe('more missions ended today than were looked at'),
        missions: z.array(MissionView).describe('the newest'),
      }),
      spent_today: Budgets,
      providers: z.array(ProviderView),
      faults: z.number().int().describe('how many faults the fleet has; list_faults lists them'),
      unreadable_records: z
        .number()
        .int()
        .describe('how many records were found that cannot be read; no list includes them'),
    }),
    run: async context => {
      const { fleet, caller } = context
      const day = dayOf(fleet.now())
      const [state, { counts }, needs_you, live, ended, spent_today, providers, faults] = await Promise.all([
        fleetState(fleet),
        missionCounts(fleet),
        needsYou(fleet, actorOf(context)),
        liveSessions(fleet),
        fleet.store.find('missions', { index: 'ended', from: day, newestFirst: true, limit: MOST_LOOKED_AT }),
        budgetsOf(withCosts(fleet, caller)),
        providersOf(fleet),
        faultsOf(fleet),
      ])
      const over = ended.items.map(({ value }) => value)
      const landed = over.filter(({ result }) => result === 'landed')
      return {
        day,
        paused: state.value.paused,
        missions: counts,
        needs_you: { ...needs_you, failed_today: over.filter(({ status }) => status === 'failed').length },
        live_sessions: live.length,
        max_concurrent: fleet.settings.maxConcurrent,
        landed_today: {
          count: landed.length,
          more: ended.cursor !== undefined,
          missions: await missionViews(fleet, landed.slice(0, MOST_LANDED_SHOWN)),
        },
        spent_today,
        providers: providers.map(({ id, held_until, windows }) => ({ id, held_until, windows })),
        faults: faults.length,
        unreadable_records: fleet.store.unreadable.size,
      }
    },
  }),
]

/** What the caller may know the costs of. */
function withCosts(fleet: Fleet, caller: Caller): Fleet {
  const reach = isPrincipal(caller) ? reachFor(caller, 'costs.read') : 'fleet'
  return reach === 'fleet' ? fleet : seenBy(fleet.view?.whole ?? fleet, caller, reach)
}

async function needsYou(fleet: Fleet, actor: string) {
  const waiting = await waitingForPerson(fleet, actor)
  const reviews = waiting.missions.filter(isToReview)
  return {
    count: countOf(waiting),
    questions: waiting.questions.length,
    plans: waiting.plans.length,
    mail: waiting.mail.length,
    reviews: reviews.length,
    conflicts: reviews.filter(({ status_reason }) => status_reason?.code === 'conflict').length,
    stuck: waiting.missions.length - reviews.length,
  }
}
