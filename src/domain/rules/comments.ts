import type { Comment } from '../records/mission.ts'

/** As much as an agent is told at once; what does not fit waits for the next time. */
const MAX_CHARS = 60_000

export interface SentBack {
  /** What the agent is told. */
  text: string
  /** The remarks that are in it. */
  told: Comment[]
}

/** What a person says of finished work, as one text: their message, and each remark with the place it is about. */
export function sentBack(remarks: readonly Comment[], message: string | undefined): SentBack {
  const told: Comment[] = []
  const parts: string[] = []
  let left = MAX_CHARS
  for (const remark of remarks) {
    const part = `${told.length + 1}. ${inWords(remark)}`
    left -= part.length
    if (left < 0 && told.length) break
    told.push(remark)
    parts.push(part)
  }
  const heading = parts.length ? 'These are the remarks on your work. See to each of them.' : ''
  return { text: [message?.trim(), heading, ...parts].filter(Boolean).join('\n\n'), told }
}

function inWords({ path, line, side, quote, body }: Comment): string {
  const place = path && `${path}${line ? `:${line}` : ''}${side === 'old' ? ' (as it was before your change)' : ''}`
  const quoted = quote?.trim() && `> ${quote}`
  return [place, quoted, body].filter(Boolean).join('\n').replaceAll('\n', '\n   ')
}
