import * as z from 'zod'
import type { Mission } from '../domain/mission.ts'
import { ChangedFile } from '../domain/report.ts'
import { Usage } from '../domain/session.ts'
import { missionDiff } from '../fleet/diffs.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { EvidenceView, MissionView, missionDetail } from './views.ts'

/** One of two missions that are held against each other. */
export const Side = z.object({
  mission: MissionView.omit({ sessions: true }),
  agent: z.string().nullable(),
  sessions: z.number().int(),
  seconds: z.number().describe('how long its sessions took together'),
  usage: Usage,
  files: z.array(ChangedFile),
  diff: z.string(),
  evidence: z.array(EvidenceView),
  summary: z.string(),
  preview_url: z.string().nullable(),
})

export async function side(fleet: Fleet, mission: Mission): Promise<z.infer<typeof Side>> {
  const { sessions, report, evidence, children, comments, usage, ...view } = await missionDetail(fleet, mission)
  const { text, files } = await missionDiff(fleet, mission)
  const took = (from: string | null | undefined, to: string | null | undefined): number =>
    from && to ? (Date.parse(to) - Date.parse(from)) / 1000 : 0
  return {
    mission: view,
    agent: sessions.at(-1)?.agent ?? null,
    sessions: sessions.length,
    seconds: sessions.reduce((sum, session) => sum + took(session.started_at, session.ended_at), 0),
    usage,
    files,
    diff: text,
    evidence,
    summary: report?.summary ?? '',
    preview_url: report?.preview_url ?? null,
  }
}
