import * as z from 'zod'
import { PullText } from '../domain/records/mission.ts'
import { mergeProposed, proposeWork } from '../fleet/pull-requests/asked.ts'
import { MERGE_METHODS } from '../fleet/pull-requests/github.ts'
import { pushBranch } from '../fleet/pull-requests/push-branch.ts'
import { lookUp } from '../fleet/records.ts'
import { ask, Ref } from './inputs.ts'
import { requireLandsForAgents } from './needed.ts'
import { command } from './operation.ts'
import { MissionView, missionView } from './views.ts'

const Shown = {
  mission_id: Ref,
  expected: z
    .string()
    .regex(/^[0-9a-fA-F]{7,64}$/, 'is not a commit: give its id, or at least its first 7 characters')
    .describe('the id of the candidate you reviewed, or its beginning'),
}

/** Pull requests that people ask for; a landing policy makes them too. */
export const pullRequests = [
  command({
    name: 'open_pull_request',
    may: 'missions.land',
    mcp: 'review',
    summary: 'Push the reviewed work and open a pull request for it, instead of landing it here',
    http: 'POST /api/missions/:mission_id/pull-request',
    needsFleet: true,
    inServer: true,
    input: z.object({ ...Shown, ...PullText.shape }),
    output: MissionView,
    run: async (context, { mission_id, expected, title, body }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      const text = title === undefined && body === undefined ? null : { title, body }
      const made = await proposeWork(context.fleet, ask(context, 'open_pull_request'), value.id, expected, text)
      return missionView(context.fleet, made.value)
    },
  }),
  command({
    name: 'push_mission',
    may: 'missions.land',
    mcp: 'review',
    summary: 'Push exactly the reviewed work to its branch of the remote, without a pull request',
    http: 'POST /api/missions/:mission_id/push',
    needsFleet: true,
    inServer: true,
    input: z.object(Shown),
    output: MissionView,
    run: async (context, { mission_id, expected }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      const pushed = await pushBranch(context.fleet, ask(context, 'push_mission'), value.id, expected)
      return missionView(context.fleet, pushed.value)
    },
  }),
  command({
    name: 'merge_pull_request',
    may: 'missions.land',
    mcp: 'review',
    summary: 'Merge the pull request of a mission on GitHub, if it has the work you reviewed',
    http: 'POST /api/missions/:mission_id/pull-request/merge',
    needsFleet: true,
    inServer: true,
    input: z.object({ ...Shown, method: z.enum(MERGE_METHODS).default('squash') }),
    output: MissionView,
    run: async (context, { mission_id, ...wish }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      await requireLandsForAgents(context, value.id)
      const merged = await mergeProposed(context.fleet, ask(context, 'merge_pull_request'), value.id, wish)
      return missionView(context.fleet, merged.value)
    },
  }),
]
