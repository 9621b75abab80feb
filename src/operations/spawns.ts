import { isAbsolute, relative, sep } from 'node:path'
import * as z from 'zod'
import { Forbidden, InvalidInput } from '../domain/errors.ts'
import { MissionSettings } from '../domain/records/mission.ts'
import { SPAWN_STATES, Spawn } from '../domain/records/spawn.ts'
import { Handle, MAX_MAIL_CHARS, MemberRole, PRIORITIES, type Team } from '../domain/records/team.ts'
import { inOrder } from '../domain/rules/spawns.ts'
import { MAX_REASON_CHARS } from '../domain/text.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { runsScripts } from '../fleet/missions/agents.ts'
import { current } from '../fleet/records.ts'
import { dismissMember, lookUpMember } from '../fleet/teams/members.ts'
import { membersOf } from '../fleet/teams/teams.ts'
import { decideSpawn, openSpawns, requestSpawn, requireAsker } from '../fleet/teamwork/spawns.ts'
import { lookUpSwarm } from '../fleet/teamwork/swarms.ts'
import { mayIn } from './authorize.ts'
import { ask, Paging, Ref } from './inputs.ts'
import { type Context, command, query } from './operation.ts'
import { knownIn, memberIn, ofTeam, requireLead, teamOf } from './team-callers.ts'
import { MemberRef, MemberView, memberView, SwarmRef } from './teams.ts'

const TeamRef = Ref.optional().describe('a team; default: your own, or the only one')
const SpawnRef = Ref.describe('the id of a request')
const Text = z.string().max(MAX_MAIL_CHARS)
const Agent = MissionSettings.shape.agent
  .unwrap()
  .optional()
  .describe('default: yours; for a person that of the project')

const SpawnView = Spawn.omit({ mission_id: true, actor: true, charter: true, task: true, order: true }).extend({
  task: z.string(),
  before: z.number().int().describe('how many open requests come before it'),
})

async function viewOf(fleet: Fleet, spawn: Spawn, open: readonly Spawn[]): Promise<z.infer<typeof SpawnView>> {
  const { mission_id: _, actor: __, charter: ___, order: ____, task, ...shown } = spawn
  const before = Math.max(
    0,
    inOrder(open).findIndex(({ id }) => id === spawn.id),
  )
  return { ...shown, task: task ? await fleet.blobs.read(task) : '', before }
}

/** A request of a team that the caller belongs to, or may see. */
async function spawnOf(context: Context, ref: string): Promise<{ spawn: Spawn; team: Team }> {
  const { value: spawn, team } = await ofTeam(context, 'spawns', ref)
  return { spawn, team }
}

/** Whether the caller may add members by themselves, and decide about requests. */
async function decides(context: Context, { id, project_id }: Team): Promise<boolean> {
  if (context.caller.kind !== 'session') return mayIn(context.caller, 'teams.manage', project_id, id)
  return requireLead(context).then(
    () => true,
    error => {
      if (error instanceof Forbidden) return false
      throw error
    },
  )
}

/** The policy of a team never adds somebody who may write to all of it, or decide about others. */
const STEERING: readonly MemberRole[] = ['team-lead', 'coordinator']

/** A script does what it says, so the policy grants none to a person or a service that may start nothing. */
const mayBring = ({ fleet, caller }: Context, { project_id }: Team, agent: Spawn['agent'] | undefined): boolean =>
  caller.kind === 'session' || !runsScripts(fleet, agent) || mayIn(caller, 'missions.run', project_id)

/** A folder of the project, as clients name it by where it is on the machine. */
async function folderIn({ fleet }: Context, { project_id }: Team, folder: string | undefined): Promise<string> {
  if (folder === undefined) return ''
  const { path } = (await current(fleet, 'projects', project_id)).value
  const inside = isAbsolute(folder) ? relative(path, folder) : folder
  if (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)) return inside
  throw new InvalidInput('workingDir', `${folder} is outside the project ${path}`, {
    try: 'Leave it out: every member has a worktree of its own.',
  })
}

async function request(
  context: Context,
  operation: string,
  team: Team,
  wanted: Partial<Parameters<typeof requestSpawn>[4]> & Pick<Spawn, 'role'> & { granted: boolean },
): Promise<z.infer<typeof SpawnView>> {
  const { fleet } = context
  const plain = { handle: null, agent: null, model: null, subdirectory: '', swarm_id: null, charter: '', task: '' }
  const full = { ...plain, priority: 'normal' as const, depends_on: [], ...wanted }
  const made = await requestSpawn(fleet, ask(context, operation), team.id, await memberIn(context, team), full)
  return viewOf(fleet, made, await openSpawns(fleet, team))
}

const swarmIn = async ({ fleet }: Context, team: Team, ref: string | undefined) =>
  ref === undefined ? null : (await lookUpSwarm(fleet, team, ref)).value.id

export const spawns = [
  command({
    name: 'team_spawn',
    may: 'teams.manage',
    touches: 'view',
    mcp: 'teams',
    summary: 'Add an agent to your team and give it its first task. If there is no room, it waits in order',
    http: 'POST /api/spawns/now',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      handle: Handle,
      prompt: Text.default('').describe('its first task'),
      charter: z.string().max(100_000).default('').describe('its standing instructions'),
      role: MemberRole.default('worker'),
      agent: Agent,
      model: MissionSettings.shape.model.unwrap().optional(),
      swarm_id: SwarmRef.optional(),
      workingDir: z.string().max(4096).optional().describe('a folder of the project'),
    }),
    output: SpawnView,
    run: async (context, { team_id, prompt, swarm_id, workingDir, agent, model, ...wanted }) => {
      const team = await teamOf(context, team_id)
      await requireLead(context)
      const where = {
        swarm_id: await swarmIn(context, team, swarm_id),
        subdirectory: await folderIn(context, team, workingDir),
      }
      const how = { agent: agent ?? null, model: model ?? null }
      return request(context, 'team_spawn', team, { ...wanted, ...where, ...how, task: prompt, granted: true })
    },
  }),
  command({
    name: 'team_dismiss',
    may: 'teams.manage',
    touches: 'view',
    mcp: 'teams',
    summary: 'Dismiss an agent of your team: its session stops, its work is kept, its unread mail goes back',
    http: 'POST /api/workers/:handle/dismiss',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({ team_id: TeamRef, handle: MemberRef, reason: z.string().max(1000).optional() }),
    output: z.object({ dismissed: z.string(), handle: z.string(), at: z.string() }),
    run: async (context, { team_id, handle, reason }) => {
      const team = await teamOf(context, team_id)
      await requireLead(context)
      const { value: member } = await lookUpMember(context.fleet, team, handle)
      if (member.person !== null)
        throw new Forbidden(`${member.handle} is a person.`, { try: 'A person removes people.' })
      const gone = await dismissMember(context.fleet, ask(context, 'team_dismiss'), member.id, reason)
      return { dismissed: member.id, handle: member.handle, at: gone.value.dismissed_at! }
    },
  }),
  query({
    name: 'team_workers',
    may: 'teams.read',
    mcp: 'teams',
    summary: 'List the agents of your team: what each does now, and what it waits for',
    http: 'GET /api/workers',
    agentMay: () => true,
    input: z.object({ team_id: TeamRef }),
    output: z.object({ workers: z.array(MemberView) }),
    run: async (context, { team_id }) => {
      const members = await membersOf(context.fleet, await teamOf(context, team_id))
      const agents = members.filter(({ person }) => person === null)
      return { workers: await Promise.all(agents.map(each => memberView(context.fleet, each))) }
    },
  }),
  command({
    name: 'spawn_request',
    may: 'mail.send',
    touches: 'view',
    mcp: 'teams',
    summary: 'Ask for another member of your team. A lead, a person or the policy of the team grants it',
    http: 'POST /api/spawns',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      agent_type: MemberRole.describe('its role'),
      task: Text.min(1).describe('its first task'),
      handle: Handle.optional().describe('its name; default: made from its role'),
      agent: Agent,
      swarm_id: SwarmRef.optional(),
      priority: z.enum(PRIORITIES).default('normal'),
      depends_on: z.array(Ref).max(20).default([]).describe('requests whose members must first have done their task'),
    }),
    output: SpawnView,
    run: async (context, { team_id, agent_type, task, handle, agent, swarm_id, priority, depends_on }) => {
      const team = await teamOf(context, team_id)
      const before = await Promise.all(depends_on.map(each => spawnOf(context, each)))
      const wanted = { role: agent_type, task, handle: handle ?? null, agent: agent ?? null, priority }
      const more = { swarm_id: await swarmIn(context, team, swarm_id), depends_on: before.map(({ spawn }) => spawn.id) }
      const isOpen = team.spawning === 'grant' && !STEERING.includes(agent_type) && mayBring(context, team, agent)
      const granted = (await decides(context, team)) || isOpen
      return request(context, 'spawn_request', team, { ...wanted, ...more, granted })
    },
  }),
  query({
    name: 'spawn_status',
    may: 'teams.read',
    mcp: { set: 'teams', defaults: { limit: 20 } },
    summary: 'Show requests for members: those that are open in their order, then the others, newest first',
    http: 'GET /api/spawns',
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      spawn_id: SpawnRef.optional().describe('only this one'),
      state: z.enum(SPAWN_STATES).optional(),
      limit: Paging.limit,
    }),
    output: z.object({ requests: z.array(SpawnView) }),
    run: async (context, { team_id, spawn_id, state, limit }) => {
      const { fleet } = context
      const one = spawn_id === undefined ? undefined : await spawnOf(context, spawn_id)
      const team = one?.team ?? (await teamOf(context, team_id))
      const open = await openSpawns(fleet, team)
      const newest = await fleet.store.find('spawns', { index: 'team', equals: [team.id], newestFirst: true, limit })
      const ids = new Set(open.map(({ id }) => id))
      const all = [...inOrder(open), ...newest.items.map(({ value }) => value).filter(({ id }) => !ids.has(id))]
      const shown = one ? [one.spawn] : all.filter(each => state === undefined || each.state === state).slice(0, limit)
      return { requests: await Promise.all(shown.map(each => viewOf(fleet, each, open))) }
    },
  }),
  command({
    name: 'spawn_cancel',
    may: 'mail.send',
    mcp: 'teams',
    summary: 'Take back a request for a member that was not added yet',
    http: 'DELETE /api/spawns/:spawn_id',
    agentMay: () => true,
    input: z.object({ spawn_id: SpawnRef }),
    output: SpawnView,
    run: async (context, { spawn_id }) => {
      const { spawn, team } = await spawnOf(context, spawn_id)
      requireAsker(spawn, await knownIn(context, team), await decides(context, team))
      return decide(context, spawn, 'spawn_cancel', 'cancelled', null)
    },
  }),
  command({
    name: 'spawn_grant',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Grant a request for a member. It is added as soon as there is room',
    http: 'POST /api/spawns/:spawn_id/grant',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({ spawn_id: SpawnRef }),
    output: SpawnView,
    run: async (context, { spawn_id }) => {
      const { spawn } = await spawnOf(context, spawn_id)
      await requireLead(context)
      return decide(context, spawn, 'spawn_grant', 'waiting', null)
    },
  }),
  command({
    name: 'spawn_refuse',
    may: 'teams.manage',
    mcp: 'teams',
    summary: 'Refuse a request for a member. Whoever made it is told why',
    http: 'POST /api/spawns/:spawn_id/refuse',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({ spawn_id: SpawnRef, reason: z.string().min(1).max(MAX_REASON_CHARS) }),
    output: SpawnView,
    run: async (context, { spawn_id, reason }) => {
      const { spawn } = await spawnOf(context, spawn_id)
      await requireLead(context)
      return decide(context, spawn, 'spawn_refuse', 'refused', reason)
    },
  }),
]

async function decide(
  context: Context,
  { id, team_id }: Spawn,
  operation: string,
  decision: Parameters<typeof decideSpawn>[3],
  reason: string | null,
): Promise<z.infer<typeof SpawnView>> {
  const decided = await decideSpawn(context.fleet, ask(context, operation), id, decision, reason)
  return viewOf(context.fleet, decided, await openSpawns(context.fleet, { id: team_id }))
}
