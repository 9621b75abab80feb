import { useLocation } from 'wouter'
import { useDeciding } from '../../kit/deciding.ts'
import { neighbour, type Review, useQueue } from './queue.ts'

export interface Decisions {
  busy: boolean
  land(options?: { force: boolean }): void
  sendBack(message: string): void
  reject(): void
  reconsider(): void
  undo(): void
  goOn(step: 1 | -1): void
}

/** The decisions about the mission under review. After each one the next mission opens. */
export function useDecisions(mission: Review['mission']): Decisions {
  const [, go] = useLocation()
  const queue = useQueue()
  const { busy, land, sendBack, reject, reconsider, undo } = useDeciding({ reopens: true })
  const goOn = async (step: 1 | -1) => {
    // A person who came by a link may decide before the queue is loaded.
    const { reviews = [] } = queue.data ?? (await queue.refetch()).data ?? {}
    const next = neighbour(reviews, mission.id, step)
    if (next) go(`/review/${next}`)
    else if (step === 1) go('/review')
  }
  const once = async (decided: Promise<boolean>) => {
    if (await decided) goOn(1)
  }
  return {
    busy,
    land: ({ force } = { force: false }) => once(land(mission, force)),
    sendBack: message => once(sendBack(mission, message)),
    reject: () => once(reject(mission)),
    reconsider: () => reconsider(mission),
    undo: () => undo(mission),
    goOn,
  }
}
