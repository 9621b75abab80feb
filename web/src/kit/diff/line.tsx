import type { ReactNode } from 'react'
import { Code } from './code.tsx'
import type { Span } from './pairs.ts'
import type { Hunk, Line } from './parse.ts'

interface DiffLineProps {
  path: string
  hunk: Hunk
  line: Line
  part?: Span
  /** false: the line numbers are not known. */
  numbers?: boolean
  /** Shown beside the numbers, such as a button to comment. */
  children?: ReactNode
}

/** One line with both its numbers. */
export function DiffLine({ path, hunk, line, part, numbers = true, children }: DiffLineProps) {
  return (
    <div className="diff-line" data-sign={line.sign} data-numbers={numbers || undefined}>
      {numbers && (
        <>
          <span className="diff-number">{line.old}</span>
          <span className="diff-number">{line.new}</span>
        </>
      )}
      {children}
      <span className="diff-sign">{line.sign}</span>
      <Code path={path} hunk={hunk} line={line} part={part} />
    </div>
  )
}
