export const DECISIONS = ['allow', 'deny'] as const
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
