/** What shipped plugins share: their settings, and which events they report. */
import { NEWSWORTHY } from '../domain/newsworthy.ts'
import type { FleetApi, Told } from './plugin.ts'

type Settings = FleetApi['settings']

export function text(settings: Settings, name: string): string {
  const value = settings[name]
  if (typeof value !== 'string' || !value) throw new Error(`Its settings lack ${JSON.stringify(name)}.`)
  return value
}

export function list(settings: Settings, name: string, otherwise: readonly string[]): string[] {
  const value = settings[name] ?? otherwise
  if (!Array.isArray(value)) throw new Error(`${JSON.stringify(name)} in its settings must be a list.`)
  return value.map(String)
}

export function address(settings: Settings, name: string): string {
  const url = text(settings, name)
  if (!/^https?:$/.test(new URL(url).protocol)) throw new Error(`${JSON.stringify(name)} must be an http address.`)
  return url
}

export const isWanted = (settings: Settings, { event }: Told): boolean => {
  const kinds = list(settings, 'events', NEWSWORTHY)
  return kinds.includes('*') || kinds.includes(event.kind)
}

/** One line for a person. */
export function sentenceOf({ event, mission }: Told): string {
  const what = event.kind.replaceAll('_', ' ')
  return [mission ? `${mission.title}: ${what}` : what, event.cause].filter(Boolean).join('. ')
}
