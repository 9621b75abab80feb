import * as z from 'zod'
import { InvalidInput, NotFound } from '../../../domain/errors.ts'
import { type Asker, type Route, route } from './route.ts'
import { changed, tasksIn } from './tasks.ts'
import { requireSelf, type Team, teamFor } from './who.ts'
import { batchOf, type Task, taskStatus, workItemOf } from './words.ts'

const Name = z.string().min(1).max(50)
const Id = z.string().min(1).max(120)
const WORK_STATUSES = ['pending', 'in_progress', 'completed', 'blocked', 'cancelled'] as const
/** The tag of tasks that are batches. */
const BATCH = 'batch'

const TASKS = { pending: 'open', in_progress: 'in_progress', completed: 'resolved', blocked: 'blocked' } as const

/** Tasks of the team as work items, and as batches of them. */
export const WORK_ITEM_ROUTES: readonly Route[] = [
  route(
    'POST /workitems',
    z.object({
      title: z.string().min(3).max(200),
      description: z.string().max(10_000).nullish(),
      assignedTo: Name.optional(),
      batchId: Id.optional(),
    }),
    async (asker, { title, description, assignedTo, batchId }) => {
      const team = await teamFor(asker)
      const batch = batchId === undefined ? undefined : await batchNamed(asker, team, batchId)
      const made = await asker.ask<Task>('create_team_task', {
        ...{ team_id: team.id, title },
        ...(description && { description }),
        ...(assignedTo && { agent: assignedTo }),
      })
      if (batch) await join(asker, batch.id, [made.id])
      return workItemOf(made, batch?.id ?? null)
    },
  ),
  route(
    'GET /workitems',
    z.object({ status: z.enum(WORK_STATUSES).optional(), assignee: Name.optional(), batch: Id.optional() }),
    async (asker, { status, assignee, batch }) => {
      const items = workItemsOf(await tasksIn(asker, await teamFor(asker)))
      return items.filter(
        each =>
          (status === undefined || each.status === status) &&
          (assignee === undefined || each.assignedTo?.toLowerCase() === assignee.toLowerCase()) &&
          (batch === undefined || each.batchId === batch),
      )
    },
  ),
  route('GET /workitems/:id', z.object({ id: Id }), async (asker, { id }) => shown(asker, await item(asker, id))),
  route(
    'PATCH /workitems/:id',
    z.object({
      id: Id,
      status: z.enum(WORK_STATUSES),
      reason: z.string().max(1000).optional(),
      actor: Name.optional(),
      blockedBy: z.array(Id).max(30).optional(),
    }),
    async (asker, { id, status, reason, actor, blockedBy }) => {
      const before = await item(asker, id)
      const team = await teamFor(asker, before.team_id)
      if (actor !== undefined) requireSelf(asker.caller, team, 'actor', actor)
      if (reason !== undefined && status !== 'blocked')
        throw new InvalidInput('reason', 'is kept only with blocked', { try: 'Say it in mail to @team-lead.' })
      if (status === 'cancelled') await asker.ask('cancel_mission', { mission_id: before.id })
      else if (status === 'blocked' && reason !== undefined && blockedBy?.length)
        await asker.ask('team_block', { task_id: before.id, blocked_by: blockedBy, reason })
      else await changed(asker, before.id, TASKS[status], blockedBy)
      return shown(asker, await item(asker, before.id))
    },
  ),
  route(
    'POST /batches',
    z.object({ name: z.string().min(3).max(100), workItemIds: z.array(Id).max(30).optional() }),
    async (asker, { name, workItemIds = [] }) => {
      const team = await teamFor(asker)
      const made = await asker.ask<Task>('create_team_task', {
        ...{ team_id: team.id, title: name, tags: [BATCH], blocked_by: workItemIds },
        description: 'A batch of work items. It is done when they are.',
      })
      return batchOf(made, itemsOf(made, await tasksIn(asker, team)))
    },
  ),
  route('GET /batches', z.object({}), async asker => {
    const all = await tasksIn(asker, await teamFor(asker))
    return all.filter(isBatch).map(batch => batchOf(batch, itemsOf(batch, all)))
  }),
  route('GET /batches/:id', z.object({ id: Id }), async (asker, { id }) => {
    const team = await teamFor(asker)
    const batch = await batchNamed(asker, team, id)
    const items = itemsOf(batch, await tasksIn(asker, team))
    return { ...batchOf(batch, items), workItems: items.map(each => workItemOf(each, batch.id)) }
  }),
  route('POST /batches/:id/dispatch', z.object({ id: Id, workerHandle: Name }), async (asker, { id, workerHandle }) => {
    const team = await teamFor(asker)
    const batch = await batchNamed(asker, team, id)
    const open = itemsOf(batch, await tasksIn(asker, team)).filter(each => taskStatus(each) !== 'resolved')
    for (const { id: task } of open) await asker.ask('team_assign', { team_id: team.id, agent: workerHandle, task })
    const items = itemsOf(batch, await tasksIn(asker, team))
    return { batch: batchOf(batch, items), dispatchedCount: open.length }
  }),
]

const isBatch = ({ tags }: Task): boolean => tags.includes(BATCH)

const itemsOf = ({ depends_on }: Task, all: readonly Task[]): Task[] => all.filter(({ id }) => depends_on.includes(id))

/** The newest batch that a work item is in. */
function workItemsOf(all: readonly Task[]) {
  const batches = all.filter(isBatch)
  return all
    .filter(task => !isBatch(task))
    .map(task => workItemOf(task, batches.find(({ depends_on }) => depends_on.includes(task.id))?.id ?? null))
}

async function item({ ask }: Asker, id: string): Promise<Task> {
  const task = await ask<Task>('get_team_task', { task_id: id })
  if (isBatch(task)) throw new NotFound('work item', id, { try: 'GET /batches/<id> shows a batch.' })
  return task
}

async function shown(asker: Asker, task: Task) {
  const all = await tasksIn(asker, await teamFor(asker, task.team_id))
  return workItemsOf(all).find(({ id }) => id === task.id) ?? workItemOf(task, null)
}

async function batchNamed({ ask }: Asker, team: Team, id: string): Promise<Task> {
  const task = await ask<Task>('get_team_task', { task_id: id })
  if (isBatch(task) && task.team_id === team.id) return task
  throw new NotFound('batch', id, { try: 'GET /batches lists all.' })
}

const join = ({ ask }: Asker, task_id: string, blocked_by: readonly string[]) =>
  ask('team_block', { task_id, blocked_by, reason: 'A work item was added.' })
