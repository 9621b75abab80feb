import * as z from 'zod'
import { InvalidInput } from '../../../domain/errors.ts'
import { parseInput } from '../../shape.ts'
import { type Alias, aliasesOf } from '../alias.ts'
import { CLAUDE_FLEET_ROUTES } from './index.ts'
import type { Asker } from './route.ts'
import { ownIn, teamFor } from './who.ts'
import type { Checkpoint } from './words.ts'

const inTeams = aliasesOf({ knownFrom: 'claude-fleet', set: 'teams', forAgents: true })

const Name = z.string().min(1).max(50)
const Id = z.string().min(1).max(120)
const Text = z.string().min(1).max(50_000)
const WORK_STATUSES = ['pending', 'in_progress', 'completed', 'blocked', 'cancelled'] as const
const WorkerName = Name.optional().describe('whose; default: your own')

const Listed = z.object({ filter: z.enum(['all', 'mine', 'unassigned']).default('all') })
const Said = z.object({ handle: Name, message: Text })

/** Tools that clients of claude-fleet know. The others of its tools have the names of our operations. */
export const TEAM_TOOLS: readonly Alias[] = [
  inTeams({
    name: 'team_broadcast',
    summary: 'Write to everybody in your team at once. It wakes those that are idle.',
    input: z.object({ message: Text }),
    run: (ask, { message }) => ask('send_mail', { to: '@all', body: message, wake: true }),
  }),
  ...(['team_send', 'send_message'] as const).map(name =>
    inTeams({
      name,
      summary: 'Write to a member of your team. It is woken if it is idle, and told if it is at work.',
      input: Said,
      run: (ask, { handle, message }) => ask('send_mail', { to: handle, body: message, wake: true }),
    }),
  ),
  inTeams({
    name: 'read_messages',
    summary: 'Read your mail, the same as mail_read: what is unread or unanswered, or everything.',
    input: z.object({ filter: z.enum(['unread', 'all']).default('unread'), mark_read: z.boolean().default(true) }),
    run: (ask, input) => ask('read_mail', { ...input, limit: 20 }),
  }),
  inTeams({
    name: 'list_tasks',
    summary: 'List the open tasks of your team, the same as team_tasks.',
    input: Listed,
    readOnly: true,
    run: (ask, input) => ask('team_tasks', { ...input, limit: 20 }),
  }),
  inTeams({
    name: 'workitem_create',
    summary: 'Create a work item, which is a task of your team, for a member or for whoever takes it.',
    input: z.object({
      title: z.string().min(3).max(200),
      description: z.string().max(10_000).optional(),
      assignedTo: Name.optional().describe('the member who does it'),
      batchId: Id.optional().describe('a batch that it belongs to'),
    }),
    run: routed('POST /workitems'),
  }),
  inTeams({
    name: 'workitem_update',
    summary: 'Change the status of a work item. Blocked names the work items that must be done first.',
    input: z.object({
      workitem_id: Id,
      status: z.enum(WORK_STATUSES),
      reason: z.string().max(1000).optional().describe('for blocked: why'),
      blocked_by: z.array(Id).max(30).optional(),
    }),
    run: (ask, { workitem_id, blocked_by, ...input }, _, caller) =>
      routed('PATCH /workitems/:id')(
        ask,
        { ...input, id: workitem_id, ...(blocked_by && { blockedBy: blocked_by }) },
        _,
        caller,
      ),
  }),
  inTeams({
    name: 'workitem_list',
    summary: 'List the work items of your team: all, your own, or those with a status or of a batch.',
    input: z.object({ filter: z.enum(['all', 'mine', ...WORK_STATUSES]).default('all'), batch_id: Id.optional() }),
    readOnly: true,
    run: async (ask, { filter, batch_id }, elicit, caller) => {
      const own = filter === 'mine' ? await ownHandleOf({ ask, caller }) : undefined
      const status = filter === 'all' || filter === 'mine' ? {} : { status: filter }
      const wanted = { ...status, ...(own && { assignee: own }), ...(batch_id && { batch: batch_id }) }
      return { workItems: await routed('GET /workitems')(ask, wanted, elicit, caller) }
    },
  }),
  inTeams({
    name: 'batch_create',
    summary: 'Bundle work items. The batch is a task that waits for them.',
    input: z.object({ name: z.string().min(3).max(100), workitem_ids: z.array(Id).max(30).default([]) }),
    run: (ask, { name, workitem_ids }, elicit, caller) =>
      routed('POST /batches')(ask, { name, workItemIds: workitem_ids }, elicit, caller),
  }),
  inTeams({
    name: 'batch_dispatch',
    summary: 'Give every work item of a batch that is not over to one member.',
    input: z.object({ batch_id: Id, worker: Name }),
    run: (ask, { batch_id, worker }, elicit, caller) =>
      routed('POST /batches/:id/dispatch')(ask, { id: batch_id, workerHandle: worker }, elicit, caller),
  }),
  inTeams({
    name: 'worktree_commit',
    summary: 'Commit what is in your worktree as a checkpoint of your work.',
    input: z.object({ message: z.string().min(1).max(1000) }),
    run: async (ask, { message }) => {
      const { id, commit, no_commit } = await ask<Checkpoint>('checkpoint_create', { goal: message, now: message })
      return { checkpoint_id: id, commit, ...(no_commit && { no_commit }) }
    },
  }),
  inTeams({
    name: 'worktree_push',
    summary: 'Push the newest work that a member has handed in. It needs the right to land work.',
    input: z.object({ handle: WorkerName }),
    run: async (ask, { handle }, elicit, caller) =>
      routed('POST /orchestrate/worktree/:handle/push')(
        ask,
        { handle: handle ?? (await ownHandleOf({ ask, caller })) },
        elicit,
        caller,
      ),
  }),
  inTeams({
    name: 'worktree_pr',
    summary: 'Open a pull request for the newest work that a member has handed in. It needs the right to land work.',
    input: z.object({
      title: z.string().min(1).max(200),
      body: z.string().min(1).max(10_000),
      base: z.string().max(100).optional().describe('the base branch of the project'),
      handle: WorkerName,
    }),
    run: async (ask, { handle, ...input }, elicit, caller) =>
      routed('POST /orchestrate/worktree/:handle/pr')(
        ask,
        { ...input, handle: handle ?? (await ownHandleOf({ ask, caller })) },
        elicit,
        caller,
      ),
  }),
]

/** Carries a tool out as the route of the same meaning does. */
function routed(http: string): Alias['run'] {
  return (ask, input, _, caller) => {
    const route = CLAUDE_FLEET_ROUTES.find(each => each.http === http)!
    return route.run({ ask, caller }, parseInput(route, input) as never)
  }
}

async function ownHandleOf(asker: Asker): Promise<string> {
  const own = ownIn(asker.caller, await teamFor(asker))
  if (own) return own.handle
  throw new InvalidInput('handle', 'is missing: you are no member of this team yet', {
    try: 'team_status shows who is in it.',
  })
}
