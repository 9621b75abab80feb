import * as z from 'zod'
import { Context, Usage } from '../domain/records/session.ts'
import { retryReasons } from '../domain/rules/waiting.ts'
import { liveSessions } from '../fleet/dispatch/capacity.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { forgetProgress, progressOf } from '../fleet/sessions/progress.ts'
import { Paging } from './inputs.ts'
import { query } from './operation.ts'
import { MissionView, missionViews, Waiting } from './views.ts'

const Running = z.object({
  mission_id: z.string(),
  session_id: z.string(),
  title: z.string(),
  project: z.string(),
  project_id: z.string(),
  repository: z.string(),
  status: z.string(),
  waits_for: z.array(Waiting).describe('what holds it up: its client tries again against its provider'),
  started_at: z.string(),
  last_at: z.string().nullable().describe('when it last printed something'),
  events: z.number().describe('lines of its transcript'),
  context: Context.nullable(),
  usage: Usage.describe('of this session so far'),
  agent: z.string(),
  model: z.string().nullable(),
  set: z.array(z.enum(['agent', 'model'])).describe('what the mission names itself; the rest is inherited'),
})

/** One queue over all repositories. */
export const queue = [
  query({
    name: 'list_ready',
    summary: 'Missions of all projects that could start now, in the order they will',
    http: 'GET /api/missions/ready',
    input: z.object({ ...Paging }),
    output: z.object({ missions: z.array(MissionView), cursor: z.string().optional() }),
    run: async ({ fleet }, { limit, cursor }) => {
      const page = await fleet.store.find('missions', { index: 'ready', limit, cursor })
      const ready = page.items.map(item => item.value)
      return { missions: await missionViews(fleet, ready), cursor: page.cursor }
    },
  }),
  query({
    name: 'list_running',
    summary: 'What is at work in all projects, and how far it is',
    http: 'GET /api/missions/running',
    input: z.object({ limit: Paging.limit }),
    output: z.object({ tasks: z.array(Running), more: z.number().describe('how many were left out') }),
    run: async ({ fleet }, { limit }) => {
      const live = await liveSessions(fleet)
      forgetProgress(new Set(live.map(({ id }) => id)))
      const tasks = await Promise.all(live.slice(0, limit).map(session => running(fleet, session)))
      return { tasks: tasks.filter(task => task !== undefined), more: Math.max(0, live.length - limit) }
    },
  }),
]

async function running(
  fleet: Fleet,
  session: Awaited<ReturnType<typeof liveSessions>>[number],
): Promise<z.infer<typeof Running> | undefined> {
  const [mission, project] = await Promise.all([
    fleet.store.get('missions', session.mission_id),
    fleet.store.get('projects', session.project_id),
  ])
  if (!mission || !project) return undefined
  const { id, title, agent, model, status } = mission.value
  return {
    mission_id: id,
    session_id: session.id,
    title,
    project: project.value.name,
    project_id: project.value.id,
    repository: project.value.path,
    status,
    waits_for: retryReasons(session.retrying, fleet.now()),
    started_at: session.started_at ?? session.created_at,
    ...progressOf(fleet, session.id),
    context: session.context,
    usage: session.usage,
    agent: session.agent,
    model: session.model,
    set: [...(agent ? ['agent' as const] : []), ...(model ? ['model' as const] : [])],
  }
}
