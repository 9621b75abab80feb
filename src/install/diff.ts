import { structuredPatch } from 'diff'

const MAX_LINE = 200

/** The removed and added lines without those around them, because a line nearby may contain a secret. */
const hunksOf = (before: string | undefined, after: string | undefined) =>
  structuredPatch('', '', before ?? '', after ?? '', undefined, undefined, { context: 0 }).hunks

/** For the page: hunks as git writes them, without the names of files. */
export const patchOf = (before: string | undefined, after: string | undefined): string =>
  hunksOf(before, after)
    .flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
      ...lines.filter(isLine).map(shown),
    ])
    .join('\n')

/** For the terminal. */
export function diffOf(file: string, before: string | undefined, after: string | undefined): string {
  const changed = hunksOf(before, after).flatMap(({ newStart, lines }) => [
    `@@ line ${newStart} @@`,
    ...lines.filter(isLine).map(shown),
  ])
  const name = (text: string | undefined) => (text === undefined ? '/dev/null' : file)
  return [`--- ${name(before)}`, `+++ ${name(after)}`, ...changed].join('\n')
}

/** Lines with a backslash say that the file does not end in a line break. */
const isLine = (line: string): boolean => !line.startsWith('\\')

const shown = (line: string): string => {
  const text = line.replace(/\r$/, '')
  return text.length > MAX_LINE + 1 ? `${text.slice(0, MAX_LINE + 1)}…` : text
}
