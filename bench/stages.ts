import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fleet } from '../src/fleet/fleet.ts'
import { stageMoved, takeUpWorkflow } from '../src/fleet/pursuing.ts'
import { current, put } from '../src/fleet/records.ts'
import { planOf, stageId } from '../src/fleet/stages.ts'
import { createWorkflow } from '../src/fleet/workflows.ts'
import { aFleet, eventually, type TestFleet } from '../test/kit/fleet.ts'
import { type Bench, median, ms, percentile, type Row, type Scale, times } from './figure.ts'
import { began, chain, script } from './hand-over.ts'
import { repositories } from './repositories.ts'

const AT_MOST = 1.2
const AROUND = 50
const SEGMENTS = 10
const AT_MOST_OF_SPINE = 1
const PATIENCE_MS = 600_000

export const stages: Bench = async scale => [...(await overhead(scale)), ...(await planning(scale))]

/**
 * From the end of a stage to the first act of the next, in one long workflow of instant agents, beside the same from a
 * landing to the next of missions that depend on each other. They take turns, so that both meet the same machine.
 */
async function overhead(scale: Scale): Promise<Row[]> {
  const count = scale.of(1000, 100)
  const [long, plain] = await repositories(2)
  const fleet = await aFleet()
  try {
    await fleet.start()
    const gates = join(fleet.root, 'gates')
    mkdirSync(gates)
    const here = (segment: number): string => join(gates, `${segment}.here`)
    const open = (segment: number): string => join(gates, `${segment}.open`)
    const hold = (segment: number): string =>
      `: > '${here(segment)}'; until [ -e '${open(segment)}' ]; do sleep 0.05; done`
    const every = count / SEGMENTS
    const project = await fleet.project(plain!.path)
    const { id } = await fleet.call<{ id: string }>('create_workflow', {
      project_id: (await fleet.project(long!.path, { name: 'long' })).id,
      name: 'long',
      task_prompt: 'x',
      stages: Array.from({ length: count }, (_, i) => ({
        name: `stage ${i}`,
        prompt: `${script(`made-${i}`)}\n${i % every === 0 ? hold(i / every) : ''}`,
        depends_on: i ? [i - 1] : [],
      })),
    })
    const spine: number[] = []
    for (let segment = 0; segment < SEGMENTS; segment++) {
      await eventually(`segment ${segment}`, () => existsSync(here(segment)), undefined, PATIENCE_MS)
      spine.push(...(await chain(fleet, project, segment)))
      writeFileSync(open(segment), '')
    }
    const gaps = await gapsOf(fleet, id)
    if (gaps.length !== count - 1) throw new Error(`${gaps.length + 1} of ${count} stages ran`)
    return ([0.5, 0.95] as const).map(share => {
      const [measured, floor] = [percentile(gaps, share), percentile(spine, share)]
      return {
        figure: `stage over → next process started, ${count} stages, p${share * 100}`,
        measured: `${ms(measured)}, ${times(measured / floor)}`,
        floor: `${ms(floor)} (dependency landed → next process, in turn with it)`,
        demanded: `≤ ${AT_MOST_OF_SPINE} ×`,
        met: measured <= AT_MOST_OF_SPINE * floor,
      }
    })
  } finally {
    await fleet.remove()
    await Promise.all([long!.remove(), plain!.remove()])
  }
}

/** For each stage of a chain but the first, how long after the end of the one before it began. */
async function gapsOf(fleet: TestFleet, workflowId: string): Promise<number[]> {
  await eventually(
    'the workflow is over',
    async () => {
      const { status, status_reason } = (await current(fleet.fleet, 'workflows', workflowId)).value
      if (status === 'failed') throw new Error(status_reason?.text)
      return status === 'done'
    },
    undefined,
    PATIENCE_MS,
  )
  const overAt = new Map(
    (await fleet.events())
      .filter(({ data }) => data.status === 'done')
      .map(event => [event.mission_id, Date.parse(event.time)]),
  )
  const plan = await planOf(fleet.fleet, workflowId)
  const ids = plan.stages.map((stage, index) => stageId(workflowId, index, stage))
  return Promise.all(ids.slice(1).map(async (id, before) => (await began(fleet, id)) - overAt.get(ids[before]!)!))
}

/** What the end of a stage costs late in a long workflow, beside what it costs early on. Nothing runs: only the planning is measured. */
async function planning(scale: Scale): Promise<Row[]> {
  const count = scale.of(1000, 200)
  const { fleet, project, remove } = await aFleet()
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-folder-'))
  try {
    const { id } = await project(folder, { worktree: 'none' })
    // The first ones only warm the program up.
    await endsOf(fleet, id, 200)
    const took = await endsOf(fleet, id, count)
    const early = median(took.slice(10, 10 + AROUND))
    const late = median(took.slice(count - 10 - AROUND, count - 10))
    return [
      {
        figure: `planning the next stage, at ${count - 10} of ${count}, median of ${AROUND}`,
        measured: `${ms(late)}, ${times(late / early)}`,
        floor: `${ms(early)} (at 10)`,
        demanded: `≤ ${AT_MOST} ×`,
        met: late / early <= AT_MOST,
      },
    ]
  } finally {
    await remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Ends a chain of stages one after another; what each end took until the next stage could begin. */
async function endsOf(fleet: Fleet, project_id: string, count: number): Promise<number[]> {
  const chain = Array.from({ length: count }, (_, i) => ({
    name: `stage ${i}`,
    prompt: i ? `go on from {stage_${i - 1}_summary}` : 'begin',
    depends_on: i ? [i - 1] : [],
  }))
  const asked = { name: 'long', project_id, task: 'x', stages: chain, tags: [], base_ref: null }
  const { value } = await createWorkflow(fleet, { operation: 'bench', actor: 'person' }, asked)
  await takeUpWorkflow(fleet, value.id)
  const took: number[] = []
  for (const [index, stage] of (await planOf(fleet, value.id)).stages.entries()) {
    const { value: mission, version } = await current(fleet, 'missions', stageId(value.id, index, stage))
    const over = { ...mission, status: 'done' as const, result: 'kept' as const }
    await fleet.store.commit({ changes: [put('missions', over, version)] })
    const began = performance.now()
    await stageMoved(fleet, mission.id)
    took.push(performance.now() - began)
  }
  return took
}
