import { NotAllowed, NotFound, WrongState } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import { isLoopOver, Loop, type LoopSettings } from '../../domain/records/loop.ts'
import type { By } from '../../domain/rules/life.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { requireCodingAgent } from '../missions/agents.ts'
import { requireHeld } from '../missions/requirements.ts'
import { plannerSettings, requirePlanner } from '../planning/plans.ts'
import { current, put } from '../records.ts'

/** Starts a loop towards a goal. A project has one loop at a time. */
export async function startLoop(
  fleet: Fleet,
  ask: Ask,
  projectId: string,
  goal: string,
  settings: LoopSettings,
): Promise<Stored<Loop>> {
  const stored = await fleet.blobs.keep(goal)
  const planner =
    settings.agent ?? (await requireCodingAgent(fleet, (await current(fleet, 'projects', projectId)).value))
  const id = await oncePerKey(fleet, ask, async () => {
    const { value: project, version } = await current(fleet, 'projects', projectId)
    if (project.deleting) throw new NotAllowed(`Project ${project.name} is being deleted.`)
    if (project.worktree === 'none')
      throw new NotAllowed(`${project.name} is not a repository, so a loop has nothing to build on there.`)
    if (project.checks.length === 0 && !settings.unchecked)
      throw new NotAllowed(`Project ${project.name} has no checks, so nothing can tell when the goal is reached.`, {
        try: `fleet project set ${project.id} --check 'tests=npm test', or add --unchecked`,
      })
    await requirePlanner(fleet, planner)
    requireHeld(fleet, plannerSettings(planner, settings), project)
    const before = project.loop_id && (await fleet.store.get('loops', project.loop_id))?.value
    if (before && !isLoopOver(before))
      throw new NotAllowed(`Project ${project.name} has a loop already, which is ${before.status}.`, {
        try: `fleet loop stop --project ${project.id}`,
      })
    const when = by(fleet, ask)
    const loop = Loop.parse({
      ...settings,
      id: newId(),
      project_id: project.id,
      goal: stored,
      status: 'running',
      created_at: when.now,
      updated_at: when.now,
    })
    return {
      subject: loop.id,
      changes: [put('loops', loop, 'absent'), put('projects', { ...project, loop_id: loop.id }, version)],
      events: [loopEvent(loop, 'loop_started', when)],
    }
  })
  return current(fleet, 'loops', id)
}

export const loopEvent = (
  loop: Loop,
  kind: NewEvent['kind'],
  { actor, now }: By,
  data: Record<string, unknown> = {},
  cause: string | null = null,
): NewEvent => ({ kind, time: now, actor, project_id: loop.project_id, cause, data: { loop: loop.id, ...data } })

/** The newest loop of a project. */
export async function loopOf(fleet: Fleet, projectId: string): Promise<Stored<Loop>> {
  const { value: project } = await current(fleet, 'projects', projectId)
  const loop = project.loop_id && (await fleet.store.get('loops', project.loop_id))
  if (loop) return loop
  throw new NotFound('loop of project', project.name, { try: 'fleet loop start "<goal>"' })
}

const changing =
  (from: readonly Loop['status'][], kind: NewEvent['kind'], change: Partial<Loop>) =>
  async (fleet: Fleet, ask: Ask, projectId: string): Promise<Stored<Loop>> => {
    const { id } = (await loopOf(fleet, projectId)).value
    await oncePerKey(fleet, ask, async () => {
      const { value, version } = await current(fleet, 'loops', id)
      if (value.status === change.status) return { subject: id, changes: [] }
      if (!from.includes(value.status)) throw new WrongState('Loop', id, value.status, from)
      const when = by(fleet, ask)
      const loop: Loop = { ...value, ...change, updated_at: when.now }
      return { subject: id, changes: [put('loops', loop, version)], events: [loopEvent(loop, kind, when)] }
    })
    return current(fleet, 'loops', id)
  }

/** Running missions go on. Nothing new is planned or started. */
export const pauseLoop = changing(['running'], 'loop_paused', { status: 'paused' })
export const resumeLoop = changing(['paused'], 'loop_resumed', { status: 'running' })
/** The daemon ends its agents. Their work is kept. */
export const stopLoop = changing(['running', 'paused'], 'loop_stopping', {
  status: 'stopping',
  ending: { status: 'stopped', code: 'person', text: 'A person stopped it.' },
})
