import type { DECISIONS } from '../choices.ts'
import { InvalidInput } from '../errors.ts'
import { clipped } from '../text.ts'

export type Decision = (typeof DECISIONS)[number]

/** Only these words decide about a permission. No word of another language does. */
export const ALLOWS = ['allow', 'approve', 'accept', 'yes', 'y', 'ok'] as const
export const DENIES = ['deny', 'reject', 'refuse', 'decline', 'no', 'n'] as const

const WORDS = new Map<string, Decision>([
  ...ALLOWS.map(word => [word, 'allow'] as const),
  ...DENIES.map(word => [word, 'deny'] as const),
])
/** Lower-casing maps some foreign letters to plain ones, so letters are checked first. */
const PLAIN = /^[A-Za-z]+$/

/** Undefined: the words decide nothing, and the person is asked again. */
export function decisionIn(words: string): Decision | undefined {
  const word = words.trim()
  return PLAIN.test(word) ? WORDS.get(word.toLowerCase()) : undefined
}

export const HOW_TO_DECIDE = `say allow or deny (also ${[...ALLOWS.slice(1), ...DENIES.slice(1)].join(', ')}; any case)`

/** A person's answer, for people to read. Only a permission has a decision; a question has words. */
export function answerInWords({
  kind,
  answer,
}: {
  kind: string
  answer: { decision: Decision; text?: string | null } | null
}): string {
  if (!answer) return ''
  const { decision, text } = answer
  if (kind === 'permission') return text ? `${decision}: ${text}` : decision
  return text || (decision === 'allow' ? 'yes' : 'no')
}

/** An answer as a person gave it: a permission needs the decision, a question the words. */
export interface Spoken {
  decision?: string
  text?: string
}

export interface Answered {
  id: string
  kind: 'permission' | 'question' | 'interruption'
  through: 'client' | 'tool'
}

/** What was given as the answer to this question. An ambiguous answer is refused. */
export function answerTo({ id, kind, through }: Answered, given: Spoken): { decision: Decision; text: string | null } {
  const text = given.text?.trim() ? given.text : null
  const decision = given.decision === undefined ? undefined : decisionIn(given.decision)
  if (given.decision !== undefined && !decision)
    throw new InvalidInput(
      'decision',
      `${JSON.stringify(clipped(given.decision, 100))} is not a decision; ${HOW_TO_DECIDE}`,
    )
  if (kind === 'permission') {
    if (decision) return { decision, text }
    throw new InvalidInput('decision', `it asks for permission, and words alone do not decide that; ${HOW_TO_DECIDE}`, {
      try: `fleet answer ${id} allow|deny ["a note for the agent"]`,
    })
  }
  // A question of the client has choices or is open. Through our own tool, a plain yes is an answer.
  const isAnswer = text !== null || decision === 'deny' || (decision && (through === 'tool' || kind === 'interruption'))
  if (isAnswer) return { decision: decision ?? 'allow', text }
  throw new InvalidInput('text', 'it asks for words, not for permission', { try: `fleet answer ${id} "…"` })
}
