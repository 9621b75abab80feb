import * as z from 'zod'
import { type Brief, briefOf } from '../briefing.ts'
import type { MissionDetail, MissionView } from '../views.ts'
import type { Ask } from './alias.ts'

export type Detail = z.infer<typeof MissionDetail>
export type Missions = { missions: MissionView[] }

export const Agent = z
  .string()
  .max(40)
  .optional()
  .describe('the coding agent that does it, such as claude, codex or gemini; shell: the prompt is a script')
export const Model = z.string().max(120).optional()

/** Who does what names nobody, as codefleet has it: FLEET_DEFAULT_EXECUTOR, which is default_agent here, or codex. */
export const executorOf = async (ask: Ask): Promise<string> =>
  (await ask<{ default_agent: string | null }>('get_engine', {})).default_agent ?? 'codex'

export const statusOf = async (ask: Ask, mission_id: string): Promise<Brief> => {
  const detail = await ask<Detail>('get_mission', { mission_id })
  return briefOf(detail, detail.sessions.at(-1), Date.now())
}
export const briefs = (missions: MissionView[]): Brief[] => missions.map(each => briefOf(each, undefined, Date.now()))
