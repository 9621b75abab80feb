import {
  memo,
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import './diff.css'
import { FileView } from './file.tsx'
import { fileAt, HEIGHTS, heightAt, held, rowAt } from './layout.ts'
import { firstChange, isAt, type Listed, type Place, type PlacedComment, placeOf, rangeOf, type View } from './rows.ts'
import { useScroll } from './scroll.ts'
import type { Diffs } from './use-diffs.ts'
import { useLayout } from './use-layout.ts'
import { useMeasured } from './use-measured.ts'
import './view.css'

export interface DiffHandle {
  /** Goes to the next or previous file. */
  file(step: 1 | -1): void
  goTo(path: string): void
  /** Goes to the next or previous line, or adds it to the selected ones. */
  line(step: 1 | -1, adds?: boolean): void
  /** Begins a comment on the selected line, or on the first changed line of the file. */
  comment(): void
}

interface DiffViewProps<R extends PlacedComment> {
  ref?: Ref<DiffHandle>
  files: readonly Listed[]
  diffs: Diffs
  view: View
  isFolded(listed: Listed): boolean
  fold(listed: Listed, folded: boolean): void
  /** Shown beside the name of a file. */
  fileActions?(listed: Listed): ReactNode
  commentsOn?: ReadonlyMap<string, readonly R[]>
  comment?(comment: R): ReactNode
  /** The form for a new comment. Without it, lines cannot be commented on. */
  writer?(place: Place, close: () => void): ReactNode
  /** Called with the file at the top of the visible part. */
  onCurrent?(path: string): void
}

/** The end of the selected lines that is not where the selection began. */
function movingEnd(cursor: Place, anchor: Place | undefined, adding: 1 | -1 | undefined): Place {
  const { start = cursor.line } = cursor
  const isAbove = anchor ? anchor.line > start : adding === -1
  return { ...cursor, line: isAbove ? start : cursor.line }
}

const NO_COMMENTS: ReadonlyMap<string, never[]> = new Map()

/** The changes of many files, one below the other. Only the visible part is drawn. */
export const DiffView = memo(function DiffView<R extends PlacedComment>(props: DiffViewProps<R>) {
  const {
    ref,
    files,
    diffs,
    view,
    isFolded,
    fold,
    fileActions,
    commentsOn = NO_COMMENTS,
    comment,
    writer,
    onCurrent,
  } = props
  const [writing, setWriting] = useState<Place>()
  const [cursor, setCursor] = useState<Place>()
  /** Where a selection of several lines began. */
  const anchor = useRef<Place>(undefined)
  const select = (place: Place) => {
    anchor.current = place
    setCursor(place)
  }
  const write = useCallback((place: Place | undefined, adds = false) => {
    const range = place && adds ? rangeOf(anchor.current, place) : place
    if (place && !adds) anchor.current = place
    if (range) setCursor(range)
    setWriting(range)
  }, [])
  const list = useRef<HTMLDivElement>(null)
  const { layout, measure } = useLayout({ files, diffs, view, isFolded, commentsOn, writing })
  const { blocks, tops } = layout
  // The upper edge may be a fraction of a pixel above the target.
  const currentAt = (offset: number) => fileAt(layout, offset + 1)
  const tellCurrent = (offset: number) => {
    const current = blocks[currentAt(offset)]
    if (current) onCurrent?.(current.listed.path)
  }
  const { drawn, scrolled, scrollTo } = useScroll(list, tellCurrent)
  const { take, measureDrawn } = useMeasured(measure)

  const shown = useRef(layout)
  useLayoutEffect(() => {
    // Rows that differ from their assumed height are drawn again before anybody sees them.
    const isNew = shown.current !== layout
    if (measureDrawn(isNew) || !isNew || !scrolled.current) return
    const { offset } = scrolled.current
    const before = shown.current
    shown.current = layout
    scrollTo(held(before, layout, offset))
  })
  useEffect(() => {
    if (scrolled.current) tellCurrent(scrolled.current.offset)
  })

  const currentFile = () => currentAt(scrolled.current?.offset ?? 0)
  /** The row of the cursor: of several lines the end that moves. */
  const findCursor = (adding?: 1 | -1) => {
    const end = cursor && movingEnd(cursor, anchor.current, adding)
    const file = end ? blocks.findIndex(block => block.listed.path === end.path) : -1
    const row = blocks[file]?.rows.findIndex(each => isAt(each, end!)) ?? -1
    return row === -1 ? { file: currentFile(), row: 0 } : { file, row }
  }
  const bringIntoSight = (file: number, row: number) => {
    const { offset, height } = scrolled.current!
    const start = tops[file]! + blocks[file]!.starts[row]!
    const end = start + heightAt(blocks[file]!, row)
    if (start < offset + HEIGHTS.file) scrollTo(start - HEIGHTS.file)
    else if (end > offset + height) scrollTo(end - height)
  }
  useImperativeHandle(ref, () => ({
    file(step) {
      const next = currentFile() + step
      if (!blocks[next]) return
      setCursor(undefined)
      scrollTo(tops[next]!)
    },
    goTo(path) {
      const file = blocks.findIndex(block => block.listed.path === path)
      if (file !== -1) scrollTo(tops[file]!)
    },
    line(step, adds = false) {
      let { file, row } = findCursor(adds ? step : undefined)
      for (let block = blocks[file]; block; ) {
        row += step
        const next = block.rows[row]
        const place = next && placeOf(next)
        if (place && (!adds || !cursor || (place.path === cursor.path && place.side === cursor.side))) {
          if (adds) setCursor(rangeOf(anchor.current, place))
          else select(place)
          bringIntoSight(file, row)
          return
        }
        if (next) continue
        if (adds) return
        file += step
        block = blocks[file]
        row = step === 1 ? -1 : (block?.rows.length ?? 0)
      }
    },
    comment() {
      if (!writer) return
      const place = cursor ?? firstChange(blocks[currentFile()]?.rows ?? [])
      if (!place) return
      if (!cursor) select(place)
      setWriting(place)
    },
  }))

  const firstFile = fileAt(layout, drawn.from)
  const endFile = drawn.to > 0 && files.length ? fileAt(layout, drawn.to) + 1 : firstFile
  return (
    <div ref={list} className="diff-view" style={{ height: tops.at(-1) }}>
      {blocks.slice(firstFile, endFile).map((block, index) => {
        const file = firstFile + index
        const { listed } = block
        return (
          <FileView
            key={listed.path}
            block={block}
            file={file}
            top={tops[file]!}
            first={Math.max(1, rowAt(block, drawn.from - tops[file]!))}
            last={rowAt(block, drawn.to - tops[file]!)}
            cursor={cursor?.path === listed.path ? cursor : undefined}
            drawn={take}
            reader={diffs.reader}
            isFolded={isFolded(listed)}
            fold={fold}
            fileActions={fileActions}
            comment={comment}
            writer={writer}
            write={write}
          />
        )
      })}
    </div>
  )
}) as <R extends PlacedComment>(props: DiffViewProps<R>) => ReactNode
