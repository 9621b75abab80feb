import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, type Ref, useCallback, useEffect, useImperativeHandle, useRef, useState } from 'react'
import { useAnchor, useFollowedMargin } from './anchor.ts'
import './diff.css'
import { RowView } from './row.tsx'
import { firstChange, isAt, type Listed, type Place, type PlacedRemark, placeOf, type Row, type View } from './rows.ts'
import type { Diffs } from './use-diffs.ts'
import { fileAt, useRows } from './use-rows.ts'
import './view.css'

export interface DiffHandle {
  /** To the next file, or the one before. */
  file(step: 1 | -1): void
  goTo(path: string): void
  /** To the next line, or the one before. */
  line(step: 1 | -1): void
  /** Begins a remark on the line one is at, or on the first of the file that changed. */
  remark(): void
}

interface DiffViewProps<R extends PlacedRemark> {
  ref?: Ref<DiffHandle>
  files: readonly Listed[]
  diffs: Diffs
  view: View
  isFolded(listed: Listed): boolean
  fold(listed: Listed, folded: boolean): void
  /** Beside the name of a file. */
  fileActions?(listed: Listed): ReactNode
  remarksOn?: ReadonlyMap<string, readonly R[]>
  remark?(remark: R): ReactNode
  /** Where a remark is written; without it lines cannot be remarked on. */
  writer?(place: Place, close: () => void): ReactNode
  /** The file at the top of what is seen. */
  onCurrent?(path: string): void
}

const HEIGHTS: Record<Row['kind'], number> = {
  file: 41,
  unread: 120,
  note: 32,
  gap: 28,
  line: 20,
  pair: 20,
  remark: 96,
  writing: 168,
  end: 14,
}
const NO_REMARKS: ReadonlyMap<string, never[]> = new Map()

/** The changes of many files, one below the other; only what is seen is drawn, however long they are. */
export function DiffView<R extends PlacedRemark>(props: DiffViewProps<R>) {
  const {
    ref,
    files,
    diffs,
    view,
    isFolded,
    fold,
    fileActions,
    remarksOn = NO_REMARKS,
    remark,
    writer,
    onCurrent,
  } = props
  const [writing, setWriting] = useState<Place>()
  const [cursor, setCursor] = useState<Place>()
  const { rows, heads } = useRows({ files, diffs, view, isFolded, remarksOn, writing })
  const list = useRef<HTMLDivElement>(null)
  const [margin, setMargin] = useState(0)
  const scroller = useCallback(() => list.current?.closest('main') ?? null, [])

  const sticky = useRef(0)
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: scroller,
    estimateSize: index => HEIGHTS[rows[index]!.kind],
    getItemKey: index => rows[index]!.key,
    overscan: 12,
    scrollMargin: margin,
    scrollPaddingStart: HEIGHTS.file,
    rangeExtractor: (range: Range) => {
      sticky.current = heads[fileAt(heads, range.startIndex)] ?? 0
      return [...new Set([sticky.current, ...defaultRangeExtractor(range)])].sort((a, b) => a - b)
    },
  })
  useFollowedMargin(list, setMargin)
  useAnchor(rows, virtualizer)

  const items = virtualizer.getVirtualItems()
  const current = rows[sticky.current]?.listed.path
  useEffect(() => {
    if (current !== undefined) onCurrent?.(current)
  }, [current, onCurrent])

  // The head of a file stands where the one before it would stick.
  const goToHead = (index: number) =>
    virtualizer.scrollToOffset((virtualizer.getOffsetForIndex(index, 'start')?.[0] ?? 0) + HEIGHTS.file)
  const at = (path: string) => files.findIndex(each => each.path === path)
  useImperativeHandle(ref, () => ({
    file(step) {
      const here = fileAt(heads, sticky.current)
      const next = heads[here + step]
      if (next === undefined) return
      setCursor(undefined)
      goToHead(next)
    },
    goTo(path) {
      const index = heads[at(path)]
      if (index !== undefined) goToHead(index)
    },
    line(step) {
      const from = cursor ? rows.findIndex(row => isAt(row, cursor)) : sticky.current
      for (let index = from + step; index >= 0 && index < rows.length; index += step) {
        const place = placeOf(rows[index]!)
        if (!place) continue
        setCursor(place)
        virtualizer.scrollToIndex(index, { align: 'auto' })
        return
      }
    },
    remark() {
      if (!writer) return
      const place = cursor ?? firstChange(rows.slice(sticky.current, heads[fileAt(heads, sticky.current) + 1]))
      if (!place) return
      setCursor(place)
      setWriting(place)
    },
  }))

  return (
    <div ref={list} className="diff-view" style={{ height: virtualizer.getTotalSize() }}>
      {items.map(({ index, start, key }) => {
        const row = rows[index]!
        return (
          <div
            key={key}
            ref={virtualizer.measureElement}
            data-index={index}
            className={index === sticky.current ? 'diff-row diff-row-sticky' : 'diff-row'}
            style={index === sticky.current ? undefined : { transform: `translateY(${start - margin}px)` }}
          >
            <RowView
              row={row}
              reader={diffs.reader}
              isCursor={cursor !== undefined && isAt(row, cursor)}
              isFolded={row.kind === 'file' && isFolded(row.listed)}
              fold={fold}
              fileActions={fileActions}
              remark={remark}
              writer={writer}
              write={setWriting}
            />
          </div>
        )
      })}
    </div>
  )
}
