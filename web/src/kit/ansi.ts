/** A piece of printed text and how it looks. `look` names classes of ansi.css and never holds text of the program. */
export interface Piece {
  text: string
  look: string
}

interface Look {
  colour: string
  bold: boolean
  faint: boolean
  italic: boolean
  underlined: boolean
}

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
const PLAIN: Look = { colour: '', bold: false, faint: false, italic: false, underlined: false }
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences
const COLOURING = /\x1b\[([\d;:]{0,60})m/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const CUT_OFF = /\x1b\[?[\d;:]{0,60}$/

export const hasColours = (text: string): boolean => text.includes('\x1b[')

/** Text by its colours. Only colours are read; every other sequence stays in the text, for `plain` to remove. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let look = PLAIN
  let from = 0
  const add = (to: number) => {
    if (to > from) pieces.push({ text: text.slice(from, to), look: classesOf(look) })
  }
  for (const match of text.matchAll(COLOURING)) {
    add(match.index)
    look = after(look, match[1]!)
    from = match.index + match[0].length
  }
  add(text.length)
  const last = pieces.at(-1)
  if (last) last.text = last.text.replace(CUT_OFF, '')
  return pieces
}

const classesOf = ({ colour, bold, faint, italic, underlined }: Look): string =>
  [
    colour && `ansi-${colour}`,
    bold && 'ansi-bold',
    faint && 'ansi-faint',
    italic && 'ansi-italic',
    underlined && 'ansi-underlined',
  ]
    .filter(Boolean)
    .join(' ')

function after(look: Look, parameters: string): Look {
  const codes = parameters.split(/[;:]/).map(Number)
  let next = look
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at]!
    if (code === 38 || code === 48) {
      const indexed = codes[at + 1] === 5
      if (code === 38) next = { ...next, colour: indexed ? ofIndex(codes[at + 2]) : ofRgb(codes.slice(at + 2, at + 5)) }
      at += indexed ? 2 : 4
    } else next = withCode(next, code)
  }
  return next
}

function withCode(look: Look, code: number): Look {
  if (code === 0) return PLAIN
  if (code === 1) return { ...look, bold: true }
  if (code === 2) return { ...look, faint: true }
  if (code === 3) return { ...look, italic: true }
  if (code === 4) return { ...look, underlined: true }
  if (code === 22) return { ...look, bold: false, faint: false }
  if (code === 23) return { ...look, italic: false }
  if (code === 24) return { ...look, underlined: false }
  if (code === 39) return { ...look, colour: '' }
  if (code >= 30 && code <= 37) return { ...look, colour: COLOURS[code - 30]! }
  if (code >= 90 && code <= 97) return { ...look, colour: code === 90 ? 'gray' : COLOURS[code - 90]! }
  return look
}

/** One of 256 colours as the nearest of ours, which can be read in both appearances. */
function ofIndex(index = 0): string {
  if (index < 16) return index === 8 ? 'gray' : COLOURS[index % 8]!
  if (index >= 232) return ofRgb([index - 232, index - 232, index - 232].map(shade => 8 + shade * 10))
  const cube = index - 16
  return ofRgb([cube / 36, (cube / 6) % 6, cube % 6].map(step => Math.floor(step) * 51))
}

function ofRgb([red = 0, green = 0, blue = 0]: number[]): string {
  const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)]
  if (most - least < 40) return most < 60 ? 'black' : most > 190 ? 'white' : 'gray'
  const middle = (most + least) / 2
  return COLOURS[(red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0)]!
}
