import { Button, Skeleton, Text } from '@radix-ui/themes'
import { useVirtualizer } from '@tanstack/react-virtual'
import { SearchX } from 'lucide-react'
import { memo, useEffect, useMemo, useRef } from 'react'
import { Link } from 'wouter'
import { Empty, Problem } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { StatusBadge } from '../../kit/status.tsx'
import { useMissions } from '../../live/data.ts'
import type { Mission } from '../../live/mending.ts'
import { type CardActs, type CardProps, Menu, Tag, Tick, When, whyOf } from './card.tsx'
import type { Shown } from './column.tsx'
import type { Filters } from './filters.ts'
import { useFollowing, useReadingOn } from './scrolling.ts'

const PAGE = 200
export const LIST = 'list'

interface ListProps extends Shown {
  filters: Filters
  isPhone: boolean
  acts: CardActs
  report(column: string, missions: readonly Mission[]): void
  selectAll(missions: readonly Mission[]): void
}

/** Thousands of missions, one on a line. */
export function List({ filters, isPhone, acts, report, selectAll, ...shown }: ListProps) {
  const { active, selected, hidden, projectName, agentOf } = shown
  const { filter, state, order, set } = filters
  const reading = useMissions({ ...filter, status: state, order: order === 'ended' ? order : undefined, limit: PAGE })
  const missions = useMemo(() => reading.missions.filter(({ id }) => !hidden.has(id)), [reading.missions, hidden])
  const scroll = useRef<HTMLDivElement>(null)
  const height = isPhone ? 76 : 44
  const rows = useVirtualizer({
    count: missions.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => height,
    overscan: 8,
    getItemKey: index => missions[index]!.id,
  })
  useReadingOn(rows, missions.length, reading)
  useFollowing(rows, missions, active)
  useEffect(() => report(LIST, missions), [report, missions])
  const isLooking = reading.isPending || (missions.length === 0 && reading.hasNextPage)
  return (
    <div className="list">
      <div className="list-head">
        <input
          type="checkbox"
          aria-label="Select all loaded missions"
          checked={missions.length > 0 && selected.size >= missions.length}
          onChange={event => selectAll(event.target.checked ? missions : [])}
        />
        <Text size="1" color="gray" className="list-count" role="status">
          {missions.length}
          {reading.hasNextPage ? ' loaded so far' : missions.length === 1 ? ' mission' : ' missions'}
        </Text>
        <Text size="1" color="gray" className="list-order">
          Newest first by
        </Text>
        {(['created', 'ended'] as const).map(each => (
          <Button
            key={each}
            size="1"
            variant={order === each ? 'soft' : 'ghost'}
            color="gray"
            highContrast
            aria-pressed={order === each}
            onClick={() => set('order', each === 'ended' ? each : null)}
          >
            {each === 'created' ? 'time created' : 'time ended'}
          </Button>
        ))}
      </div>
      {reading.error && <Problem error={reading.error} retry={() => reading.refetch()} />}
      {isLooking && !reading.error && <Skeleton height="44px" role="status" aria-label="Searching" />}
      {!isLooking && missions.length === 0 && !reading.error && (
        <Empty
          icon={SearchX}
          title={filters.isNarrowed ? 'No results' : 'No missions yet'}
          action={filters.isNarrowed ? <Button onClick={filters.clear}>Clear filters</Button> : <NewMission />}
        >
          {filters.isNarrowed
            ? 'No mission matches these filters.'
            : 'Describe a task, and an agent works on it in a folder of its own.'}
        </Empty>
      )}
      <div className="list-scroll" ref={scroll}>
        <ul className="list-rows" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map(({ index, key, start }) => {
            const mission = missions[index]!
            return (
              <li key={key} style={{ transform: `translateY(${start}px)`, height }}>
                <Row
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
        </ul>
      </div>
    </div>
  )
}

const NewMission = () => (
  <Button asChild>
    <Link href="/missions/new">New mission</Link>
  </Button>
)

const Row = memo(function Row({ mission, project, agent, isActive, isSelected, acts }: CardProps) {
  const why = whyOf(mission)
  return (
    <div
      className="row"
      data-card={mission.id}
      data-active={isActive || undefined}
      data-selected={isSelected || undefined}
    >
      <Tick mission={mission} isSelected={isSelected} acts={acts} />
      <div className="row-status">
        <StatusBadge mission={mission} />
      </div>
      <div className="row-words">
        <Link href={`/missions/${mission.id}`} className="row-title" onFocus={() => acts.choose(mission)}>
          {plain(mission.title)}
        </Link>
        {why && <span className="row-why">{plain(why)}</span>}
      </div>
      <div className="row-tags">
        {mission.tags.slice(0, 2).map(tag => (
          <Tag key={tag} tag={tag} />
        ))}
      </div>
      <span className="row-fact">{plain(project)}</span>
      <span className="row-fact">{agent}</span>
      <span className="row-when">
        <When mission={mission} />
      </span>
      <Menu mission={mission} acts={acts} />
    </div>
  )
})
