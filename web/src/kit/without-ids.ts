import { capital } from './words.ts'

const IN_BRACKETS = / \(([0-9a-z:._-]+)\)/g

/** The server names a mission as `Title (id)`, for terminals and programs. On the page the title is enough. */
export const withoutIds = (text: string, ids: ReadonlySet<string>): string =>
  text.replace(IN_BRACKETS, (all, id: string) => (ids.has(id) ? '' : all))

/** How reasons begin that the terminal has in the middle of a line. Others begin with a name, which keeps its letters. */
const OURS = /^(it|the|waiting|blocked|not|project|retrying)\b/

/** Advice for a terminal behind a reason. The page has its own ways. */
const SEE = /; see fleet .*$/

/** A reason as it stands by itself on the page. */
export function asSentence(text: string): string {
  const reason = text.replace(SEE, '')
  return OURS.test(reason) ? capital(reason) : reason
}

/** The first thing that a mission waits for. */
export const reasonIn = ([first]: readonly { text: string; on?: string[] | undefined }[]): string | undefined =>
  first && asSentence(withoutIds(first.text, new Set(first.on)))
