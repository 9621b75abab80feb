import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fleet } from '../src/fleet/fleet.ts'
import { stageMoved, takeUpWorkflow } from '../src/fleet/pursuing.ts'
import { current, put } from '../src/fleet/records.ts'
import { planOf, stageId } from '../src/fleet/stages.ts'
import { createWorkflow } from '../src/fleet/workflows.ts'
import { aFleet } from '../test/kit/fleet.ts'
import { type Bench, median, ms, times } from './figure.ts'

const AT_MOST = 1.2
const AROUND = 50

/** What the end of a stage costs late in a long workflow, beside what it costs early on. Nothing runs: only the planning is measured. */
export const stages: Bench = async scale => {
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
