import type { Question } from '../records/talk.ts'
import { clipped } from '../text.ts'

/*
 * A mission's questions.md has its agents' questions and the answers. Flotilla writes it and never reads it: an agent
 * can write it too, so nothing in it is believed.
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

/** The whole file. If there are very many questions, it has the newest of them, oldest first. */
export const questionFileOf = (asked: readonly Asked[]): string => HEAD + asked.slice(-MOST_SHOWN).map(section).join('')

function section(question: Asked): string {
  const { id, kind, tool, text } = question
  const wish = kind === 'permission' ? `It wants to use ${oneLine(tool ?? 'a tool')}:\n\n` : ''
  return `\n## Q: ${id}\n\n${wish}${quoted(clipped(text, SHOWN_CHARS))}\n\n${outcome(question)}\n`
}

function outcome({ id, kind, status, answer, answered_by }: Asked): string {
  if (status === 'open')
    return `Waits for an answer: fleet answer ${id} ${kind === 'permission' ? 'allow|deny' : '"…"'}`
  if (!answer) return 'The session ended, so this question is no longer open.'
  const words = kind === 'permission' || !answer.text ? [answer.decision, answer.text] : [answer.text]
  return `## A: by ${oneLine(answered_by ?? 'nobody')}\n\n${quoted(words.filter(Boolean).join(': '))}`
}

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: these characters are removed
const ENDS_LINE = /\r\n|[\n\r\v\f\x85\u2028\u2029]/
const ACTS = /[\x00-\x08\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above

/** Quotes foreign text so that it cannot pass for a heading or act on a terminal. */
const quoted = (text: string): string =>
  text
    .split(ENDS_LINE)
    .map(line => `> ${line.replace(ACTS, '�')}`.trimEnd())
    .join('\n')

const oneLine = (text: string): string => text.split(ENDS_LINE).join(' ').replace(ACTS, '�')
