import { NO_USAGE, type Usage } from '../domain/session.ts'
import type { Digest, TranscriptEvent } from './contract.ts'

/** How much of the last thing said is kept; its end, where the conclusion is. */
export const LAST_TEXT_CHARS = 4096

export function emptyDigest(): Digest {
  return {
    conversation: null,
    usage: NO_USAGE,
    settled: NO_USAGE,
    estimated: null,
    lastText: '',
    speaking: false,
    lastRaw: '',
    result: null,
    rateLimit: null,
    lastError: null,
    openTools: 0,
    events: 0,
  }
}

/** The digest after these events; the one given stays as it is. */
export function fold(digest: Digest, events: readonly TranscriptEvent[]): Digest {
  return events.reduce(add, digest)
}

function add(before: Digest, event: TranscriptEvent): Digest {
  const digest = { ...before, events: before.events + 1, speaking: isSpeaking(before, event) }
  switch (event.type) {
    case 'started':
      return { ...digest, conversation: event.conversation ?? digest.conversation, result: null }
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
      return addUsage(digest, event)
    case 'rate_limit':
      // The refusal itself often does not say until when, an event before it did.
      return {
        ...digest,
        rateLimit: { ...event, until: event.until ?? digest.rateLimit?.until ?? null, text: ending(event.text) },
      }
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

/** Whether a piece of text that comes next goes on with the last. What is noted beside it does not end it. */
function isSpeaking({ speaking }: Digest, event: TranscriptEvent): boolean {
  if (event.type === 'raw' || event.type === 'usage') return speaking
  return event.type === 'text' && event.piece === true && (speaking || event.text.trim() !== '')
}

function addUsage(digest: Digest, event: Extract<TranscriptEvent, { type: 'usage' }>): Digest {
  if (event.counts === 'estimate') {
    if (event.of === digest.estimated) return digest
    return { ...digest, usage: sum(digest.usage, event.usage), estimated: event.of }
  }
  const settled = sum(event.counts === 'total' ? NO_USAGE : digest.settled, event.usage)
  // What the newest estimate was of is known still: said again, it is in the figures already.
  return { ...digest, settled, usage: settled }
}

function sum(usage: Usage, more: Partial<Usage>): Usage {
  const total = { ...usage }
  for (const key of Object.keys(usage) as (keyof Usage)[]) total[key] += more[key] ?? 0
  return total
}

const ending = (text: string): string => (text.length > LAST_TEXT_CHARS ? text.slice(-LAST_TEXT_CHARS) : text)
