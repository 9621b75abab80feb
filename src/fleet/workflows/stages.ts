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

/** A workflow and its graph. */
export interface Plan {
  workflow: Workflow
  stages: Stage[]
  /** For each stage, the stages that may start once it is over. */
  after: number[][]
}

const MOST_KNOWN = 50
const known = new Map<string, Pick<Plan, 'stages' | 'after'>>()

/** The graph is cached by its content: reading a thousand stages at the end of each stage would cost too much. */
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
    // What waits for a stage also waits for the stage that runs in its place if it fails, and so on.
    for (let { on_failure } = stage; typeof on_failure === 'object'; { on_failure } = stages[on_failure.run]!)
      for (const next of dependents[index]!) after[on_failure.run]!.add(next)
  }
  return { stages, after: after.map(those => [...those]) }
}

/** The mission of a stage. Its id is derived from the workflow, so it cannot be made twice. */
export const stageId = (workflowId: string, index: number, { generation }: Stage): string =>
  derivedId('stage', workflowId, String(index), String(generation))

/** The missions of its stages, made or not. */
export const stageIds = ({ workflow, stages }: Plan): string[] =>
  stages.map((stage, index) => stageId(workflow.id, index, stage))

export async function stageMission({ fleet, plan }: { fleet: Fleet; plan: Plan }, index: number): Promise<Mission> {
  const { workflow, stages } = plan
  return (await current(fleet, 'missions', stageId(workflow.id, index, stages[index]!))).value
}

type Told = Pick<Mission, 'prompt' | 'variables'>

/** The prompt of a stage: its template filled in, or a script as it is with the values as variables. */
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

/** The result of a stage in the shape that clients of older tools expect. */
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
