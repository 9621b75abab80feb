import type { Comment } from '../records/mission.ts'
import { rangeOf, suggestionIn } from './suggestions.ts'

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

function inWords(comment: Comment): string {
  const { path, line, start_line, side, quote, body } = comment
  const lines = line ? `:${start_line && start_line < line ? `${start_line}-${line}` : line}` : ''
  const place = path && `${path}${lines}${side === 'old' ? ' (as it was before your change)' : ''}`
  const quoted =
    quote?.trim() &&
    quote
      .split('\n')
      .map(each => `> ${each}`)
      .join('\n')
  return [place, quoted, body, toApply(comment)].filter(Boolean).join('\n').replaceAll('\n', '\n   ')
}

function toApply(comment: Comment): string | undefined {
  const range = rangeOf(comment)
  if (!range || !suggestionIn(comment.body)) return undefined
  const { first, last } = range
  return `Apply the suggestion: the block replaces ${first < last ? `lines ${first} to ${last}` : `line ${last}`} as quoted.`
}
