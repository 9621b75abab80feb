import { type Json, list, object, string, text } from '../json.ts'

/** The tool with which the client asks a person a question, not for permission. */
export const ASKING_TOOL = 'AskUserQuestion'

interface Asked {
  question: string
  options: Json[]
}

/** The questions in the input of that tool; undefined: it is the input of another tool. */
export function questionsIn(input: unknown): Asked[] | undefined {
  const asked = list(object(input)?.questions).flatMap(each => {
    const { question, options } = object(each) ?? {}
    const choices = list(options).map(option => object(option) ?? {})
    return typeof question === 'string' ? [{ question, options: choices }] : []
  })
  return asked.length ? asked : undefined
}

/** The questions with their options, as a person reads them. */
export const inWords = (questions: readonly Asked[]): string => questions.map(described).join('\n\n')

function described({ question, options }: Asked): string {
  const choices = options.map(({ label, description }) =>
    [`- ${text(label)}`, string(description)].filter(Boolean).join(': '),
  )
  return [question, ...choices].join('\n')
}

/** A person's answer in the client's form: one line for each question, or the whole text for all of them. */
export function answersTo(questions: readonly Asked[], words: string): Record<string, string> {
  const lines = words.split('\n').filter(line => line.trim())
  const each = lines.length === questions.length
  return Object.fromEntries(questions.map(({ question }, index) => [question, each ? lines[index]!.trim() : words]))
}
