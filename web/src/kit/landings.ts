import { onEvents } from '../live/data.ts'
import type { FleetEvent } from '../live/fleet-events.ts'
import { tell } from './toasts.tsx'

interface Landing {
  title: string
  undo(): void
  open(): void
  /** The person undid it before it had landed, so it is undone once it has. */
  undoAsked?: true
}

/**
 * Landings that were requested here and are not over. The person has moved on by then, so a message says how they
 * ended.
 */
const landings = new Map<string, Landing>()

/** In these statuses the landing is over. A mission whose agent resolves a conflict is not among them. */
const OVER = ['review', 'needs_input', 'done', 'failed', 'cancelled']

function heard({ mission_id, kind, data, cause }: FleetEvent): void {
  const landing = mission_id === null ? undefined : landings.get(mission_id)
  if (!landing || !mission_id) return
  const { title, undo, open, undoAsked } = landing
  if (kind === 'conflict') tell({ text: `“${title}” is in conflict with the base branch; its agent resolves it` })
  if (!OVER.includes(String(data.status))) return
  landings.delete(mission_id)
  if (kind === 'landed' && undoAsked) undo()
  else if (kind === 'landed') tell({ text: `Landed “${title}”`, action: { label: 'Undo', run: undo } })
  else
    tell({
      text: `“${title}” did not land`,
      advice: cause ?? undefined,
      tone: 'bad',
      action: { label: 'Open', run: open },
    })
}

let listening = false

export function followLanding(missionId: string, landing: Landing): void {
  if (!listening) onEvents(events => events.forEach(heard))
  listening = true
  landings.set(missionId, landing)
}

/** Undoes the mission once it has landed; false if it is not landing. */
export function undoOnceLanded(missionId: string): boolean {
  const landing = landings.get(missionId)
  if (landing) landing.undoAsked = true
  return landing !== undefined
}
