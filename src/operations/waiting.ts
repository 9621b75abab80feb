import * as z from 'zod'
import { NotAllowed } from '../domain/errors.ts'
import type { Mission, Status } from '../domain/records/mission.ts'
import { isOver } from '../domain/rules/delegation.ts'
import { awaitMission } from '../fleet/missions/await.ts'
import { lookUp } from '../fleet/records.ts'
import { Ref } from './inputs.ts'
import { query } from './operation.ts'
import { MissionView, missionView } from './views.ts'

/** In these statuses a mission goes on by itself. */
const MOVING: readonly Status[] = ['queued', 'running', 'landing', 'waiting']

export const waiting = [
  query({
    name: 'wait_for_mission',
    may: 'missions.read',
    mcp: { set: 'control', name: 'wait_for_mission_in_full', long: true },
    summary: 'Wait until a mission is over or needs a person, up to a number of seconds',
    http: 'GET /api/missions/:mission_id/wait',
    input: z.object({
      mission_id: Ref,
      timeout_seconds: z.number().min(0).max(3600).default(45).describe('some clients end a call after 60 seconds'),
    }),
    output: z.object({
      answer: z.enum(['running', 'over', 'needs_person']).describe('running: the time was up first, call again'),
      mission: MissionView,
    }),
    run: async ({ fleet, signal, progress }, { mission_id, timeout_seconds }) => {
      const { value: found } = await lookUp(fleet, 'missions', mission_id)
      if (found.status === 'draft')
        throw new NotAllowed(`Mission ${found.id} is a draft: it starts when you dispatch it.`, {
          try: `dispatch_mission, or fleet mission dispatch ${found.id}`,
        })
      const began = performance.now()
      const mission = await awaitMission(fleet, found.id, {
        seconds: timeout_seconds,
        signal,
        settled: async value => !MOVING.includes(value.status) || (await isBlocked(value)),
        tell: value => {
          const done = Math.round((performance.now() - began) / 100) / 10
          progress?.({ done, total: timeout_seconds, message: `${value.title} is ${value.status}` })
        },
      })
      const view = await missionView(fleet, mission)
      const moves = MOVING.includes(mission.status) && !blocked(view)
      const answer = moves ? 'running' : isOver(mission) ? 'over' : 'needs_person'
      return { answer, mission: view } as const

      async function isBlocked(value: Mission): Promise<boolean> {
        return value.status === 'queued' && !value.ready && blocked(await missionView(fleet, value))
      }
    },
  }),
]

/** A dependency has failed, so it waits for a person to fix that. */
const blocked = ({ waits_for }: MissionView): boolean => waits_for.some(({ kind }) => kind === 'blocked')
