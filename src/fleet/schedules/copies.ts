import { NotAllowed } from '../../domain/errors.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import { Mission, MissionSettings } from '../../domain/records/mission.ts'
import { isAtWork, type Schedule } from '../../domain/records/schedule.ts'
import type { Stage } from '../../domain/records/workflow.ts'
import { Workflow } from '../../domain/records/workflow.ts'
import * as life from '../../domain/rules/life.ts'
import type { Change, Check } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { linked } from '../missions/missions.ts'
import { current, derivedId, put } from '../records.ts'
import { aboutWorkflow } from '../workflows/engine.ts'

interface Copy {
  id: string
  changes: Change[]
  checks: Check[]
  events: NewEvent[]
}

/** What a schedule makes for one of its times. Its id is derived from the time, so no time has two. */
export async function copyOf(fleet: Fleet, schedule: Schedule, cronTime: string, when: life.By): Promise<Copy> {
  // The first word stays as it was in version 0.1.0, so that a time from then keeps its copy.
  const id = derivedId('slot', schedule.id, schedule.created_at, cronTime)
  // The clock was put back: the copy that was made for this time stays.
  if (await fleet.store.get(schedule.of === 'mission' ? 'missions' : 'workflows', id))
    return { id, changes: [], checks: [], events: [] }
  return schedule.of === 'mission'
    ? missionCopy(fleet, schedule, cronTime, id, when)
    : workflowCopy(fleet, schedule, id, when)
}

async function missionCopy(
  fleet: Fleet,
  schedule: Schedule,
  cronTime: string,
  id: string,
  when: life.By,
): Promise<Copy> {
  const { value: template, version } = await current(fleet, 'missions', schedule.id)
  if (template.deleting) throw new NotAllowed(`Mission ${template.id} is being deleted.`)
  const draft = Mission.parse({
    ...MissionSettings.parse(template),
    id,
    project_id: template.project_id,
    prompt: template.prompt,
    variables: template.variables,
    script: template.script,
    scheduled: { by: schedule.id, cron_time: cronTime },
    status: 'draft',
    created_at: when.now,
    updated_at: when.now,
  })
  const { ready, changes } = await linked(fleet, draft)
  const created = life.about(draft, 'mission_created', when, {
    data: { title: draft.title, scheduled: schedule.id, cron_time: cronTime, was: null, status: 'draft' },
  })
  const queued = life.dispatch(draft, ready, null, when, 'auto_dispatched')
  return {
    id,
    changes: [put('missions', queued.mission, 'absent'), ...changes],
    checks: [{ collection: 'missions', id: template.id, expects: version }],
    events: [created, ...queued.events],
  }
}

async function workflowCopy(fleet: Fleet, schedule: Schedule, id: string, when: life.By): Promise<Copy> {
  const { value: template, version } = await current(fleet, 'workflows', schedule.id)
  const stages = JSON.parse(await fleet.blobs.read(template.definition)) as Stage[]
  const workflow = Workflow.parse({
    id,
    name: template.name,
    project_id: template.project_id,
    task: template.task,
    definition: await fleet.blobs.keep(JSON.stringify(stages.map(stage => ({ ...stage, generation: 0 })))),
    stages: template.stages,
    base_ref: template.base_ref,
    tags: template.tags,
    status: 'making',
    created_at: when.now,
    updated_at: when.now,
  })
  return {
    id,
    changes: [put('workflows', workflow, 'absent')],
    checks: [{ collection: 'workflows', id: template.id, expects: version }],
    events: [aboutWorkflow(workflow, 'workflow_created', when, { name: workflow.name, scheduled: schedule.id })],
  }
}

interface LastCopy {
  /** Whether a copy is still at work, or waits to be. */
  busy: boolean
  cancel(when: life.By): { changes: Change[]; events: NewEvent[] } | null
}

export async function lastCopy(fleet: Fleet, { of, last }: Schedule): Promise<LastCopy> {
  const nothing: LastCopy = { busy: false, cancel: () => null }
  if (!last) return nothing
  if (of === 'mission') {
    const copy = await fleet.store.get('missions', last.copy_id)
    if (!copy || !isAtWork(copy.value)) return nothing
    return {
      busy: true,
      cancel(when) {
        // What a person has taken over is theirs until they hand it back. The next copy waits for that.
        if (copy.value.cancel_requested || copy.value.taken_over) return null
        const step = life.requestCancel(copy.value, when)
        return { changes: [put('missions', step.mission, copy.version)], events: step.events }
      },
    }
  }
  const copy = await fleet.store.get('workflows', last.copy_id)
  if (!copy || !isWorkflowAtWork(copy.value)) return nothing
  return {
    busy: true,
    cancel(when) {
      if (copy.value.status === 'cancelled') return null
      const cancelled = { ...copy.value, status: 'cancelled' as const, ended_at: when.now, updated_at: when.now }
      return {
        changes: [put('workflows', cancelled, copy.version)],
        events: [aboutWorkflow(copy.value, 'workflow_cancelled', when)],
      }
    },
  }
}

/** A cancelled workflow is at work until the last of its stages has stopped. */
const isWorkflowAtWork = ({ status, open }: Workflow): boolean =>
  status === 'making' || status === 'running' || (status === 'cancelled' && open > 0)
