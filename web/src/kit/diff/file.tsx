import { memo, type ReactNode } from 'react'
import type { Block } from './layout.ts'
import { RowView, type RowViewProps } from './row.tsx'
import { isWithin, type Place, type PlacedComment } from './rows.ts'

interface FileViewProps<R extends PlacedComment> extends Omit<RowViewProps<R>, 'row' | 'isCursor'> {
  block: Block<R>
  /** Its index, and its top position. */
  file: number
  top: number
  /** The rows that are drawn, besides its header. */
  first: number
  last: number
  /** The selected line, if it is in this file. */
  cursor: Place | undefined
  /** Gets each drawn row, to measure its height. */
  drawn(element: HTMLElement | null): (() => void) | undefined
}

/** One file in its full height, with only the rows near the visible part. Its header stays visible. */
export const FileView = memo(function FileView<R extends PlacedComment>(props: FileViewProps<R>) {
  const { block, file, top, first, last, cursor, drawn, ...rest } = props
  const { rows, starts } = block
  const viewOf = (at: number) => {
    const row = rows[at]!
    return (
      <div key={row.key} ref={drawn} data-file={file} data-row={at} className={at ? 'diff-row' : 'diff-row diff-head'}>
        <RowView row={row} isCursor={cursor !== undefined && isWithin(row, cursor)} {...rest} />
      </div>
    )
  }
  return (
    <div className="diff-block" style={{ top, height: starts.at(-1) }}>
      {viewOf(0)}
      <div style={{ height: starts[first]! - starts[1]! }} />
      {Array.from({ length: last - first + 1 }, (_, index) => viewOf(first + index))}
    </div>
  )
}) as <R extends PlacedComment>(props: FileViewProps<R>) => ReactNode
