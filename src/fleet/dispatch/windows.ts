import type { Digest } from '../../agents/index.ts'
import type { Provider, ProviderWindow } from '../../domain/records/fleet.ts'
import { MAX_HOLD_SECONDS } from '../../domain/rules/retrying.ts'
import type { Reason } from '../../domain/rules/waiting.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import type { Change } from '../../store/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { all, ownRecord, put } from '../records.ts'

/** Two reports of one window may differ by this much in when it ends. */
const SAME_WINDOW_MS = 60_000
const MOST_WINDOWS = 20

interface News {
  windows: Digest['windows']
  /** A limit that was reached. */
  hold?: { until: string | null; reason: string } | null
}

/** Adds what a session says to what is known of its provider. */
export async function providerAfter(fleet: Fleet, id: string, { windows, hold }: News): Promise<Change[]> {
  const { value: before, expects } = await ownRecord(fleet.store, 'providers', id)
  const known = before ?? { id, held_until: null, reason: '', windows: [] as ProviderWindow[] }
  const merged = mergeWindows(known.windows, believable(windows, fleet.now()))
  const held = hold?.until ? { held_until: hold.until, reason: clipped(hold.reason, MAX_REASON_CHARS) } : {}
  if (merged === known.windows && !hold?.until) return []
  const value: Provider = { ...known, ...held, windows: merged, updated_at: fleet.now() }
  return [put('providers', value, expects)]
}

export const noteWindows = (fleet: Fleet, provider: string, windows: Digest['windows']): Promise<void> =>
  retryOnConflict(async () => {
    const changes = await providerAfter(fleet, provider, { windows })
    if (changes.length) await fleet.commit('commit.session-noted', { changes })
  })

/** Leaves out a window that ends impossibly late: it would hold its provider back, and none would ever be newer. */
export function believable(told: Digest['windows'], now: string): Digest['windows'] {
  const latest = Date.parse(now) + MAX_HOLD_SECONDS * 1000
  const isOne = ({ resetsAt }: Digest['windows'][string]) => resetsAt === null || Date.parse(resetsAt) <= latest
  return Object.fromEntries(Object.entries(told).filter(([, window]) => isOne(window)))
}

/**
 * Keeps the newest report of each window. Several sessions report, and after a restart each is read from its beginning
 * again, so a window that ends later is newer, and one window only fills. Returns the given list if nothing is new.
 */
export function mergeWindows(known: ProviderWindow[], told: Digest['windows']): ProviderWindow[] {
  const next = new Map(known.map(window => [window.name, window]))
  for (const [name, { usedPercent, resetsAt }] of Object.entries(told)) {
    const news = { name: clipped(name, 200), used_percent: usedPercent, resets_at: resetsAt }
    const before = next.get(news.name)
    if (!before || isNewer(news, before)) next.set(news.name, news)
  }
  const merged = [...next.values()].slice(0, MOST_WINDOWS)
  const isSame = merged.length === known.length && merged.every((window, nth) => window === known[nth])
  return isSame ? known : merged
}

function isNewer(news: ProviderWindow, before: ProviderWindow): boolean {
  if (news.resets_at === null || before.resets_at === null)
    return news.resets_at !== before.resets_at || news.used_percent !== before.used_percent
  const later = Date.parse(news.resets_at) - Date.parse(before.resets_at)
  if (Math.abs(later) > SAME_WINDOW_MS) return later > 0
  return news.used_percent > before.used_percent
}

export async function providersOf(fleet: Fleet): Promise<Provider[]> {
  return (await Array.fromAsync(all(fleet, 'providers', 'id'))).map(({ value }) => value)
}

/** Why nothing new of a provider starts although it has not refused anything yet. */
export function fullWindow({ id, windows }: Provider, limit: number, now: string): Reason | null {
  const full = windows.filter(({ used_percent, resets_at }) => used_percent >= limit && resets_at && resets_at > now)
  const [last] = full.toSorted((a, b) => b.resets_at!.localeCompare(a.resets_at!))
  if (!last) return null
  return {
    kind: 'provider_window',
    until: last.resets_at!,
    text: `${last.used_percent} % of the window ${last.name} of ${id} is used (the limit is ${limit} %); it is reset at ${last.resets_at}`,
  }
}
