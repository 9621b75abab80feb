import { realpath } from 'node:fs/promises'
import * as z from 'zod'
import { Forbidden, InvalidInput, oneOf } from '../../../domain/errors.ts'
import type { Project } from '../../../domain/records/project.ts'
import { MEMBER_ROLES, type MemberRole } from '../../../domain/records/team.ts'
import { logLine } from '../../briefing.ts'
import { say } from './chats.ts'
import { type Asker, type Route, route } from './route.ts'
import { type Member, ownIn, requireSelf, type Team, teamFor, teamsFor, workerFor } from './who.ts'
import { workerOf } from './words.ts'

const Name = z.string().min(1).max(50)
const LINES = 100

/** Agents of teams as workers: they are spawned, written to, looked at and dismissed by handle. */
export const WORKER_ROUTES: readonly Route[] = [
  route(
    'POST /orchestrate/spawn',
    z.object({
      handle: Name,
      initialPrompt: z.string().max(10_000).optional(),
      teamName: Name.optional(),
      workingDir: z.string().max(500).optional(),
      sessionId: z.string().max(100).optional(),
      swarmId: z.string().max(100).optional(),
      spawnMode: z.string().max(20).optional(),
      model: z.string().max(50).optional(),
      role: z.string().max(50).default('worker'),
    }),
    spawned,
  ),
  route('POST /orchestrate/dismiss/:handle', z.object({ handle: Name }), async (asker, { handle }) => {
    const { team, member } = await workerFor(asker, handle)
    await asker.ask('dismiss_member', { team_id: team.id, member: member.id })
    return { success: true, handle: member.handle }
  }),
  route(
    'POST /orchestrate/send/:handle',
    z.object({ handle: Name, message: z.string().min(1).max(50_000) }),
    async (asker, { handle, message }) => {
      const { team, member } = await workerFor(asker, handle)
      await say(asker, team, [member.handle], message)
      return { success: true, handle: member.handle }
    },
  ),
  route('GET /orchestrate/workers', z.object({}), async asker => {
    const all = (await teamsFor(asker)).flatMap(team =>
      team.members.filter(isAgent).map(member => told(asker, team, member)),
    )
    return Promise.all(all)
  }),
  route('GET /orchestrate/output/:handle', z.object({ handle: Name }), async (asker, { handle }) => {
    const { team, member } = await workerFor(asker, handle)
    const { state } = workerOf(member, team, null)
    return { handle: member.handle, state, output: await outputOf(asker, member) }
  }),
  route(
    'POST /orchestrate/workers/register',
    z.object({
      handle: Name,
      teamName: Name.optional(),
      workingDir: z.string().max(500).optional(),
      swarmId: z.string().max(100).optional(),
    }),
    registered,
  ),
]

/** Who works outside has joined with `POST /auth`, and is told as a worker. Nobody joins for somebody else. */
async function registered(
  asker: Asker,
  { handle, teamName, workingDir, swarmId }: Pick<Spawn, 'handle' | 'teamName' | 'workingDir' | 'swarmId'>,
) {
  const team = await teamFor(asker, teamName)
  const own = ownIn(asker.caller, team)
  if (!own)
    throw new Forbidden(`You are not in the team ${team.name}.`, {
      try: `POST /auth {handle, teamName: ${JSON.stringify(team.name)}} gives a token for it.`,
    })
  requireSelf(asker.caller, team, 'handle', handle)
  if (swarmId !== undefined && swarmId !== own.swarm_id)
    throw new InvalidInput('swarmId', 'is for agents that the fleet starts', { try: 'Leave it out.' })
  if (workingDir !== undefined) await requireInside(asker, team, workingDir)
  return workerOf(own, team, workingDir ?? null)
}

interface Spawn {
  handle: string
  initialPrompt?: string
  teamName?: string
  workingDir?: string
  sessionId?: string
  swarmId?: string
  spawnMode?: string
  model?: string
  role: string
}

/** A member starts when mail comes, so its first prompt is mail. */
async function spawned(asker: Asker, { handle, initialPrompt, swarmId, model, sessionId, ...wanted }: Spawn) {
  const role = roleNamed(wanted.role)
  requireOurWay(wanted)
  const team = await teamFor(asker, wanted.teamName)
  if (wanted.workingDir !== undefined) await requireInside(asker, team, wanted.workingDir)
  const made = await asker.ask<Member>('add_member', {
    ...{ team_id: team.id, handle, role },
    ...(model && { model }),
    ...(swarmId && { swarm_id: swarmId }),
    ...(sessionId && { conversation: sessionId }),
  })
  if (initialPrompt) await say(asker, team, [made.handle], initialPrompt)
  return { ...workerOf({ ...made, state: initialPrompt ? 'waiting' : made.state }, team, null), spawnMode: 'native' }
}

/** Roles have the same names here; a lead is what people call a team-lead. */
export function roleNamed(name: string): MemberRole {
  const role = MEMBER_ROLES.find(each => each === (name === 'lead' ? 'team-lead' : name))
  if (role) return role
  throw new InvalidInput('role', `is not known here: ${name}`, { try: `Choose ${oneOf(MEMBER_ROLES)}.` })
}

function requireOurWay({ spawnMode = 'native' }: Pick<Spawn, 'spawnMode'>): void {
  if (!['native', 'process'].includes(spawnMode))
    throw new InvalidInput('spawnMode', `must be native or process here, not ${spawnMode}`)
}

/** A worker gets a worktree of its own. The folder it is asked for says only which repository is meant. */
async function requireInside({ ask }: Asker, { project_id, name }: Team, workingDir: string): Promise<void> {
  const { path } = await ask<Project>('get_project', { project_id })
  const real = await realpath(workingDir).catch(() => workingDir)
  if (real === path || real.startsWith(`${path}/`)) return
  throw new InvalidInput('workingDir', `is not in ${path}, the project of the team ${name}`, {
    try: 'Leave it out: a worker gets a worktree of its own.',
  })
}

export const isAgent = ({ person }: Member): boolean => person === null

async function told(asker: Asker, team: Team, member: Member) {
  return workerOf(member, team, await worktreeOf(asker, member))
}

/** Where its newest session works, for whoever may see sessions. */
async function worktreeOf({ ask }: Asker, { session_id }: Member): Promise<string | null> {
  if (session_id === null) return null
  const { worktree } = await ask<{ worktree: string | null }>('get_session', { session_id }).catch((error: unknown) => {
    if (error instanceof Forbidden) return { worktree: null }
    throw error
  })
  return worktree
}

async function outputOf({ ask }: Asker, { session_id }: Member): Promise<string[]> {
  if (session_id === null) return []
  const wanted = { session_id, limit: LINES, last: true }
  const { events } = await ask<{ events: Record<string, unknown>[] }>('read_transcript', wanted)
  return events.flatMap(event => logLine({ ...event }) ?? [])
}
