import { Button } from '@radix-ui/themes'
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown } from 'lucide-react'
import { type RefObject, useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react'
import { type Block, blockShowing } from '../../../../src/domain/rules/conversation.ts'
import { BlockView } from './block.tsx'
import type { BlockProps } from './block-props.ts'
import type { TranscriptWindow } from './transcript-window.ts'
import type { Entry } from './use-transcript.ts'

const NEAR_PX = 900
const END_PX = 60

export interface Place {
  /** Scrolls to a block and marks it. */
  show(index: number): void
}

interface ListProps {
  window: TranscriptWindow
  /** Where reading starts. */
  from: Entry['at']
  whole: BlockProps['whole']
  live: boolean
  place: RefObject<Place | null>
  held: RefObject<boolean>
  older(): Promise<void>
  newer(): Promise<void>
  toEnd(): Promise<void>
}

/** Only the visible part is drawn. It stays at the end until somebody scrolls up. */
export function TranscriptList({ window, from, whole, live, place, held, older, newer, toEnd }: ListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const [marked, setMarked] = useState(() => (typeof from === 'object' ? blockOf(window, from)?.id : undefined))
  const [isHeld, setHeld] = useState(false)
  const { blocks } = window.conversation
  const seen = useRef(blocks.at(-1)?.id)
  /** The row that was clicked last. */
  const touched = useRef<string>(undefined)
  const virtualizer = useVirtualizer({
    count: blocks.length,
    getScrollElement: () => scroller.current,
    estimateSize: index => estimate(blocks[index]!),
    getItemKey: index => blocks[index]!.id,
    overscan: 4,
    paddingStart: 8,
    paddingEnd: 16,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: END_PX,
  })
  // A row is first drawn as plain text and then formatted, which changes its height. Rows below stay in place then; the
  // library would let them jump while scrolling up. A row that somebody opens, and the last row while it is written,
  // grow downwards instead.
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = ({ start, end, key }, _, { scrollOffset }) =>
    key === touched.current || key === blocks.at(-1)?.id ? end <= (scrollOffset ?? 0) : start < (scrollOffset ?? 0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the entry point is set once
  useLayoutEffect(() => {
    const index = typeof from === 'object' ? blocks.findIndex(({ id }) => id === marked) : -1
    if (index >= 0) virtualizer.scrollToIndex(index, { align: 'center' })
    else if (from === 'start') virtualizer.scrollToOffset(0)
    else virtualizer.scrollToEnd()
  }, [])
  useImperativeHandle(place, () => ({
    show(index) {
      virtualizer.scrollToIndex(index, { align: 'center' })
      setMarked(blocks[index]?.id)
    },
  }))

  const scrolled = useCallback(() => {
    const element = scroller.current
    if (!element) return
    const now = !virtualizer.isAtEnd() || !window.atEnd
    held.current = now
    setHeld(now)
    if (!now) seen.current = window.conversation.blocks.at(-1)?.id
    if (element.scrollTop < NEAR_PX && !window.atStart) older()
    if (!window.atEnd && element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX) newer()
  }, [virtualizer, window, held, older, newer])
  // A short page cannot be scrolled, so more is loaded without scrolling.
  useEffect(scrolled, [scrolled])

  const fresh = isHeld && window.atEnd ? blocks.length - 1 - blocks.findLastIndex(({ id }) => id === seen.current) : 0
  const goDown = () => (window.atEnd ? virtualizer.scrollToEnd() : toEnd())
  const toggle = useCallback(
    (id: string) =>
      setOpened(before => {
        const next = new Set(before)
        if (!next.delete(id)) next.add(id)
        return next
      }),
    [],
  )
  return (
    <div className="transcript-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <div className="transcript" ref={scroller} onScroll={scrolled} tabIndex={0} role="log" aria-label="Transcript">
        <div className="transcript-space" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(item => (
            <div
              key={item.key}
              data-index={item.index}
              data-marked={blocks[item.index]!.id === marked || undefined}
              ref={virtualizer.measureElement}
              onClickCapture={() => {
                touched.current = blocks[item.index]!.id
              }}
              className="transcript-row"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <BlockView
                block={blocks[item.index]!}
                whole={whole}
                toggled={opened.has(blocks[item.index]!.id)}
                toggle={toggle}
                live={live}
              />
            </div>
          ))}
        </div>
      </div>
      {isHeld && (
        <Button className="transcript-down" size="2" highContrast onClick={goDown}>
          <ArrowDown size={14} />
          {fresh > 0 ? `${fresh} new` : 'Jump to the end'}
        </Button>
      )}
    </div>
  )
}

const blockOf = ({ conversation, events }: TranscriptWindow, { event_id }: { event_id: string }): Block | undefined =>
  conversation.blocks[blockShowing(conversation, events, event_id) ?? -1]

const LETTERS_PER_LINE = 95
const LINE_PX = 22

/** Close enough that little jumps once it is measured. */
function estimate(block: Block): number {
  switch (block.kind) {
    case 'text':
    case 'said':
      return 28 + LINE_PX * Math.min(40, Math.ceil(block.text.length / LETTERS_PER_LINE))
    case 'lines':
      return 8 + 19 * block.lines.length
    case 'tool':
      return block.edits.length ? 160 : 36
    default:
      return 34
  }
}
