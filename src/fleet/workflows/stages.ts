import type { Mission } from '../../domain/records/mission.ts'
import type { Report } from '../../domain/records/report.ts'
import type { StageStatus } from '../../domain/records/stage-status.ts'
import {
  isScriptStage,
  requireUnspliced,
  type Stage,
  stageCalled,
  type Workflow,
} from '../../domain/records/workflow.ts'
import { mentionedIn } from '../../domain/rules/script-variables.ts'
import { fillIn, type StageFact } from '../../domain/rules/template.ts'
import type { Fleet } from '../fleet.ts'
import { current, derivedId, newestReport } from '../records.ts'

/** A workflow with its graph laid out. */
export interface Plan {
  workflow: Workflow
  stages: Stage[]
  /** Which stages may begin once one is over, by its place. */
  after: number[][]
}

const MOST_KNOWN = 50
const known = new Map<string, Pick<Plan, 'stages' | 'after'>>()

/** Reading a graph of a thousand stages at each of their ends would cost more than the ends: it is kept while it is the same. */
export async function planOf(fleet: Fleet, workflowId: string): Promise<Plan> {
  const { value: workflow } = await current(fleet, 'workflows', workflowId)
  const key = 'blob' in workflow.definition ? workflow.definition.blob : workflow.definition.inline
  const found = known.get(key) ?? laidOut(JSON.parse(await fleet.blobs.read(workflow.definition)) as Stage[])
  known.delete(key)
  known.set(key, found)
  if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!)
  return { workflow, ...found }
}

function laidOut(stages: Stage[]): Pick<Plan, 'stages' | 'after'> {
  const dependents = stages.map((): number[] => [])
  for (const [index, { depends_on }] of stages.entries()) for (const each of depends_on) dependents[each]!.push(index)
  const after = dependents.map(those => new Set(those))
  for (const [index, stage] of stages.entries()) {
    if (typeof stage.on_failure === 'object') after[index]!.add(stage.on_failure.run)
    // Whoever waits for a stage waits for the one that takes its place, and for the one that takes the place of that.
    for (let { on_failure } = stage; typeof on_failure === 'object'; { on_failure } = stages[on_failure.run]!)
      for (const next of dependents[index]!) after[on_failure.run]!.add(next)
  }
  return { stages, after: after.map(those => [...those]) }
}

/** The mission of a stage; its id follows from the workflow, so that it cannot be made twice. */
export const stageId = (workflowId: string, index: number, { generation }: Stage): string =>
  derivedId('stage', workflowId, String(index), String(generation))

export async function stageMission({ fleet, plan }: { fleet: Fleet; plan: Plan }, index: number): Promise<Mission> {
  const { workflow, stages } = plan
  return (await current(fleet, 'missions', stageId(workflow.id, index, stages[index]!))).value
}

type Told = Pick<Mission, 'prompt' | 'variables'>

/** What a stage is told: its template with everything filled in, or a script as it is and all that in its variables. */
export async function toldTo(fleet: Fleet, plan: Plan, index: number): Promise<Told> {
  const stage = plan.stages[index]!
  if (!isScriptStage(stage))
    return { prompt: await fleet.blobs.keep(await promptFor(fleet, plan, index)), variables: null }
  requireUnspliced(plan.stages, stage, `stages[${index}].prompt`)
  const values: Record<string, string> = {}
  for (const [name, variable] of mentionedIn(stage.prompt))
    values[name] =
      variable.of === 'task'
        ? await fleet.blobs.read(plan.workflow.task)
        : await factOf({ fleet, plan }, stageCalled(plan.stages, variable.stage)!, variable.fact)
  return {
    prompt: await fleet.blobs.keep(stage.prompt),
    variables: Object.keys(values).length ? await fleet.blobs.keep(JSON.stringify(values)) : null,
  }
}

async function promptFor(fleet: Fleet, plan: Plan, index: number): Promise<string> {
  const { stages, workflow } = plan
  const values = new Map<string, string>()
  const task = await fleet.blobs.read(workflow.task)
  const asked: [number, StageFact][] = []
  fillIn(stages[index]!.prompt, variable => {
    if (variable.of === 'stage') asked.push([stageCalled(stages, variable.stage)!, variable.fact])
    return ''
  })
  for (const [stage, fact] of asked) values.set(`${stage}.${fact}`, await factOf({ fleet, plan }, stage, fact))
  return fillIn(stages[index]!.prompt, variable =>
    variable.of === 'task' ? task : values.get(`${stageCalled(stages, variable.stage)}.${variable.fact}`)!,
  )
}

async function factOf(of: { fleet: Fleet; plan: Plan }, index: number, fact: StageFact): Promise<string> {
  const mission = await stageMission(of, index)
  const report = await newestReport(of.fleet, mission.id)
  switch (fact) {
    case 'summary':
      return report?.summary || mission.status_reason?.text || ''
    case 'files':
      return (report?.files_changed ?? []).map(file => file.path).join('\n')
    case 'next_steps':
      return (report?.next_steps ?? []).map(step => `- ${step}`).join('\n')
    case 'status':
      return mission.workflow?.settled ?? 'skipped'
    case 'branch':
      return mission.branch ?? ''
    case 'result':
      return JSON.stringify(resultOf(mission, report), null, 2)
  }
}

/** What a stage came to, in the shape that clients of older tools expect. */
export function resultOf(mission: Mission, report: Report | undefined): object {
  const settled: StageStatus | null = mission.workflow?.settled ?? null
  return {
    status: settled === 'completed' && mission.result === 'no_changes' ? 'completed_no_changes' : settled,
    summary: report?.summary || mission.status_reason?.text || '',
    files_changed: (report?.files_changed ?? []).map(file => file.path),
    tests: (report?.what_tested ?? []).map(details => ({ command: '', status: 'reported', details })),
    commits: (report?.commits ?? []).map(({ commit }) => commit),
    next_steps: report?.next_steps ?? [],
  }
}
