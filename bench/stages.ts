import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fleet } from '../src/fleet/fleet.ts'
import { current, put } from '../src/fleet/records.ts'
import { stageMoved, takeUpWorkflow } from '../src/fleet/workflows/engine.ts'
import { planOf, stageId } from '../src/fleet/workflows/stages.ts'
import { createWorkflow } from '../src/fleet/workflows/workflows.ts'
import { aFleet, eventually, type TestFleet } from '../test/kit/fleet.ts'
import { type Bench, median, ms, percentile, type Row, type Scale, times } from './figure.ts'
import { began, chain, LINKS, script } from './hand-over.ts'
import { repositories } from './repositories.ts'

const AT_MOST = 1.2
const AROUND = 50
const SEGMENTS = 10
const AT_MOST_OF_SPINE = 1
const PATIENCE_MS = 600_000

export const stages: Bench = async scale => [...(await overhead(scale)), ...(await planning(scale))]

/**
 * From the end of a stage to the start of the next, in one long workflow of instant agents. Compared with the time from
 * a landing to the next mission in a chain. They take turns, so that both run on the same machine state.
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
    // As many files as the missions in the chain have made by then, so that both check out worktrees of the same size.
    const act = (i: number): string => script(`made-${Math.floor(i / every)}-${i % (LINKS + 1)}`, String(i))
    const project = await fleet.project(plain!.path)
    const { id } = await fleet.call<{ id: string }>('create_workflow', {
      project_id: (await fleet.project(long!.path, { name: 'long' })).id,
      name: 'long',
      task_prompt: 'x',
      stages: Array.from({ length: count }, (_, i) => ({
        name: `stage ${i}`,
        prompt: `${act(i)}\n${i % every === 0 ? hold(i / every) : ''}`,
        depends_on: i ? [i - 1] : [],
      })),
    })
    const spine: number[] = []
    for (let segment = 0; segment < SEGMENTS; segment++) {
      await eventually(`segment ${segment}`, () => existsSync(here(segment)), undefined, PATIENCE_MS)
      spine.push(...(await chain(fleet, project, segment)).sinceLanding)
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

/** For each stage of a chain but the first, how long after the end of the one before it started. */
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

/**
 * What the end of a stage costs late in a long workflow, compared with early in another, in turns. Nothing runs, so
 * only the planning is measured.
 */
async function planning(scale: Scale): Promise<Row[]> {
  const count = scale.of(1000, 200)
  const { fleet, project, remove } = await aFleet()
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-folder-'))
  try {
    const { id } = await project(folder, { worktree: 'none' })
    const [early, late] = [await aChain(fleet, id, count), await aChain(fleet, id, count)]
    // The rounds before warm the program up.
    for (let i = 0; i < count - 10 - AROUND; i++) await late()
    for (let i = 0; i < 10; i++) await early()
    const took: [number[], number[]] = [[], []]
    for (let i = 0; i < AROUND; i++) {
      took[0].push(await early())
      took[1].push(await late())
    }
    const [first, last] = [median(took[0]), median(took[1])]
    return [
      {
        figure: `planning the next stage, at ${count - 10} of ${count}, median of ${AROUND}`,
        measured: `${ms(last)}, ${times(last / first)}`,
        floor: `${ms(first)} (at 10, in turn with it)`,
        demanded: `≤ ${AT_MOST} ×`,
        met: last / first <= AT_MOST,
      },
    ]
  } finally {
    await remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * A workflow of stages one after another. Each call ends the next stage, and returns how long it took until another
 * could begin.
 */
async function aChain(fleet: Fleet, project_id: string, count: number): Promise<() => Promise<number>> {
  const chain = Array.from({ length: count }, (_, i) => ({
    name: `stage ${i}`,
    agent: 'shell',
    prompt: i ? `echo "$FLEET_STAGE_${i - 1}_SUMMARY"` : 'echo begin',
    depends_on: i ? [i - 1] : [],
  }))
  const asked = { name: 'long', project_id, task: 'x', stages: chain, tags: [], base_ref: null }
  const { value } = await createWorkflow(fleet, { operation: 'bench', actor: 'person' }, asked)
  await takeUpWorkflow(fleet, value.id)
  const { stages } = await planOf(fleet, value.id)
  let index = 0
  return async () => {
    const { value: mission, version } = await current(fleet, 'missions', stageId(value.id, index, stages[index++]!))
    const over = { ...mission, status: 'done' as const, result: 'kept' as const }
    await fleet.store.commit({ changes: [put('missions', over, version)] })
    const began = performance.now()
    await stageMoved(fleet, mission.id)
    return performance.now() - began
  }
}
