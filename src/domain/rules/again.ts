import type { StageStatus } from '../records/stage-status.ts'
import type { Stage } from '../records/workflow.ts'

/** A stage and all stages after it. */
export function reachedFrom(after: readonly (readonly number[])[], start: number): Set<number> {
  const found = new Set<number>()
  const open = [start]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue
    found.add(next)
    open.push(...after[next]!)
  }
  return found
}

interface Graph {
  stages: readonly Pick<Stage, 'on_failure'>[]
  after: readonly (readonly number[])[]
  /** How each stage ended; null: it is not over. */
  settled: readonly (StageStatus | null)[]
}

/**
 * The stages that a failed or stopped workflow does again. Those in `first` start at once, because nothing before them
 * has to be done again. Those in `anew` come after them and had failed or been skipped: they wait again, and may end
 * differently. If the workflow continued after a failure, that stage is done again only if a later stage needs it.
 */
export function doneAgain({ stages, after, settled }: Graph): { first: number[]; anew: number[] } {
  const failed = settled.flatMap((status, index) => (status === 'failed' ? [index] : []))
  const stopping = new Set(failed.filter(index => stages[index]!.on_failure === 'stop'))
  const reached = new Map(failed.map(index => [index, reachedFrom(after, index)]))
  const again = failed.filter(index => {
    if (stopping.has(index)) return true
    const { on_failure } = stages[index]!
    const replaced = typeof on_failure === 'object' && settled[on_failure.run] === 'completed'
    return !replaced && reached.get(index)!.intersection(stopping).size > 0
  })
  const behind = new Set(again.flatMap(index => [...reached.get(index)!].filter(each => each !== index)))
  const over = (index: number) => settled[index] === 'failed' || settled[index] === 'skipped'
  return { first: again.filter(index => !behind.has(index)), anew: [...behind].filter(over) }
}
