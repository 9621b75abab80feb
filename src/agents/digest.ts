import { type Context, NO_USAGE, plus, type Usage } from '../domain/records/session.ts'
import type { AgentEvent, Digest, Meter } from './contract.ts'

/** How much of the last text is kept: its end, where the conclusion is. */
export const LAST_TEXT_CHARS = 4096
const NAME_CHARS = 200
const MOST_WINDOWS = 20
const MOST_METERS = 4
/** How many answers of an agent and its helpers may be under way at once. */
const MOST_ESTIMATES = 64

export function emptyDigest(): Digest {
  return {
    conversation: null,
    model: null,
    usage: NO_USAGE,
    meters: {},
    context: null,
    windows: {},
    lastText: '',
    speaking: false,
    lastRaw: '',
    result: null,
    rateLimit: null,
    retry: null,
    lastError: null,
    openTools: 0,
    events: 0,
  }
}

/**
 * What is known about models besides what a client reports. The name null means the model that the session asked for.
 */
export interface Knowledge {
  /** Dollars; null: nobody can say. */
  costOf(usage: Partial<Usage>, model: string | null): number | null
  windowOf(model: string | null): number | null
}

const NOTHING_KNOWN: Knowledge = { costOf: () => null, windowOf: () => null }

/** The digest after these events. The given one stays as it is. */
export function fold(digest: Digest, events: readonly AgentEvent[], knowledge = NOTHING_KNOWN): Digest {
  return events.reduce((before, event) => add(before, event, knowledge), digest)
}

function add(before: Digest, event: AgentEvent, knowledge: Knowledge): Digest {
  const digest = {
    ...before,
    events: before.events + 1,
    speaking: isSpeaking(before, event),
    retry: GOES_ON.has(event.type) ? null : before.retry,
  }
  switch (event.type) {
    case 'started':
      return {
        ...digest,
        conversation: event.conversation ?? digest.conversation,
        model: named(event.model) ?? digest.model,
        result: null,
      }
    case 'text':
      if (before.speaking && event.piece) return { ...digest, lastText: ending(digest.lastText + event.text) }
      return event.text.trim() ? { ...digest, lastText: ending(event.text) } : digest
    case 'raw':
      return event.text.trim() ? { ...digest, lastRaw: ending(event.text) } : digest
    case 'tool_call':
      return event.again ? digest : { ...digest, openTools: digest.openTools + 1 }
    case 'tool_result':
      return { ...digest, openTools: Math.max(0, digest.openTools - 1) }
    case 'usage':
      return addUsage(digest, event, knowledge)
    case 'context':
      return { ...digest, model: named(event.model) ?? digest.model, context: contextAfter(digest, event, knowledge) }
    case 'provider_window': {
      const { used_percent: usedPercent, resets_at: resetsAt } = event
      const name = event.name.slice(0, NAME_CHARS)
      if (!(name in digest.windows) && Object.keys(digest.windows).length >= MOST_WINDOWS) return digest
      return { ...digest, windows: { ...digest.windows, [name]: { usedPercent, resetsAt: timely(resetsAt) } } }
    }
    case 'rate_limit':
      // A refusal often does not say until when, but an earlier event did.
      return {
        ...digest,
        rateLimit: {
          ...event,
          until: timely(event.until) ?? digest.rateLimit?.until ?? null,
          text: ending(event.text),
        },
      }
    case 'retry':
      return { ...digest, retry: retryAfter(before.retry, event) }
    case 'error':
      return { ...digest, lastError: ending(event.text) }
    case 'result':
      return {
        ...digest,
        result: { ...event, text: ending(event.text) },
        rateLimit: event.ok ? null : digest.rateLimit,
        openTools: 0,
      }
    default:
      return digest
  }
}

/** Events that come only if the conversation continues. */
const GOES_ON: ReadonlySet<AgentEvent['type']> = new Set([
  ...([
    'started',
    'text',
    'thinking',
    'tool_call',
    'tool_result',
    'usage',
    'permission',
    'question',
    'result',
  ] as const),
])

/** If a client reports one try in two ways, each has what the other lacks, perhaps its number. */
function retryAfter(before: Digest['retry'], { again, ...told }: Event<'retry'>): Digest['retry'] {
  const retry = { ...told, why: told.why.slice(0, LAST_TEXT_CHARS) }
  if (!before || (before.attempt !== retry.attempt && !(again && retry.attempt === 0))) return retry
  return { ...before, ...retry, ...(again && { attempt: before.attempt, why: before.why }) }
}

const BESIDE_TEXT: ReadonlySet<AgentEvent['type']> = new Set(['raw', 'usage', 'context', 'provider_window'])

/** Whether the next piece of text continues the last one. Notes in between do not end it. */
function isSpeaking({ speaking }: Digest, event: AgentEvent): boolean {
  if (BESIDE_TEXT.has(event.type)) return speaking
  return event.type === 'text' && event.piece === true && (speaking || event.text.trim() !== '')
}

type Event<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>

function contextAfter({ context, model }: Digest, event: Event<'context'>, { windowOf }: Knowledge): Context {
  const used = event.used ?? context?.used_tokens ?? 0
  return {
    used_tokens: used,
    peak_tokens: Math.max(used, context?.peak_tokens ?? 0),
    window_tokens: event.window ?? context?.window_tokens ?? windowOf(event.model ?? model),
  }
}

const NEW_METER: Meter = { usage: NO_USAGE, base: NO_USAGE, settled: NO_USAGE, estimates: {} }

function addUsage(digest: Digest, event: Event<'usage'>, { costOf }: Knowledge): Digest {
  const name = event.meter ?? ''
  if (!(name in digest.meters) && Object.keys(digest.meters).length >= MOST_METERS) return digest
  const meter = digest.meters[name] ?? NEW_METER
  // Without a model of its own, an event counts for the model of the estimate it replaces, or else of the agent.
  const model = named(event.model) ?? meter.estimates[event.of ?? '']?.model ?? digest.model
  // The agent's own figure comes first, even if it is zero.
  const used = { ...event.usage, cost_usd: event.usage.cost_usd ?? costOf(event.usage, model) ?? 0 }
  const meters = { ...digest.meters, [name]: metered(meter, event, { ...plus(NO_USAGE, used), model }) }
  const most = Object.values(meters).reduce((a, b) => (hasSeenMore(b.usage, a.usage) ? b : a))
  return { ...digest, meters, usage: most.usage }
}

const total = ({ input_tokens, output_tokens, cache_read_tokens, cache_write_tokens }: Usage): number =>
  input_tokens + output_tokens + cache_read_tokens + cache_write_tokens

const hasSeenMore = (a: Usage, b: Usage): boolean =>
  total(a) > total(b) || (total(a) === total(b) && (a.cost_usd > b.cost_usd || a.turns > b.turns))

type Estimate = Meter['estimates'][string]

function metered(meter: Meter, { counts, of = '' }: Event<'usage'>, used: NonNullable<Estimate>): Meter {
  if (counts !== 'estimate') {
    const settled = plus(counts === 'total' ? NO_USAGE : meter.settled, used)
    // The estimate is still in the figures, so the same one again adds nothing.
    const estimates = Object.fromEntries(Object.keys(meter.estimates).map(each => [each, null]))
    return { usage: settled, base: settled, settled, estimates }
  }
  if (meter.estimates[of] === null) return meter
  const { [of]: _, ...others } = meter.estimates
  const kept: Meter['estimates'] = { ...others, [of]: used }
  const [[oldest, last]] = Object.entries(kept) as [[string, Estimate]]
  const isFull = Object.keys(kept).length > MOST_ESTIMATES
  const { [oldest]: __, ...newest } = kept
  const estimates = isFull ? newest : kept
  const base = isFull && last ? plus(meter.base, last) : meter.base
  const usage = Object.values(estimates).reduce<Usage>((sum, each) => (each ? plus(sum, each) : sum), base)
  return { ...meter, usage, base, estimates }
}

const named = (model: string | null | undefined): string | null => model?.slice(0, NAME_CHARS) ?? null
/** A time after the year 9999 can neither be waited for nor stored. */
const timely = (time: string | null): string | null => (time && /^\d{4}-/.test(time) ? time : null)
const ending = (text: string): string => (text.length > LAST_TEXT_CHARS ? text.slice(-LAST_TEXT_CHARS) : text)
