import { Refusal } from '../../domain/errors.ts'
import type { Mission, Status } from '../../domain/records/mission.ts'
import type { Stored } from '../../store/index.ts'
import type { Ask } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { childrenOf } from '../records.ts'
import { requestCancel } from './missions.ts'

/** A person decides about finished work of a sub-mission, whatever became of its parent. */
const AT_WORK: readonly Status[] = ['draft', 'queued', 'running', 'needs_input', 'waiting']

/** Cancels a mission and its unfinished sub-missions, and returns how many of those there were. */
export async function cancelWithSubMissions(
  fleet: Fleet,
  ask: Ask,
  id: string,
): Promise<{ cancelled: Stored<Mission>; subMissions: number }> {
  // Sub-missions come first, so that the same request finishes what was cut short. An agent may add more until it ends.
  const before = await cancelSubMissions(fleet, ask, id)
  const cancelled = await requestCancel(fleet, ask, id)
  return { cancelled, subMissions: before + (await cancelSubMissions(fleet, ask, id)) }
}

async function cancelSubMissions(fleet: Fleet, ask: Ask, parentId: string): Promise<number> {
  const why = `Its parent mission ${parentId} was cancelled.`
  let count = 0
  for (const { id, status, cancel_requested } of await childrenOf(fleet, parentId)) {
    count += await cancelSubMissions(fleet, ask, id)
    if (!AT_WORK.includes(status) || cancel_requested) continue
    try {
      await requestCancel(fleet, { ...ask, key: undefined }, id, why)
      count++
    } catch (error) {
      // It ended or was deleted at the same time, or a person has taken it over.
      if (!(error instanceof Refusal)) throw error
    }
  }
  return count
}
