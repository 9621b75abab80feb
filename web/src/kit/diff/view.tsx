import {
  memo,
  type ReactNode,
  type Ref,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import './diff.css'
import { FileView } from './file.tsx'
import { fileAt, HEIGHTS, heightAt, held, rowAt } from './layout.ts'
import { firstChange, isAt, type Listed, type Place, type PlacedRemark, placeOf, type View } from './rows.ts'
import { useScroll } from './scroll.ts'
import type { Diffs } from './use-diffs.ts'
import { useLayout } from './use-layout.ts'
import { useMeasured } from './use-measured.ts'
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

const NO_REMARKS: ReadonlyMap<string, never[]> = new Map()

/** The changes of many files, one below the other; only what is seen is drawn, however long they are. */
export const DiffView = memo(function DiffView<R extends PlacedRemark>(props: DiffViewProps<R>) {
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
  const list = useRef<HTMLDivElement>(null)
  const { layout, measure } = useLayout({ files, diffs, view, isFolded, remarksOn, writing })
  const { blocks, tops } = layout
  // The upper edge may be a part of a pixel above what was scrolled to.
  const currentAt = (offset: number) => fileAt(layout, offset + 1)
  const tellCurrent = (offset: number) => {
    const current = blocks[currentAt(offset)]
    if (current) onCurrent?.(current.listed.path)
  }
  const { drawn, scrolled, scrollTo } = useScroll(list, tellCurrent)
  const { take, measureDrawn } = useMeasured(measure)

  const shown = useRef(layout)
  useLayoutEffect(() => {
    // What came out higher than was thought is drawn again before anybody sees it.
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
  const findCursor = () => {
    const file = cursor ? blocks.findIndex(block => block.listed.path === cursor.path) : -1
    const row = blocks[file]?.rows.findIndex(each => isAt(each, cursor!)) ?? -1
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
    line(step) {
      let { file, row } = findCursor()
      for (let block = blocks[file]; block; ) {
        row += step
        const next = block.rows[row]
        const place = next && placeOf(next)
        if (place) {
          setCursor(place)
          bringIntoSight(file, row)
          return
        }
        if (next) continue
        file += step
        block = blocks[file]
        row = step === 1 ? -1 : (block?.rows.length ?? 0)
      }
    },
    remark() {
      if (!writer) return
      const place = cursor ?? firstChange(blocks[currentFile()]?.rows ?? [])
      if (!place) return
      setCursor(place)
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
            remark={remark}
            writer={writer}
            write={setWriting}
          />
        )
      })}
    </div>
  )
}) as <R extends PlacedRemark>(props: DiffViewProps<R>) => ReactNode
