import { useLocation } from 'wouter'
import { plain } from '../../kit/plain.ts'
import { tell } from '../../kit/toasts.tsx'
import { useCommand } from '../../live/data.ts'
import { followLanding, undoOnceLanded } from './landings.ts'
import { neighbour, type Review, useQueue } from './queue.ts'

/** The last decision taken in this window, whatever is looked at since. */
let takeBack: (() => void) | undefined

/** Takes back the last decision, whichever mission it was about. */
export function takeLastBack(): void {
  if (takeBack) takeBack()
  else tell({ text: 'Nothing was decided here yet' })
  takeBack = undefined
}

export interface Decisions {
  busy: boolean
  land(options?: { force: boolean }): void
  sendBack(message: string): void
  reject(): void
  reconsider(): void
  undo(): void
  goOn(step: 1 | -1): void
}

/** What a person can decide about finished work. After each decision the next mission opens. */
export function useDecisions(mission: Review['mission']): Decisions {
  const [, go] = useLocation()
  const queue = useQueue()
  const landing = useCommand('land_mission')
  const sending = useCommand('send_back_mission')
  const rejecting = useCommand('reject_mission')
  const reconsidering = useCommand('reconsider_mission')
  const undoing = useCommand('undo_mission')
  const { id } = mission
  const title = plain(mission.title)
  const here = `/review/${id}`
  const goOn = async (step: 1 | -1) => {
    // Whoever came here by an address may decide before the queue is known.
    const { reviews = [] } = queue.data ?? (await queue.refetch()).data ?? {}
    const next = neighbour(reviews, id, step)
    if (next) go(`/review/${next}`)
    else if (step === 1) go('/review')
  }
  const undo = async () => {
    if (await undoing.run({ mission_id: id })) tell({ text: `“${title}” is being taken back with a revert commit` })
  }
  const reconsider = async () => {
    if (!(await reconsidering.run({ mission_id: id }))) return
    go(here)
    tell({ text: `“${title}” waits for review again` })
  }
  return {
    busy: landing.busy || sending.busy || rejecting.busy || reconsidering.busy || undoing.busy,
    async land({ force } = { force: false }) {
      if (!(await landing.run({ mission_id: id, expected: mission.candidate?.commit, force }))) return
      followLanding(id, { title, undo, open: () => go(here) })
      takeBack = () => {
        if (undoOnceLanded(id)) tell({ text: `“${title}” is landing; it is taken back as soon as it has` })
        else undo()
      }
      goOn(1)
    },
    async sendBack(message) {
      if (!(await sending.run({ mission_id: id, message: message.trim() || undefined }))) return
      const open = () => go(`/missions/${id}`)
      tell({ text: `“${title}” went back to its agent`, action: { label: 'Watch', run: open } })
      takeBack = () =>
        tell({ text: `The agent of “${title}” was told; it can be stopped`, action: { label: 'Open', run: open } })
      goOn(1)
    },
    async reject() {
      if (!(await rejecting.run({ mission_id: id }))) return
      tell({ text: `Rejected “${title}”; its work stays on its branch`, action: { label: 'Undo', run: reconsider } })
      takeBack = reconsider
      goOn(1)
    },
    reconsider,
    undo,
    goOn,
  }
}
