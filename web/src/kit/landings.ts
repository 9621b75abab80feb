import { onEvents } from '../live/data.ts'
import type { FleetEvent } from '../live/fleet-events.ts'
import { tell } from './toasts.tsx'

interface Landing {
  title: string
  undo(): void
  open(): void
  /** Taken back before it was there: done as soon as it is. */
  undoAsked?: true
}

/** What was sent to land from here, until it is known how that went: the person has gone on to the next by then. */
const landings = new Map<string, Landing>()

/** Then its fate is known; an agent that is sent to resolve a conflict comes back. */
const OVER = ['review', 'needs_input', 'done', 'failed', 'cancelled']

function heard({ mission_id, kind, data, cause }: FleetEvent): void {
  const landing = mission_id === null ? undefined : landings.get(mission_id)
  if (!landing || !mission_id) return
  const { title, undo, open, undoAsked } = landing
  if (kind === 'conflict') tell({ text: `“${title}” is in conflict with what landed; its agent resolves it` })
  if (!OVER.includes(String(data.status))) return
  landings.delete(mission_id)
  if (kind === 'landed' && undoAsked) undo()
  else if (kind === 'landed') tell({ text: `Landed “${title}”`, action: { label: 'Undo', run: undo } })
  else
    tell({
      text: `“${title}” did not land`,
      advice: cause ?? undefined,
      tone: 'bad',
      action: { label: 'Look', run: open },
    })
}

let listening = false

export function followLanding(missionId: string, landing: Landing): void {
  if (!listening) onEvents(events => events.forEach(heard))
  listening = true
  landings.set(missionId, landing)
}

/** Whether it is still landing: then it is taken back once it has. */
export function undoOnceLanded(missionId: string): boolean {
  const landing = landings.get(missionId)
  if (landing) landing.undoAsked = true
  return landing !== undefined
}
