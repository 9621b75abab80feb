import * as z from 'zod'
import { Id } from '../domain/ids.ts'
import { Mission } from '../domain/records/mission.ts'
import { describeReport } from '../domain/rules/prompt.ts'
import { clipped } from '../domain/text.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { newestReport } from '../fleet/records.ts'
import { missionView } from './views.ts'

const REPORT_CHARS = 8000

/** A mission as another agent sees it: what it is, its status and its report. */
export const Brief = Mission.pick({
  id: true,
  title: true,
  mission_type: true,
  status: true,
  result: true,
  agent: true,
  model: true,
  priority: true,
  branch: true,
  max_budget_usd: true,
}).extend({
  waits_for: z.array(z.string()),
  why: z.string().nullable().describe('the reason for its status'),
  report: z.string().nullable().describe('what its newest session reported'),
  landed: z.string().nullable().describe('the commit on the base branch'),
  depends_on: z.array(Id),
})
export type Brief = z.infer<typeof Brief>

export async function brief(fleet: Fleet, mission: Mission): Promise<Brief> {
  const { waits_for, depends_on } = await missionView(fleet, mission)
  const report = await newestReport(fleet, mission.id)
  return {
    ...Brief.omit({ waits_for: true, why: true, report: true, landed: true }).parse(mission),
    depends_on,
    waits_for: waits_for.map(({ text }) => text),
    why: mission.status_reason?.text ?? null,
    report: report ? clipped(describeReport(report), REPORT_CHARS) : null,
    landed: mission.landed?.commit ?? null,
  }
}
