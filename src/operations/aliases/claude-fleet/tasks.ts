import * as z from 'zod'
import { InvalidInput, Refusal } from '../../../domain/errors.ts'
import { type Asker, type Route, route } from './route.ts'
import { requireSelf, type Team, teamFor } from './who.ts'
import { type Task, taskOf, taskStatus } from './words.ts'

const Name = z.string().min(1).max(50)
const Id = z.string().min(1).max(120)
const Ids = z.array(Id).max(30)
const TASK_STATUSES = ['open', 'in_progress', 'resolved', 'blocked'] as const
/** The longest list. */
const MOST = 500
const PAGE = 100

/** The tasks of a team, which are missions. */
export const TASK_ROUTES: readonly Route[] = [
  route('GET /teams/:team/tasks', z.object({ team: z.string().max(120) }), async (asker, { team: name }) => {
    const team = await teamFor(asker, name)
    return (await tasksIn(asker, team)).map(each => taskOf(each, team))
  }),
  route(
    'POST /tasks',
    z.object({
      fromUid: Id.optional(),
      toHandle: Name,
      teamName: Name.optional(),
      subject: z.string().min(3).max(200),
      description: z.string().max(10_000).nullish(),
      blockedBy: Ids.optional(),
    }),
    async (asker, { fromUid, toHandle, teamName, subject, description, blockedBy }) => {
      const team = await teamFor(asker, teamName)
      if (fromUid !== undefined) requireSelf(asker.caller, team, 'fromUid', fromUid)
      const made = await asker.ask<Task>('create_team_task', {
        ...{ team_id: team.id, title: subject, agent: toHandle },
        ...(description && { description }),
        ...(blockedBy && { blocked_by: blockedBy }),
      })
      return taskOf(made, team)
    },
  ),
  route('GET /tasks/:id', z.object({ id: Id }), async (asker, { id }) => {
    const task = await asker.ask<Task>('get_team_task', { task_id: id })
    return taskOf(task, await teamFor(asker, task.team_id))
  }),
  route(
    'PATCH /tasks/:id',
    z.object({ id: Id, status: z.enum(TASK_STATUSES), blockedBy: Ids.optional() }),
    async (asker, { id, status, blockedBy }) => {
      const task = await changed(asker, id, status, blockedBy)
      return taskOf(task, await teamFor(asker, task.team_id))
    },
  ),
]

/** All tasks of a team, the newest first. */
export async function tasksIn({ ask }: Asker, { id: team_id }: Pick<Team, 'id'>): Promise<Task[]> {
  const found: Task[] = []
  for (let cursor: string | undefined; found.length < MOST; ) {
    const wanted = { team_id, over: true, limit: PAGE, ...(cursor && { cursor }) }
    const page = await ask<{ tasks: Task[]; cursor?: string }>('team_tasks', wanted)
    found.push(...page.tasks)
    if (!page.cursor) break
    cursor = page.cursor
  }
  return found
}

/** Brings a task into a status of theirs. In that status already, it stays as it is. */
export async function changed(
  { ask }: Asker,
  task_id: string,
  status: (typeof TASK_STATUSES)[number],
  blocked_by: readonly string[] = [],
): Promise<Task> {
  const before = await ask<Task>('get_team_task', { task_id })
  if (taskStatus(before) === status && !blocked_by.length) return before
  if (status === 'blocked' && !blocked_by.length)
    throw new InvalidInput('blockedBy', 'is missing: name the tasks that must be done first', {
      try: 'If it waits for a person, write to @team-lead.',
    })
  const wanted = { task_id, status, ...(blocked_by.length && { blocked_by }) }
  return ask<Task>('update_team_task', wanted).catch((error: unknown) => {
    throw namingBlockers(error)
  })
}

/** There it is a mistake in the request, and the ids are in `blockedBy`. */
function namingBlockers(error: unknown): unknown {
  if (!(error instanceof Refusal) || !Array.isArray(error.facts.blockers)) return error
  return new Blocked(error)
}

class Blocked extends Refusal {
  readonly code = 'blocked'
  readonly status = 400
  readonly exit = 4
  constructor({ message, hint, facts }: Refusal) {
    super(message, { try: hint, facts: { blockedBy: facts.blockers } })
  }
}
