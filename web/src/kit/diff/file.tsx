import { memo, type ReactNode } from 'react'
import type { Block } from './layout.ts'
import { RowView, type RowViewProps } from './row.tsx'
import { isAt, type Place, type PlacedRemark } from './rows.ts'

interface FileViewProps<R extends PlacedRemark> extends Omit<RowViewProps<R>, 'row' | 'isCursor'> {
  block: Block<R>
  /** Which one it is, and where it begins. */
  file: number
  top: number
  /** The rows that are drawn, besides its head. */
  first: number
  last: number
  /** The line one is at, if it is in this file. */
  cursor: Place | undefined
  /** Takes each row that is drawn, to know how high it is. */
  drawn(element: HTMLElement | null): (() => void) | undefined
}

/** One file as high as all of it is, with those of its rows that are near to what is seen; its head stays in sight. */
export const FileView = memo(function FileView<R extends PlacedRemark>(props: FileViewProps<R>) {
  const { block, file, top, first, last, cursor, drawn, ...rest } = props
  const { rows, starts } = block
  const viewOf = (at: number) => {
    const row = rows[at]!
    return (
      <div key={row.key} ref={drawn} data-file={file} data-row={at} className={at ? 'diff-row' : 'diff-row diff-head'}>
        <RowView row={row} isCursor={cursor !== undefined && isAt(row, cursor)} {...rest} />
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
}) as <R extends PlacedRemark>(props: FileViewProps<R>) => ReactNode
