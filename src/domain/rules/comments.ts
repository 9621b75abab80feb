import type { Comment } from '../records/mission.ts'

/** The most an agent is told at once. The other comments are sent next time. */
const MAX_CHARS = 60_000

export interface SentBack {
  /** What the agent is told. */
  text: string
  /** The comments that are in it. */
  told: Comment[]
}

/** What a person says about finished work, as one text: their message, and each comment with its file and line. */
export function sentBack(comments: readonly Comment[], message: string | undefined): SentBack {
  const told: Comment[] = []
  const parts: string[] = []
  let left = MAX_CHARS
  for (const comment of comments) {
    const part = `${told.length + 1}. ${inWords(comment)}`
    left -= part.length
    if (left < 0 && told.length) break
    told.push(comment)
    parts.push(part)
  }
  const heading = parts.length ? 'These are the comments on your work. See to each of them.' : ''
  return { text: [message?.trim(), heading, ...parts].filter(Boolean).join('\n\n'), told }
}

function inWords({ path, line, side, quote, body }: Comment): string {
  const place = path && `${path}${line ? `:${line}` : ''}${side === 'old' ? ' (as it was before your change)' : ''}`
  const quoted = quote?.trim() && `> ${quote}`
  return [place, quoted, body].filter(Boolean).join('\n').replaceAll('\n', '\n   ')
}
