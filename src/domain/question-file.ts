import { MAX_ANSWER_CHARS, type Question } from './talk.ts'
import { clipped } from './text.ts'

/*
 * A mission's questions.md. Each question is a section, and whoever can write the file can answer it there:
 *
 *   ## Q: 0123456789ab
 *
 *   > Which colour?
 *
 *   ## A:
 *
 *   - [ ] send this answer
 *
 * What stands between `## A:` and the box is the answer, and it is one once the box is ticked: `- [x]`. The box comes
 * last, so that a file of which only the beginning is there has no whole answer.
 */

const SHOWN_CHARS = 20_000
const QUOTED_CHARS = 500

const ANY_HEADING = /^## Q: /
const HEADING = /^## Q: (\w+)$/
const SETTLED = /^## Q: (\w+) is settled$/
const ANSWER = /^## A:(.*)$/
const BOX = /^[-*] \[([ xX])\] send this answer$/

export const QUESTION_FILE_HEAD = `# Questions

Write what you answer under \`## A:\` and tick the box below it, \`[x]\`; it is taken within seconds. The first answer
counts, wherever it is given: \`fleet inbox\` and \`fleet answer\` work as well.
`

type Asked = Pick<Question, 'id' | 'kind' | 'tool'>

/** What is added to the file for a question. A tool is not allowed here: the agent that asks could do it itself. */
export function questionSection({ id, kind, tool }: Asked, text: string): string {
  const form =
    kind === 'permission'
      ? `It asks to use ${oneLine(tool ?? 'a tool')}, which is not decided here: fleet answer ${id}`
      : '## A:\n\n- [ ] send this answer'
  return `\n## Q: ${id}\n\n${quoted(clipped(text, SHOWN_CHARS))}\n\n${form}\n`
}

/** Says in the file what became of a question, so that nobody answers it in vain. */
export function settledSection({ id, status, answer, answered_by }: Question): string {
  const answered = `Answered by ${answered_by}: ${answer?.text ?? answer?.decision}`
  const said = status === 'answered' ? answered : 'It is no longer asked: the session ended.'
  return `\n## Q: ${id} is settled\n\n${quoted(clipped(said, QUOTED_CHARS))}\n`
}

export const tooLongSection = (id: string, length: number): string =>
  `\n## Q: ${id} has an answer that is too long\n\n> ${length} characters; at most ${MAX_ANSWER_CHARS} are taken.\n`

export interface QuestionFile {
  asked: Set<string>
  settled: Set<string>
  /** Whole answers, by question. */
  answers: Map<string, string>
}

export function readQuestionFile(text: string): QuestionFile {
  const file: QuestionFile = { asked: new Set(), settled: new Set(), answers: new Map() }
  let id: string | undefined
  let answer: string[] | undefined
  for (const line of text.split('\n').map(each => each.trimEnd())) {
    if (ANY_HEADING.test(line)) {
      const settled = SETTLED.exec(line)?.[1]
      if (settled) file.settled.add(settled)
      id = HEADING.exec(line)?.[1]
      if (id) file.asked.add(id)
      answer = undefined
    } else if (id !== undefined && answer === undefined) {
      const begins = ANSWER.exec(line)
      if (begins) answer = [begins[1]!.trim()]
    } else if (id !== undefined && answer) {
      const box = BOX.exec(line)
      if (!box) answer.push(line)
      else {
        const said = answer.join('\n').trim()
        if (box[1] !== ' ' && said && !file.answers.has(id)) file.answers.set(id, said)
        id = undefined
      }
    }
  }
  return file
}

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what is taken out
const ENDS_LINE = /\r\n|[\n\r\v\f\x85\u2028\u2029]/
const ACTS = /[\x00-\x08\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above

/** An agent's words: nothing of them can pass for a heading or an answer, nor act on the terminal they are shown in. */
const quoted = (text: string): string =>
  text
    .split(ENDS_LINE)
    .map(line => `> ${line.replace(ACTS, '�')}`.trimEnd())
    .join('\n')

const oneLine = (text: string): string => text.split(ENDS_LINE).join(' ').replace(ACTS, '�')
