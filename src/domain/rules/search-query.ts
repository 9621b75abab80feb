/** More words than anybody types. Each one costs time in every search. */
const MOST_WORDS = 16
/** A shorter beginning would match almost everything. */
const SHORTEST_BEGINNING = 2

/** What the index counts as part of a word. */
const HAS_WORD = /[\p{L}\p{N}\p{Co}]/u

/**
 * What a person types, as a query for FTS5: all words must be there, each at least as the beginning of a word; what is
 * in quotation marks must be there exactly as it is. Every word is quoted, so nothing a person types is syntax. Null:
 * there is no word in it.
 */
export function searchQuery(text: string): string | null {
  const words = wordsIn(text)
  if (!words.length) return null
  return words
    .map(({ word, exact }) => quoted(word) + (exact || word.length < SHORTEST_BEGINNING ? '' : '*'))
    .join(' AND ')
}

/** The words and phrases to look for, for marking them in a text. */
export const wordsIn = (text: string): { word: string; exact: boolean }[] =>
  [
    ...text
      .toWellFormed()
      .replaceAll('\0', ' ')
      .matchAll(/"([^"]*)"|[^\s"]+/g),
  ]
    .map(([whole, phrase]) => ({ word: (phrase ?? whole).trim(), exact: phrase !== undefined }))
    .filter(({ word }) => HAS_WORD.test(word))
    .slice(0, MOST_WORDS)

const quoted = (word: string): string => `"${word.replaceAll('"', '""')}"`
