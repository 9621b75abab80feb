import { Skeleton, Text } from '@radix-ui/themes'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type DragEvent, useEffect, useMemo, useRef, useState } from 'react'
import { Problem } from '../../kit/page.tsx'
import { useRemembered } from '../../kit/remembered.ts'
import { useMissions } from '../../live/data.ts'
import type { Mission, MissionFilter } from '../../live/mending.ts'
import { CARD_HEIGHT, Card, type CardActs } from './card.tsx'
import type { Column as ColumnOf } from './columns.ts'
import { moveTo } from './moves.ts'
import { useFollowing, useReadingOn } from './scrolling.ts'
import type { Selected } from './selection.ts'

const PAGE = 60

export interface Shown {
  active: { id: string; moved: number } | undefined
  selected: Selected
  hidden: ReadonlySet<string>
  dragging: Mission | undefined
  projectName(id: string): string
  agentOf(mission: Mission): string
}

interface ColumnProps extends Shown {
  column: ColumnOf
  filter: MissionFilter
  /** Undefined: the server cannot count matches of this filter. */
  count: number | undefined
  acts: CardActs
  /** Reports its missions in order, for the keyboard. */
  report(column: string, missions: readonly Mission[]): void
  drop(column: ColumnOf, place: number): void
  folding: Folding
}

export interface Folding {
  isFolded(name: string): boolean
  toggle(name: string): void
}

/** Which columns a person has folded to a strip. */
export function useFolding(): Folding {
  const [folded, setFolded] = useRemembered('board-folded')
  const names = (folded ?? '').split(',').filter(Boolean)
  return {
    isFolded: name => names.includes(name),
    toggle: name =>
      setFolded((names.includes(name) ? names.filter(each => each !== name) : [...names, name]).join() || null),
  }
}

export function Column({ column, filter, count, acts, report, drop, folding, ...shown }: ColumnProps) {
  const { active, selected, hidden, dragging, projectName, agentOf } = shown
  const reading = useMissions({ ...filter, status: [...column.statuses], order: column.order, limit: PAGE })
  const missions = useMemo(() => {
    const visible = reading.missions.filter(({ id }) => !hidden.has(id))
    return column.compare ? visible.sort(column.compare) : visible
  }, [reading.missions, hidden, column])
  const scroll = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: missions.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => CARD_HEIGHT,
    overscan: 4,
    getItemKey: index => missions[index]!.id,
  })
  useReadingOn(rows, missions.length, reading)
  useFollowing(rows, missions, active)
  useEffect(() => report(column.name, missions), [report, column, missions])
  const total = count ?? missions.length
  const dropping = useDropping(scroll, missions.length, place => drop(column, place))
  const move = dragging && moveTo(dragging, column)
  const reorders = move?.to === 'same' && column.name === 'Queued'
  const isEmpty = total === 0 && missions.length === 0 && !reading.isPending
  const isFolded = isEmpty || folding.isFolded(column.name)
  return (
    <section
      className="column"
      aria-label={column.name}
      title={isFolded ? column.teaches : undefined}
      data-empty={isFolded || undefined}
      data-takes={(move && (move.to === 'act' || reorders)) || undefined}
      {...(dragging && dropping.handlers)}
    >
      <header className="column-head">
        <h2>
          <button
            type="button"
            className="column-name"
            disabled={isEmpty}
            aria-expanded={!isFolded}
            onClick={() => folding.toggle(column.name)}
          >
            {column.name}
          </button>
        </h2>
        <span className="column-count">
          {total}
          {count === undefined && reading.hasNextPage && '+'}
        </span>
      </header>
      {move && dropping.place !== undefined && move.to !== 'same' && (
        <div className="column-says" data-refused={move.to === 'nowhere' || undefined}>
          {move.to === 'act' ? move.word : move.why}
        </div>
      )}
      <div className="column-scroll" ref={scroll}>
        {reading.error && missions.length === 0 && <Problem error={reading.error} retry={() => reading.refetch()} />}
        {reading.isPending && !reading.error && <Skeletons />}
        <ul className="column-cards" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, key, start }) => {
            const mission = missions[index]!
            return (
              <li key={key} style={{ transform: `translateY(${start}px)` }}>
                <Card
                  mission={mission}
                  project={projectName(mission.project_id)}
                  agent={agentOf(mission)}
                  isActive={active?.id === mission.id}
                  isSelected={selected.has(mission.id)}
                  acts={acts}
                />
              </li>
            )
          })}
          {reorders && dropping.place !== undefined && (
            <li
              aria-hidden
              className="column-place"
              style={{ transform: `translateY(${dropping.place * CARD_HEIGHT}px)` }}
            />
          )}
        </ul>
        {column.name === 'Queued' && reading.hasNextPage && (
          <Text as="p" size="1" color="gray" className="column-note">
            Order of the missions loaded so far: {missions.length} of {total}.
          </Text>
        )}
      </div>
    </section>
  )
}

/** The position in a column for a drop. */
function useDropping(scroll: { current: HTMLDivElement | null }, count: number, dropped: (place: number) => void) {
  const [place, setPlace] = useState<number>()
  const placeAt = (event: DragEvent): number => {
    const { top = 0 } = scroll.current?.getBoundingClientRect() ?? {}
    const offset = event.clientY - top + (scroll.current?.scrollTop ?? 0)
    return Math.max(0, Math.min(count, Math.round(offset / CARD_HEIGHT)))
  }
  const handlers = {
    onDragOver(event: DragEvent) {
      // Also if the drop will be refused, because only then can we say why.
      event.preventDefault()
      setPlace(placeAt(event))
    },
    onDragLeave(event: DragEvent<HTMLElement>) {
      if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setPlace(undefined)
    },
    onDrop(event: DragEvent) {
      event.preventDefault()
      setPlace(undefined)
      dropped(placeAt(event))
    },
  }
  return { place, handlers }
}

const Skeletons = () => (
  <div role="status" aria-label="Loading" className="column-skeletons">
    <Skeleton height="100px" />
    <Skeleton height="100px" />
  </div>
)
