import { useMemo } from 'react'
import { ask, getReady, newKey } from '../../api/client.ts'
import { afterAMoment, complain, tell } from '../../kit/toasts.tsx'
import { plural } from '../../kit/words.ts'
import type { Mission } from '../../live/mending.ts'
import { type Column, inQueueOrder } from './columns.ts'
import { type MoveAct, moveTo } from './moves.ts'
import { prioritiesFor } from './priorities.ts'

const AT_ONCE = 4
const BATCH = 200
/** At most this many missions are renumbered to make room for one. */
const MOST_RENUMBERED = 60

/** Does one action on each item, a few at a time. A refusal does not stop the others. */
export async function eachOf<T>(items: readonly T[], act: (item: T) => Promise<unknown>) {
  const refused: unknown[] = []
  const rest = [...items]
  const work = async () => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift())
      await act(next).catch(error => refused.push(error))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { done: items.length - refused.length, refused }
}

/** Signs only as many as are sent at once. */
const readyFor = (name: MoveAct | 'delete_mission', missions: readonly Mission[]) =>
  Promise.all(missions.slice(0, AT_ONCE).map(({ id }) => getReady(name, { mission_id: id })))

async function tellOf(items: readonly Mission[], done: string, act: (mission: Mission) => Promise<unknown>) {
  const { done: count, refused } = await eachOf(items, act)
  if (!refused.length) return tell({ text: items.length === 1 ? `“${items[0]!.title}”: ${done}` : `${count} ${done}` })
  // A single refusal is shown in the server's own words, with its advice.
  if (items.length === 1) return complain(refused[0])
  const why = refused[0] instanceof Error ? refused[0].message : ''
  tell({ text: `${count} ${done}, ${refused.length} refused`, advice: `First problem: ${why}`, tone: 'bad' })
}

const DONE: Record<MoveAct, string> = {
  dispatch_mission: 'queued',
  retry_mission: 'queued again',
  land_mission: 'landing',
  cancel_mission: 'cancelled',
}

export interface Acting {
  act(name: MoveAct, missions: readonly Mission[]): void
  tag(missions: readonly Mission[], tag: string): void
  prioritise(missions: readonly Mission[], priority: number): void
  remove(missions: readonly Mission[], gone: () => void, back: () => void): void
  /** Moves a mission to a column, or says why not. */
  move(mission: Mission, column: Column): void
  /** Moves a queued mission to a position in the queue. */
  reorder(mission: Mission, queue: readonly Mission[], place: number): void
}

/** Actions on one or many missions of the board. */
export function useActing(): Acting {
  return useMemo((): Acting => {
    // Lands the candidate that the board showed.
    const run = (name: MoveAct) => (mission: Mission) => {
      const it = { mission_id: mission.id }
      const input = name === 'land_mission' ? { ...it, expected: mission.candidate?.commit } : it
      return ask(name, input, { key: newKey() })
    }
    const act: Acting['act'] = (name, missions) => {
      const begin = () => void tellOf(missions, DONE[name], run(name))
      if (name !== 'cancel_mission') return begin()
      const what = missions.length === 1 ? `“${missions[0]!.title}”` : plural(missions.length, 'mission')
      void readyFor(name, missions).then(() => afterAMoment(`Cancelling ${what}`, begin))
    }
    const setPriority = (mission: Mission, priority: number) =>
      ask('update_mission', { mission_id: mission.id, priority }, { key: newKey() })
    return {
      act,
      tag: (missions, tag) =>
        void tellOf(missions, `tagged “${tag}”`, async ({ id }) => {
          // Reads the current tags first, so that no tag gets lost.
          const { missions: now } = await ask('list_missions', { ids: [id], limit: BATCH })
          const tags = [...new Set([...(now[0]?.tags ?? []), tag])]
          await ask('update_mission', { mission_id: id, tags }, { key: newKey() })
        }),
      prioritise: (missions, priority) =>
        void tellOf(missions, `have priority ${priority}`, mission => setPriority(mission, priority)),
      async remove(missions, gone, back) {
        await readyFor('delete_mission', missions)
        gone()
        const text = missions.length === 1 ? `“${missions[0]!.title}” deleted` : `${missions.length} missions deleted`
        const begin = async () => {
          const { refused } = await eachOf(missions, ({ id }) =>
            ask('delete_mission', { mission_id: id }, { key: newKey() }),
          )
          if (!refused.length) return
          back()
          if (refused.length === 1) complain(refused[0])
          else tell({ text: `${refused.length} were not deleted`, advice: String(refused[0]), tone: 'bad' })
        }
        afterAMoment(text, () => void begin(), back)
      },
      move(mission, column) {
        const move = moveTo(mission, column)
        if (move.to === 'act') act(move.act, [mission])
        if (move.to === 'nowhere') tell({ text: `“${mission.title}” stays where it is`, advice: move.why, tone: 'bad' })
      },
      reorder(mission, queue, place) {
        const changes = prioritiesFor(queue.toSorted(inQueueOrder), mission.id, place)
        if (!changes || changes.size > MOST_RENUMBERED)
          return tell({
            text: 'It cannot be moved there',
            advice: 'Moving it here would change the priority of too many missions. Drop it closer to the top.',
            tone: 'bad',
          })
        const changed = queue.filter(({ id }) => changes.has(id))
        if (changed.length)
          void eachOf(changed, each => setPriority(each, changes.get(each.id)!)).then(({ refused }) => {
            if (refused.length) complain(refused[0])
            else tell({ text: `“${mission.title}” is number ${place + 1} in the queue` })
          })
      },
    }
  }, [])
}
