import { useMemo } from 'react'
import { useLocation } from 'wouter'
import { useCommand } from '../live/data.ts'
import { followLanding, undoOnceLanded } from './landings.ts'
import { plain } from './plain.ts'
import { tell } from './toasts.tsx'

/** Undoes the last decision made in this window. */
let takeBack: (() => void) | undefined

/** Undoes the last decision, whichever mission it was about. */
export function takeLastBack(): void {
  if (takeBack) takeBack()
  else tell({ text: 'There is nothing to undo' })
  takeBack = undefined
}

interface Decided {
  id: string
  title: string
  /** The work that the person saw. */
  candidate: { commit: string } | null
}

export interface Deciding {
  busy: boolean
  /** Each returns whether it was done. */
  land(mission: Decided, force?: boolean): Promise<boolean>
  sendBack(mission: Decided, message: string): Promise<boolean>
  reject(mission: Decided): Promise<boolean>
  reconsider(mission: Decided): Promise<void>
  undo(mission: Decided): Promise<void>
}

/**
 * The decisions about finished work, the same on every page. Each one shows how to undo it. `reopens`: a mission that
 * goes back to review is opened again.
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
      if (await undo({ mission_id: id })) tell({ text: `“${plain(title)}” is being undone with a revert commit` })
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
          if (undoOnceLanded(id)) tell({ text: `“${title}” is landing; it is undone once it has landed` })
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
          tell({
            text: `The agent of “${title}” already has your message. Open the mission to stop it`,
            action: { label: 'Open', run: open },
          })
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
