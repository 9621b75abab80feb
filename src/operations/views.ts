import * as z from 'zod'
import { Comment, Evidence, Mission, TakenOver } from '../domain/records/mission.ts'
import { Report } from '../domain/records/report.ts'
import { NO_USAGE, plus, Session, Usage } from '../domain/records/session.ts'
import { effective, held } from '../domain/rules/effective.ts'
import { waitingReasons } from '../domain/rules/waiting.ts'
import { headOf } from '../domain/text.ts'
import { defaultsOf, modelDoubt } from '../fleet/dispatch/capacity.ts'
import { type Circumstances, circumstancesOf } from '../fleet/dispatch/circumstances.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { sideProcessesOf } from '../fleet/previews/processes.ts'
import { all, newestReport, readable } from '../fleet/records.ts'
import { isHere } from '../fleet/sessions/record.ts'
import { memberHold } from '../fleet/teams/sessions.ts'
import { ProcessView, processView } from './process-view.ts'

export const Waiting = z.object({
  kind: z.string(),
  on: z.array(z.string()).optional(),
  until: z.string().optional(),
  text: z.string(),
})

const internal = {
  prompt: true,
  variables: true,
  next: true,
  ready: true,
  landing_commit: true,
  landing_looks: true,
  undo: true,
  cancel_requested: true,
  asking: true,
  questions: true,
  parts: true,
  session_ids: true,
  dependents: true,
  taken_over: true,
  forced: true,
} as const
export const MissionView = Mission.omit(internal).extend({
  detailed_prompt: z.string().describe('in lists, only its beginning'),
  done_by: z
    .string()
    .nullable()
    .describe("the agent of its next session: its own, its project's or the fleet's; not in lists"),
  warnings: z.array(z.string()).describe('what may go wrong; not in lists'),
  waits_for: z.array(Waiting).describe('empty if it is over, or running without delay'),
  cancelling: z.boolean(),
  undoing: z.boolean(),
  taken_over: TakenOver.pick({ by: true, since: true, session_id: true, gone: true, page: true })
    .extend({ pid: z.number().int().describe('of the terminal that holds it') })
    .nullable()
    .describe('a person continues it in their own terminal'),
})
export type MissionView = z.infer<typeof MissionView>

export const SessionView = Session.omit({
  prompt: true,
  instructions: true,
  guard_mark: true,
  branch_from: true,
  descends_from: true,
  landable: true,
  stopping: true,
  claim: true,
  messages: true,
}).extend({ elsewhere: z.boolean().describe('it is on another host: this server leaves it alone') })
export type SessionView = z.infer<typeof SessionView>

/** What was removed to free space, and what was kept and why. */
export const Cleaned = z.object({
  freed_bytes: z.number(),
  freed: z
    .object({
      worktrees: z.number(),
      warm: z.number().describe('of worktrees that wait for the next mission'),
    })
    .describe('freed_bytes by kind'),
  worktrees: z.array(
    z.object({
      session_id: z.string(),
      mission_id: z.string(),
      path: z.string(),
      bytes: z.number(),
      ref: z.string(),
      kept_because: z.string().optional(),
      ends: z.array(z.string()).optional().describe('side processes there that end with it'),
    }),
  ),
})

export const EvidenceView = Evidence.omit({ output: true }).extend({ output: z.string() })

export const MissionDetail = MissionView.omit({ sessions: true }).extend({
  project_name: z.string().nullable(),
  sessions: z.array(SessionView),
  usage: Usage.describe('of all its sessions'),
  report: Report.nullable(),
  children: z.array(MissionView),
  dependents: z.array(MissionView).describe('the missions that wait for it'),
  evidence: z.array(EvidenceView),
  comments: z.array(Comment),
  processes: z.array(ProcessView).describe('what is kept running in its worktree'),
  holds: z
    .array(
      z.object({
        field: z.string(),
        value: z.union([z.string(), z.number()]).nullable(),
        from: z.enum(['mission', 'project', 'default']).describe('default: the settings of the fleet'),
      }),
    )
    .describe('the settings of its next session, and where each comes from'),
})

/** The views of one list; what they share is looked up once. */
export function missionViews(fleet: Fleet, missions: readonly Mission[]): Promise<MissionView[]> {
  const world = circumstancesOf(fleet)
  return Promise.all(missions.map(mission => missionView(fleet, mission, { world })))
}

export async function missionView(
  fleet: Fleet,
  mission: Mission,
  { whole = false, world = circumstancesOf(fleet) } = {},
): Promise<MissionView> {
  const { prompt, variables, next, ready, landing_commit, landing_looks, undo, ...rest } = mission
  const { cancel_requested, asking, taken_over, forced, ...shown } = rest
  const named = await namedFor(fleet, mission)
  const waits_for = await waitsFor(fleet, mission, world)
  return {
    ...shown,
    ...(fleet.view && { depends_on: mission.depends_on.filter(id => named.has(id)) }),
    ...(mission.parent_mission_id && !named.has(mission.parent_mission_id) && { parent_mission_id: null }),
    detailed_prompt: whole ? await fleet.blobs.read(prompt) : headOf(prompt),
    ...(whole ? await doneBy(fleet, mission) : { done_by: null, warnings: [] }),
    waits_for: waits_for.map(reason => ((reason.on ?? []).every(id => named.has(id)) ? reason : OTHER_WORK)),
    cancelling: cancel_requested,
    undoing: undo !== null,
    taken_over: taken_over && {
      by: taken_over.by,
      since: taken_over.since,
      session_id: taken_over.session_id,
      gone: taken_over.gone,
      page: taken_over.page,
      pid: taken_over.terminal.pid,
    },
  }
}

/** A reason that names something the caller may not see. */
const OTHER_WORK: MissionView['waits_for'][number] = { kind: 'dependencies', text: 'waiting for other work' }

/** Of the missions that a mission names, those that the caller may see. The owner may see all. */
async function namedFor(fleet: Fleet, mission: Mission): Promise<{ has(id: string): boolean }> {
  if (!fleet.view) return { has: () => true }
  const { depends_on, parent_mission_id } = mission
  const ids = [...depends_on, ...(parent_mission_id ? [parent_mission_id] : [])]
  const seen = await Promise.all(ids.map(async id => ((await readable(fleet, 'missions', id)) ? [id] : [])))
  return new Set(seen.flat())
}

async function doneBy(fleet: Fleet, mission: Mission): Promise<Pick<MissionView, 'done_by' | 'warnings'>> {
  const project = await readable(fleet, 'projects', mission.project_id)
  if (!project) return { done_by: mission.agent, warnings: [] }
  const { agent, model } = effective(mission, project.value, defaultsOf(fleet))
  return { done_by: agent, warnings: [(agent && modelDoubt(fleet, agent, model)) || []].flat() }
}

async function waitsFor(fleet: Fleet, mission: Mission, world: Circumstances): Promise<MissionView['waits_for']> {
  const landings = mission.status === 'landing' ? await world.landings(mission.project_id) : []
  const nothing = {
    dependencies: [],
    project: { name: '', paused: false },
    fleetPaused: false,
    hold: null,
    full: null,
    disk: null,
  }
  const retrying = (mission.status === 'running' && (await world.session(mission.id))?.retrying) || null
  if (mission.status !== 'queued')
    return waitingReasons(mission, { ...nothing, now: fleet.now() }, { landings, retrying })
  const [dependencies, fleetPaused, project] = await Promise.all([
    Promise.all(mission.depends_on.map(id => world.mission(id))),
    world.isPaused(),
    world.project(mission.project_id),
  ])
  if (!project) return [{ kind: 'blocked', text: 'its project no longer exists' }]
  const { agent } = effective(mission, project, defaultsOf(fleet))
  return waitingReasons(mission, {
    dependencies: dependencies.filter(found => found !== undefined),
    fleetPaused,
    project,
    hold: (await memberHold(fleet, mission)) ?? (agent === null ? null : await world.hold(agent, project)),
    full: await world.full(agent ?? '', project),
    disk: world.disk(project),
    now: fleet.now(),
  })
}

export function sessionView(fleet: Fleet, session: Session): SessionView {
  const { prompt, instructions, guard_mark, branch_from, descends_from, landable, stopping, claim, ...shown } = session
  return { ...shown, elsewhere: !isHere(fleet, session) }
}

export async function missionDetail(fleet: Fleet, mission: Mission): Promise<z.infer<typeof MissionDetail>> {
  const related = (index: string) => fleet.store.find('missions', { index, equals: [mission.id], limit: 200 })
  const views = (page: Awaited<ReturnType<typeof related>>) =>
    missionViews(
      fleet,
      page.items.map(({ value }) => value),
    )
  const [view, sessions, report, children, dependents, evidence, comments, processes, project] = await Promise.all([
    missionView(fleet, mission, { whole: true }),
    listed(fleet, 'sessions', mission.id),
    newestReport(fleet, mission.id),
    related('parent'),
    related('dependency'),
    listed(fleet, 'evidence', mission.id),
    listed(fleet, 'comments', mission.id),
    sideProcessesOf(fleet, mission.id),
    readable(fleet, 'projects', mission.project_id),
  ])
  return {
    ...view,
    project_name: project?.value.name ?? null,
    sessions: sessions.map(each => sessionView(fleet, each)),
    usage: sessions.reduce((sum, session) => plus(sum, session.usage), NO_USAGE),
    report: report ?? null,
    children: await views(children),
    dependents: await views(dependents),
    evidence: await Promise.all(
      evidence.map(async ({ output, ...rest }) => ({ ...rest, output: await fleet.blobs.read(output) })),
    ),
    comments,
    processes: processes.map(processView),
    holds: project ? held(mission, project.value, defaultsOf(fleet)) : [],
  }
}

async function listed<C extends 'sessions' | 'evidence' | 'comments'>(fleet: Fleet, collection: C, missionId: string) {
  return (await Array.fromAsync(all(fleet, collection, 'mission', [missionId]))).map(stored => stored.value)
}
