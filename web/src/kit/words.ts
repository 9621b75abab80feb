import type { Mission } from '../live/mending.ts'

export type Status = Mission['status']

/** In the order in which people care about them. */
export const STATUSES = [
  'needs_input',
  'review',
  'running',
  'landing',
  'queued',
  'waiting',
  'draft',
  'done',
  'failed',
  'cancelled',
] as const satisfies readonly Status[]

export const STATUS_WORDS: Record<Status, string> = {
  needs_input: 'Needs input',
  review: 'Review',
  running: 'Running',
  landing: 'Landing',
  queued: 'Queued',
  waiting: 'Waiting',
  draft: 'Draft',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
}

export type Tone = 'gray' | 'blue' | 'green' | 'amber' | 'red' | 'iris'
export const STATUS_TONES: Record<Status, Tone> = {
  needs_input: 'amber',
  review: 'iris',
  running: 'blue',
  landing: 'blue',
  queued: 'gray',
  waiting: 'gray',
  draft: 'gray',
  done: 'green',
  failed: 'red',
  cancelled: 'gray',
}

/** The outcome of a mission in a word or two. */
export function outcomeOf({ status, result, landed }: Pick<Mission, 'status' | 'result' | 'landed'>): string {
  if (status !== 'done') return STATUS_WORDS[status]
  if (landed) return 'Landed'
  return { kept: 'Kept', no_changes: 'No changes', landed: 'Landed' }[result ?? 'kept']
}

export const shortId = (id: string): string => id.slice(0, 6)

const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 2 })
export const dollars = (usd: number): string => (usd > 0 && usd < 0.01 ? '< $0.01' : money.format(usd))

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
export const roughly = (count: number): string => compact.format(count)

const BYTES = ['B', 'kB', 'MB', 'GB', 'TB']
export function bytes(count: number): string {
  const power = Math.min(BYTES.length - 1, count < 1 ? 0 : Math.floor(Math.log10(count) / 3))
  return `${(count / 1000 ** power).toFixed(power && count / 1000 ** power < 10 ? 1 : 0)} ${BYTES[power]}`
}

const SPANS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' })

export function ago(time: string | number | Date, now = Date.now()): string {
  const seconds = Math.round((new Date(time).getTime() - now) / 1000)
  const [unit, size] = SPANS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1]
  if (unit === 'second' && Math.abs(seconds) < 5) return 'now'
  return relative.format(Math.trunc(seconds / size), unit)
}

/** 75 s → 1 m 15 s. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} m`
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
export const exactTime = (time: string | number | Date): string => exact.format(new Date(time))

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
