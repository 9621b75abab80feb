import { useMemo } from 'react'
import { useLocation } from 'wouter'
import { useCommand } from '../live/data.ts'
import { followLanding, undoOnceLanded } from './landings.ts'
import { plain } from './plain.ts'
import { tell } from './toasts.tsx'

/** The last decision taken in this window, whatever is looked at since. */
let takeBack: (() => void) | undefined

/** Takes back the last decision, whichever mission it was about. */
export function takeLastBack(): void {
  if (takeBack) takeBack()
  else tell({ text: 'Nothing was decided here yet' })
  takeBack = undefined
}

interface Decided {
  id: string
  title: string
  /** The work that was looked at. */
  candidate: { commit: string } | null
}

export interface Deciding {
  busy: boolean
  /** Each answers whether it was done. */
  land(mission: Decided, force?: boolean): Promise<boolean>
  sendBack(mission: Decided, message: string): Promise<boolean>
  reject(mission: Decided): Promise<boolean>
  reconsider(mission: Decided): Promise<void>
  undo(mission: Decided): Promise<void>
}

/**
 * What a person can decide about finished work, the same wherever it is decided: each says how it is taken back.
 * `reopens`: what is taken back into review is opened there again.
 */
export function useDeciding({ reopens = false } = {}): Deciding {
  const [, go] = useLocation()
  const landing = useCommand('land_mission')
  const sending = useCommand('send_back_mission')
  const rejecting = useCommand('reject_mission')
  const reconsidering = useCommand('reconsider_mission')
  const undoing = useCommand('undo_mission')
  const [land, sendBack, reject] = [landing.run, sending.run, rejecting.run]
  const [reconsider, undo] = [reconsidering.run, undoing.run]
  const busy = [landing, sending, rejecting, reconsidering, undoing].some(each => each.busy)
  const decisions = useMemo(() => {
    const undone = async ({ id, title }: Decided) => {
      if (await undo({ mission_id: id })) tell({ text: `“${plain(title)}” is being taken back with a revert commit` })
    }
    const reconsidered = async ({ id, title }: Decided) => {
      if (!(await reconsider({ mission_id: id }))) return
      if (reopens) go(`/review/${id}`)
      tell({ text: `“${plain(title)}” waits for review again` })
    }
    return {
      async land(mission: Decided, force = false) {
        const { id, candidate } = mission
        const title = plain(mission.title)
        if (!(await land({ mission_id: id, expected: candidate?.commit, force }))) return false
        followLanding(id, { title, undo: () => undone(mission), open: () => go(`/review/${id}`) })
        takeBack = () => {
          if (undoOnceLanded(id)) tell({ text: `“${title}” is landing; it is taken back as soon as it has` })
          else undone(mission)
        }
        return true
      },
      async sendBack({ id, title: raw }: Decided, message: string) {
        const title = plain(raw)
        if (!(await sendBack({ mission_id: id, message: message.trim() || undefined }))) return false
        const open = () => go(`/missions/${id}`)
        tell({ text: `“${title}” went back to its agent`, action: { label: 'Watch', run: open } })
        takeBack = () =>
          tell({ text: `The agent of “${title}” was told; it can be stopped`, action: { label: 'Open', run: open } })
        return true
      },
      async reject(mission: Decided) {
        if (!(await reject({ mission_id: mission.id }))) return false
        const run = () => void reconsidered(mission)
        tell({
          text: `Rejected “${plain(mission.title)}”; its work stays on its branch`,
          action: { label: 'Undo', run },
        })
        takeBack = run
        return true
      },
      reconsider: reconsidered,
      undo: undone,
    }
  }, [go, reopens, land, sendBack, reject, reconsider, undo])
  return { busy, ...decisions }
}
