import { shortId } from '../domain/ids.ts'
import type { ProviderWindow } from '../domain/records/fleet.ts'
import type { MissionView } from '../operations/views.ts'
import { safeLine } from '../platform/safe-text.ts'
import type { Colour, Terminal } from './terminal.ts'

const STATUS_COLOURS: Record<string, Colour> = {
  running: 'cyan',
  landing: 'cyan',
  starting: 'cyan',
  done: 'green',
  completed: 'green',
  failed: 'red',
  needs_input: 'yellow',
  review: 'yellow',
  draft: 'dim',
  queued: 'blue',
  waiting: 'blue',
  cancelled: 'dim',
}

export const inStatusColour = (terminal: Terminal, status: string, text = status): string =>
  terminal.paint(STATUS_COLOURS[status] ?? 'bold', text)

/** The status in a word or two: `done` alone does not say whether the mission landed. */
export const standing = (mission: Pick<MissionView, 'status' | 'result'>): string =>
  mission.status === 'done' && mission.result ? mission.result.replace('_', ' ') : mission.status.replace('_', ' ')

/** What it waits for, or why it has its status. Some reasons only say the status again: those are left out. */
export function because(mission: Pick<MissionView, 'waits_for' | 'status_reason' | 'status' | 'result'>): string {
  const reason = mission.waits_for.map(each => each.text).join('; ') || mission.status_reason?.text || ''
  return reason === standing(mission) ? '' : reason
}

export const named = (mission: { id: string; title: string }): string =>
  `${shortId(mission.id)} ${inQuotes(safeLine(mission.title))}`

/** A title may be a line of shell, with quotes of its own. */
const inQuotes = (text: string): string => (text.includes('"') ? `“${text}”` : `"${text}"`)

export function ago(time: string | null, now = Date.now()): string {
  if (!time) return ''
  return `${duration(now - Date.parse(time))} ago`
}

/** For columns: one unit is enough. */
export function age(time: string | null, now = Date.now()): string {
  if (!time) return ''
  const [unit = '0s'] = duration(now - Date.parse(time)).split(' ')
  return unit
}

export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ${Math.floor((seconds % 3600) / 60)}m`
  return `${Math.floor(seconds / 86_400)}d ${Math.floor((seconds % 86_400) / 3600)}h`
}

export { sizeInWords as size } from '../domain/rules/disk.ts'

/** The first line of a prompt, short enough for a table. */
export function titleOf(prompt: string): string {
  const line =
    prompt
      .split('\n')
      .map(each => each.trim())
      .find(Boolean) ?? ''
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

/** How much of each quota is used. */
export const windowsInWords = (windows: readonly ProviderWindow[], now: string): string[] =>
  windows
    .filter(({ resets_at }) => resets_at === null || resets_at > now)
    .map(each => `${each.name} ${each.used_percent} % used${each.resets_at ? ` until ${each.resets_at}` : ''}`)

/** When something ends, to the minute. */
export const untilInWords = (at: string): string => `${at.slice(0, 16).replace('T', ' ')} UTC`

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
