import { safe } from '../../../src/platform/safe-text.ts'

/** Marks that reorder text, and invisible characters. They are shown by their number. */
const UNSEEN = /[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu
/** Joins the parts of an emoji or a letter. It stays there, or family emojis fall apart. */
const JOINERS = /(?<=\p{Extended_Pictographic}\ufe0f?|\p{L})[\u200c\u200d](?=\p{Extended_Pictographic}|\p{L})/gu
const KEPT = '\ue000'

/** Text of agents, repositories and strangers, without anything that acts, hides or reorders. */
export function plain(text: string): string {
  if (!/[^\n\t\x20-\x7e\u00a0-\u05ff\u0700-\u1fff\u2010-\u2027\u2030-\u205f\u2070-\ud7ff]/u.test(text)) return text
  const joined: string[] = []
  const visible = text
    .replaceAll('\r\n', '\n')
    // A progress bar overwrites its line. Here each state has its own line, so that nothing is hidden.
    .replaceAll('\r', '\n')
    .replaceAll(KEPT, '�')
    .replace(JOINERS, joiner => {
      joined.push(joiner)
      return KEPT
    })
    .replace(UNSEEN, mark => `‹U+${mark.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}›`)
  let at = 0
  return safe(visible).replaceAll(KEPT, () => joined[at++] ?? '')
}

export interface Cut {
  text: string
  /** How many characters are left out. */
  missing: number
}

/** The beginning of a text, with at most this many lines and characters. */
export function cutTo(text: string, { lines, chars }: { lines: number; chars: number }): Cut {
  let end = -1
  for (let line = 0; line < lines; line++) {
    const next = text.indexOf('\n', end + 1)
    if (next === -1 || next > chars) {
      end = -1
      break
    }
    end = next
  }
  let length = Math.min(end === -1 ? text.length : end, chars)
  // Do not split a surrogate pair.
  if (length < text.length && /[\ud800-\udbff]/.test(text[length - 1] ?? '')) length--
  return { text: text.slice(0, length), missing: text.length - length }
}

/** The address of a link, if it may be opened; undefined: it is shown as text. */
export function safeLink(address: string | null | undefined): string | undefined {
  const parsed = address && URL.canParse(address) ? new URL(address) : undefined
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.href : undefined
}
