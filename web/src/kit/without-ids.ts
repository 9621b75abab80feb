import { capital } from './words.ts'

const IN_BRACKETS = / \(([0-9a-z:._-]+)\)/g

/** The server names a mission as `Title (id)`, for terminals and programs. On the page the title is enough. */
export const withoutIds = (text: string, ids: ReadonlySet<string>): string =>
  text.replace(IN_BRACKETS, (all, id: string) => (ids.has(id) ? '' : all))

/** The first thing that a mission waits for, as it stands by itself. */
export const reasonIn = ([first]: readonly { text: string; on?: string[] | undefined }[]): string | undefined =>
  first && capital(withoutIds(first.text, new Set(first.on)))
