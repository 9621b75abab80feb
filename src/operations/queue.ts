import * as z from 'zod'
import { Context, type Session, Usage } from '../domain/records/session.ts'
import { doing } from '../domain/rules/doing.ts'
import { retryReasons } from '../domain/rules/waiting.ts'
import { liveSessions } from '../fleet/dispatch/capacity.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { readable } from '../fleet/records.ts'
import { forgetProgress, progressOf } from '../fleet/sessions/progress.ts'
import { isHere } from '../fleet/sessions/record.ts'
import { lookUpTeam } from '../fleet/teams/teams.ts'
import { transcriptPage } from '../fleet/transcripts/transcripts.ts'
import { mayIn } from './authorize.ts'
import { Paging, Ref } from './inputs.ts'
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
  waits_for: z.array(Waiting).describe('what delays it: its client retries a request to its provider'),
  started_at: z.string(),
  last_at: z.string().nullable().describe('when it last printed something'),
  events: z.number().describe('lines of its transcript'),
  doing: z
    .string()
    .nullable()
    .describe('its current tool, or the last line it said; empty: nothing yet, or you may not read transcripts'),
  context: Context.nullable(),
  usage: Usage.describe('of this session so far'),
  agent: z.string(),
  model: z.string().nullable(),
  host: z.string().nullable(),
  elsewhere: z.boolean().describe('it is on another host: this server leaves it alone'),
  set: z.array(z.enum(['agent', 'model'])).describe('what the mission sets itself; the rest is inherited'),
})

export const queue = [
  query({
    name: 'list_ready',
    may: 'missions.read',
    mcp: 'control',
    summary: 'List missions of all projects that could start now, in the order they will start',
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
    may: 'missions.read',
    mcp: 'control',
    summary: 'List running missions of all projects with their progress',
    http: 'GET /api/missions/running',
    input: z.object({
      team_id: Ref.optional().describe('only the sessions of members of this team'),
      limit: Paging.limit,
    }),
    output: z.object({ tasks: z.array(Running), more: z.number().describe('how many were left out') }),
    run: async ({ fleet, caller }, { team_id, limit }) => {
      const everywhere = await liveSessions(fleet)
      // The counts are shared, also with those who see more.
      if (!fleet.view) forgetProgress(new Set(everywhere.map(({ id }) => id)))
      const roster = team_id === undefined ? undefined : (await lookUpTeam(fleet, team_id)).value.roster
      const members = roster && new Set(roster.map(({ member_id }) => member_id))
      const live = members ? everywhere.filter(({ member_id }) => member_id && members.has(member_id)) : everywhere
      const says = ({ project_id }: Session) => mayIn(caller, 'transcripts.read', project_id)
      const tasks = await Promise.all(live.slice(0, limit).map(session => running(fleet, session, says(session))))
      return { tasks: tasks.filter(task => task !== undefined), more: Math.max(0, live.length - limit) }
    },
  }),
]

/** `says`: whether the caller may read what its transcript says. */
async function running(fleet: Fleet, session: Session, says: boolean): Promise<z.infer<typeof Running> | undefined> {
  const [mission, project] = await Promise.all([
    readable(fleet, 'missions', session.mission_id),
    readable(fleet, 'projects', session.project_id),
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
    doing: says ? await doingOf(fleet, session) : null,
    context: session.context,
    usage: session.usage,
    agent: session.agent,
    model: session.model,
    host: session.host,
    elsewhere: !isHere(fleet, session),
    set: [...(agent ? ['agent' as const] : []), ...(model ? ['model' as const] : [])],
  }
}

const LAST_EVENTS = 12
const SHOWN_CHARS = 1000

/** A look at the end of its transcript. One that cannot be read here, such as on another host, says nothing. */
async function doingOf(fleet: Fleet, { id, agent }: Session): Promise<string | null> {
  try {
    const page = { last: true, limit: LAST_EVENTS, maxChars: SHOWN_CHARS, raw: false }
    return doing((await transcriptPage(fleet, id, page)).events, fleet.agents.ofSession(agent).can.scripts)
  } catch {
    return null
  }
}
