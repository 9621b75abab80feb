import * as z from 'zod'
import { HAND_BACKS, TakenOver } from '../domain/records/mission.ts'
import { lookUp } from '../fleet/records.ts'
import { handBackMission, openConversation, takeOverMission } from '../fleet/takeover/takeover.ts'
import { isHeld, readDaemon } from '../store/index.ts'
import { ask, Ref } from './inputs.ts'
import { command, query } from './operation.ts'
import { MissionView, missionView } from './views.ts'

const Terminal = TakenOver.shape.terminal.describe('the process that holds it, on the machine of the fleet')

export const takeovers = [
  command({
    name: 'take_over_mission',
    may: 'takeover.use',
    mcp: 'talk',
    summary: 'Stop the agent at a safe moment and let a person continue its conversation in their own terminal',
    http: 'POST /api/missions/:mission_id/takeover',
    needsFleet: true,
    input: z.object({ mission_id: Ref, terminal: Terminal }),
    output: MissionView,
    run: async (context, { mission_id, terminal }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      const taken = await takeOverMission(context.fleet, ask(context, 'take_over_mission'), value.id, terminal)
      return missionView(context.fleet, taken.value)
    },
  }),
  query({
    name: 'open_conversation',
    may: 'takeover.use',
    mcp: 'talk',
    summary: 'Show the command with which a terminal that has taken a mission over opens its conversation',
    http: 'GET /api/missions/:mission_id/conversation',
    input: z.object({ mission_id: Ref }),
    output: z.object({
      argv: z.array(z.string()).readonly(),
      cwd: z.string(),
      variables: z.record(z.string(), z.string()).describe('to add to the environment of the terminal'),
    }),
    run: async ({ fleet }, { mission_id }) => {
      const url = isHeld(fleet.home.path) ? (readDaemon(fleet.home.path)?.url ?? null) : null
      return openConversation(fleet, (await lookUp(fleet, 'missions', mission_id)).value, url)
    },
  }),
  command({
    name: 'hand_back_mission',
    may: 'takeover.use',
    mcp: 'talk',
    summary: 'Release a mission that was taken over: its agent continues, its work lands, or it waits for review',
    http: 'POST /api/missions/:mission_id/hand-back',
    needsFleet: true,
    input: z.object({
      mission_id: Ref,
      next: z.enum(HAND_BACKS).default('keep'),
      message: z.string().max(200_000).optional().describe('a message for the agent that continues'),
      terminal: Terminal.optional().describe('absent: allowed only if the terminal that holds it is gone'),
    }),
    output: MissionView,
    run: async (context, { mission_id, ...wish }) => {
      const { value } = await lookUp(context.fleet, 'missions', mission_id)
      const given = await handBackMission(context.fleet, ask(context, 'hand_back_mission'), value.id, wish)
      return missionView(context.fleet, given.value)
    },
  }),
]
