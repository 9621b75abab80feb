import * as z from 'zod'
import { Forbidden, NotFound } from '../domain/errors.ts'
import { CHECKPOINT_STATES, Checkpoint, Standing } from '../domain/records/checkpoint.ts'
import type { Member, Team } from '../domain/records/team.ts'
import { clipped } from '../domain/text.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { current } from '../fleet/records.ts'
import { lookUpMember } from '../fleet/teams/members.ts'
import {
  createCheckpoint,
  decideCheckpoint,
  loadCheckpoint,
  type NewCheckpoint,
  standingOf,
} from '../fleet/teamwork/checkpoints.ts'
import { actorOf, ask, Paging, Ref } from './inputs.ts'
import { type Context, command, query } from './operation.ts'
import { knownIn, memberIn, ofTeam, steers, teamOf } from './team-callers.ts'
import { MemberRef } from './teams.ts'

const TeamRef = Ref.optional().describe('a team; default: your own, or the only one')
const CheckpointRef = Ref.describe('the id of a checkpoint')

const CheckpointView = Checkpoint.omit({ standing: true, order: true, loading: true })
  .extend(Standing.shape)
  .extend({ loads: z.boolean().describe('the next session of a member will be told about it') })

async function viewOf(fleet: Fleet, checkpoint: Checkpoint): Promise<z.infer<typeof CheckpointView>> {
  const { standing: _, order: __, loading, ...shown } = checkpoint
  return { ...shown, ...(await standingOf(fleet, checkpoint)), loads: loading?.session_id === null }
}

async function checkpointOf(context: Context, ref: string): Promise<{ checkpoint: Checkpoint; team: Team }> {
  const { value: checkpoint, team } = await ofTeam(context, 'checkpoints', ref)
  return { checkpoint, team }
}

async function create(
  context: Context,
  operation: string,
  team: Team,
  wanted: Pick<NewCheckpoint, 'standing' | 'wake'> & { to?: string },
): Promise<z.infer<typeof CheckpointView>> {
  const { fleet, caller } = context
  const author = await memberIn(context, team)
  const to = wanted.to === undefined ? author : (await lookUpMember(fleet, team, wanted.to)).value
  const session = caller.kind === 'session' ? (await current(fleet, 'sessions', caller.session_id)).value : undefined
  const made = await createCheckpoint(fleet, ask(context, operation), team, author, { ...wanted, to, session })
  return viewOf(fleet, made)
}

async function decide(
  context: Context,
  ref: string,
  decision: 'accepted' | 'rejected',
  outcome: string | undefined,
): Promise<z.infer<typeof CheckpointView>> {
  const { checkpoint, team } = await checkpointOf(context, ref)
  const member = await knownIn(context, team)
  if (!member) throw new Forbidden(`Checkpoint ${checkpoint.id} is addressed to ${checkpoint.to.handle}.`)
  const told = { outcome: outcome ?? null, actor: actorOf(context) }
  return viewOf(context.fleet, await decideCheckpoint(context.fleet, checkpoint.id, member, decision, told))
}

/**
 * Whose next session is told. An agent loads for itself; those who steer the team load for anybody in it. Undefined:
 * whoever asks works outside, and reads it here.
 */
async function readerOf(
  context: Context,
  team: Team,
  { to }: Checkpoint,
  named: string | undefined,
): Promise<Member | undefined> {
  const { fleet } = context
  const caller = await memberIn(context, team)
  if (named === undefined && caller.person === null) return caller
  const { value: reader } = await lookUpMember(fleet, team, named ?? to.handle)
  if (reader.id !== caller.id && !steers(context, caller))
    throw new Forbidden(`${caller.handle} may load a checkpoint only for itself.`)
  if (reader.person !== null && reader.id === caller.id && named === undefined) return undefined
  if (reader.person !== null) throw new Forbidden(`${reader.handle} is a person, and has no sessions.`)
  return reader
}

export const checkpoints = [
  command({
    name: 'checkpoint_create',
    may: 'mail.send',
    touches: 'view',
    mcp: 'teams',
    summary: 'Write down how your work stands, with a commit of your worktree, for yourself or another member',
    http: 'POST /api/checkpoints',
    agentMay: () => true,
    input: Standing.extend({
      team_id: TeamRef,
      to_handle: MemberRef.optional().describe('the member who goes on with it; default: yourself'),
    }),
    output: CheckpointView,
    run: async (context, { team_id, to_handle, ...standing }) =>
      create(context, 'checkpoint_create', await teamOf(context, team_id), { standing, to: to_handle, wake: false }),
  }),
  command({
    name: 'team_handoff',
    may: 'mail.send',
    touches: 'view',
    mcp: 'teams',
    summary:
      'Hand your work over to another member: a checkpoint with a commit of your worktree, and mail that wakes it',
    http: 'POST /api/handoffs',
    needsFleet: true,
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      to: MemberRef,
      context: Standing.shape.now.describe('how it stands, and what is to be done'),
    }),
    output: CheckpointView,
    run: async (context, { team_id, to, context: now }) => {
      const goal = clipped(now.trim().split('\n')[0] || now, 200)
      const standing = Standing.parse({ goal, now })
      return create(context, 'team_handoff', await teamOf(context, team_id), { standing, to, wake: true })
    },
  }),
  query({
    name: 'checkpoint_list',
    may: 'teams.read',
    mcp: { set: 'teams', defaults: { limit: 10 } },
    summary: 'List the checkpoints of a team, or those addressed to a member, newest first',
    http: 'GET /api/checkpoints',
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      to_handle: MemberRef.optional().describe('only those addressed to this member'),
      state: z.enum(CHECKPOINT_STATES).optional(),
      ...Paging,
    }),
    output: z.object({ checkpoints: z.array(CheckpointView), cursor: z.string().optional() }),
    run: async (context, { team_id, to_handle, state, limit, cursor }) => {
      const { fleet } = context
      const team = await teamOf(context, team_id)
      const to = to_handle === undefined ? undefined : (await lookUpMember(fleet, team, to_handle)).value.id
      const range = to ? { index: 'to', equals: [to] } : { index: 'team', equals: [team.id] }
      const wanted = state ? { index: `${range.index}_state`, equals: [...range.equals, state] } : range
      const page = await fleet.store.find('checkpoints', { ...wanted, newestFirst: true, limit, cursor })
      const checkpoints = await Promise.all(page.items.map(({ value }) => viewOf(fleet, value)))
      return { checkpoints, ...(page.cursor && { cursor: page.cursor }) }
    },
  }),
  query({
    name: 'get_checkpoint',
    may: 'teams.read',
    mcp: 'teams',
    summary: 'Show a checkpoint',
    http: 'GET /api/checkpoints/:checkpoint_id',
    agentMay: () => true,
    input: z.object({ checkpoint_id: CheckpointRef }),
    output: CheckpointView,
    run: async (context, { checkpoint_id }) =>
      viewOf(context.fleet, (await checkpointOf(context, checkpoint_id)).checkpoint),
  }),
  command({
    name: 'checkpoint_load',
    may: 'mail.send',
    touches: 'view',
    mcp: 'teams',
    summary: 'Show a checkpoint, and put it into the prompt of the next session of a member',
    http: 'POST /api/checkpoints/load',
    agentMay: () => true,
    input: z.object({
      team_id: TeamRef,
      checkpoint_id: CheckpointRef.optional().describe('default: the newest that is addressed to you'),
      member: MemberRef.optional().describe('whose next session; default: yourself, or for a person its addressee'),
    }),
    output: CheckpointView,
    run: async (context, { team_id, checkpoint_id, member }) => {
      const { checkpoint, team } = checkpoint_id
        ? await checkpointOf(context, checkpoint_id)
        : await newestFor(context, await teamOf(context, team_id), member)
      const reader = await readerOf(context, team, checkpoint, member)
      const loaded = reader && (await loadCheckpoint(context.fleet, checkpoint.id, reader, actorOf(context)))
      return viewOf(context.fleet, loaded ?? checkpoint)
    },
  }),
  command({
    name: 'checkpoint_accept',
    may: 'mail.send',
    mcp: 'teams',
    summary: 'Accept a checkpoint that is addressed to you. Its author is told; the first decision counts',
    http: 'POST /api/checkpoints/:checkpoint_id/accept',
    agentMay: () => true,
    input: z.object({
      checkpoint_id: CheckpointRef,
      outcome: z.string().max(4000).optional().describe('what you will do with it'),
    }),
    output: CheckpointView,
    run: (context, { checkpoint_id, outcome }) => decide(context, checkpoint_id, 'accepted', outcome),
  }),
  command({
    name: 'checkpoint_reject',
    may: 'mail.send',
    mcp: 'teams',
    summary: 'Reject a checkpoint that is addressed to you, with the reason. Its author is told',
    http: 'POST /api/checkpoints/:checkpoint_id/reject',
    agentMay: () => true,
    input: z.object({ checkpoint_id: CheckpointRef, outcome: z.string().min(1).max(4000).describe('why') }),
    output: CheckpointView,
    run: (context, { checkpoint_id, outcome }) => decide(context, checkpoint_id, 'rejected', outcome),
  }),
]

/** The newest checkpoint that is addressed to a member, or to the caller. */
async function newestFor(context: Context, team: Team, named: string | undefined) {
  const { fleet } = context
  const reader = named === undefined ? await knownIn(context, team) : (await lookUpMember(fleet, team, named)).value
  const { items } = reader
    ? await fleet.store.find('checkpoints', { index: 'to', equals: [reader.id], newestFirst: true, limit: 1 })
    : { items: [] }
  if (!items[0]) throw new NotFound('checkpoint for', reader?.handle ?? 'you', { try: 'checkpoint_list shows all.' })
  return { checkpoint: items[0].value, team }
}
