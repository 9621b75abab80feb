// biome-ignore-start lint/suspicious/noControlCharactersInRegex: finding control characters is what this file is for
/** Sequences that move the cursor, colour text, or set a terminal's title or clipboard. */
const SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]/g
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g
/** C1 controls, and the marks that reverse the order of text. */
const HIDDEN = /[\x80-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above

/** Text from agents and repositories may be hostile: it must have no effect on a terminal. Lines and tabs stay. */
export function safe(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(SEQUENCES, '')
    .replace(CONTROLS, character =>
      character === '\x7f' ? '␡' : String.fromCharCode(0x2400 + character.charCodeAt(0)),
    )
    .replace(HIDDEN, '�')
}

/** The same on a single line, for tables and titles. */
export const safeLine = (text: string): string =>
  safe(text)
    .replace(/\s*\n\s*/g, ' ⏎ ')
    .replaceAll('\t', ' ')

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const COMBINING = /\p{Mn}|\p{Me}|[\u200b-\u200d]/u
const PLAIN = /^[\x20-\x7e]*$/

const columns = (character: string): number => (COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1)

/** How many columns text without control characters takes on a terminal. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const character of text) width += columns(character)
  return width
}

/** Cuts text to this many columns, with a mark that something is missing. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let taken = ''
  let used = 0
  for (const character of text) {
    used += columns(character)
    if (used > width - 1) break
    taken += character
  }
  return `${taken.trimEnd()}…`
}
