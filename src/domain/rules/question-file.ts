import type { Question } from '../records/talk.ts'
import { clipped } from '../text.ts'

/*
 * A mission's questions.md: what its agents asked and what was answered. It is only ever written. An agent can write
 * it too, so nothing that stands in it is believed.
 */

const SHOWN_CHARS = 20_000
const MOST_SHOWN = 100

const HEAD = `# Questions

What the agents of this mission asked, as the fleet knows it. Nothing is read from this file: answer with
\`fleet answer\`, or on the page.
`

export interface Asked extends Pick<Question, 'id' | 'kind' | 'tool' | 'status' | 'answer' | 'answered_by'> {
  text: string
}

/** The whole file; of very many questions the newest, which come last. */
export const questionFileOf = (asked: readonly Asked[]): string => HEAD + asked.slice(-MOST_SHOWN).map(section).join('')

function section(question: Asked): string {
  const { id, kind, tool, text } = question
  const wish = kind === 'permission' ? `It asks to use ${oneLine(tool ?? 'a tool')}:\n\n` : ''
  return `\n## Q: ${id}\n\n${wish}${quoted(clipped(text, SHOWN_CHARS))}\n\n${outcome(question)}\n`
}

function outcome({ id, kind, status, answer, answered_by }: Asked): string {
  if (status === 'open')
    return `Waits for an answer: fleet answer ${id} ${kind === 'permission' ? 'allow|deny' : '"…"'}`
  if (!answer) return 'It is no longer asked: the session ended.'
  const words = kind === 'permission' || !answer.text ? [answer.decision, answer.text] : [answer.text]
  return `## A: by ${oneLine(answered_by ?? 'nobody')}\n\n${quoted(words.filter(Boolean).join(': '))}`
}

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what is taken out
const ENDS_LINE = /\r\n|[\n\r\v\f\x85\u2028\u2029]/
const ACTS = /[\x00-\x08\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above

/** Foreign words: nothing of them can pass for a heading, nor act on the terminal they are shown in. */
const quoted = (text: string): string =>
  text
    .split(ENDS_LINE)
    .map(line => `> ${line.replace(ACTS, '�')}`.trimEnd())
    .join('\n')

const oneLine = (text: string): string => text.split(ENDS_LINE).join(' ').replace(ACTS, '�')
