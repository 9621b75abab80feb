import { useMemo, useState, useSyncExternalStore } from 'react'
import { plural } from '../words.ts'
import { chunkOf, type Token } from './highlight.ts'
import type { Span } from './pairs.ts'
import type { Hunk, Line } from './parse.ts'
import { LINE_CHARS, MORE_CHARS, shown } from './shown.ts'

interface CodeProps {
  path: string
  hunk: Hunk
  line: Line
  /** The part that changed. */
  part?: Span
}

/** The text of one line. Colours are added once they are known. */
export function Code({ path, hunk, line, part }: CodeProps) {
  const chunk = chunkOf(path, hunk, line)
  const colours = useSyncExternalStore(chunk.watch, () => chunk.colours)
  const [most, setMost] = useState(LINE_CHARS)
  const missing = line.text.length - most
  const text = useMemo(() => shown(line.text.slice(0, most)), [line, most])
  if (missing > 0)
    return (
      <code className="diff-code">
        {text}
        <button type="button" className="diff-more" onClick={() => setMost(most + MORE_CHARS)}>
          … {plural(missing, 'more character')}
        </button>
      </code>
    )
  const tokens = colours?.get(line) ?? [{ text }]
  // Marks for invisible characters shift the text after them, so the changed part is not marked then.
  const marked = text === line.text ? part : undefined
  return (
    <code className="diff-code">
      {piecesOf(tokens, marked).map(({ text: piece, kind, changed, at }) =>
        kind || changed ? (
          <span key={at} className={changed ? 'diff-part' : undefined} data-kind={kind}>
            {piece}
          </span>
        ) : (
          piece
        ),
      )}
      {line.unended && <span className="diff-unended">no newline at the end</span>}
    </code>
  )
}

interface Piece extends Token {
  changed: boolean
  at: number
}

/** Tokens, split where the changed part begins and ends. */
function piecesOf(tokens: readonly Token[], part: Span | undefined): Piece[] {
  const [start, end] = part ?? [0, 0]
  let at = 0
  return tokens.flatMap(token => {
    const from = at
    at += token.text.length
    const cuts = [from, ...[start, end].filter(cut => cut > from && cut < at), at]
    return cuts.slice(1).map((to, index): Piece => {
      const begin = cuts[index]!
      return {
        ...token,
        text: token.text.slice(begin - from, to - from),
        at: begin,
        changed: begin >= start && to <= end,
      }
    })
  })
}
