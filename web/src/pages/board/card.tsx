import { Badge, DropdownMenu, IconButton } from '@radix-ui/themes'
import { Ellipsis } from 'lucide-react'
import { type MouseEvent, memo, useState } from 'react'
import { Link } from 'wouter'
import { plain } from '../../kit/plain.ts'
import { Elapsed, Time } from '../../kit/time.tsx'
import { reasonIn } from '../../kit/without-ids.ts'
import { outcomeOf } from '../../kit/words.ts'
import type { Mission } from '../../live/mending.ts'
import type { May } from '../../live/rights.ts'
import { COLUMNS, columnOf } from './columns.ts'
import { moveTo } from './moves.ts'

/** What a card can do. All cards share the same functions, so that a card is drawn again only when it changes. */
export interface CardActs {
  choose(mission: Mission): void
  select(mission: Mission, shift: boolean): void
  begin(mission: Mission): void
  end(): void
  move(mission: Mission, column: string): void
  /** Moves up or down in the queue. */
  shift(mission: Mission, by: -1 | 1): void
  remove(mission: Mission): void
  may: May
}

/** Whether a card offers anything to this person. */
const isOffered = ({ project_id }: Mission, may: May): boolean =>
  may('update_mission', project_id) || may('land_mission', project_id) || may('delete_mission', project_id)

export interface CardProps {
  mission: Mission
  project: string
  agent: string
  isActive: boolean
  isSelected: boolean
  acts: CardActs
}

export const CARD_HEIGHT = 108

export const Card = memo(function Card({ mission, project, agent, isActive, isSelected, acts }: CardProps) {
  const { id, title, status, tags, priority } = mission
  const why = whyOf(mission)
  const outcome = outcomeOf(mission)
  const draggable = (event: { dataTransfer: DataTransfer }) => {
    event.dataTransfer.effectAllowed = 'move'
    event.dataTransfer.setData('text/plain', id)
    acts.begin(mission)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dragging is for the mouse; the menu and keys do the same
    <div
      className="card"
      data-card={id}
      data-active={isActive || undefined}
      data-selected={isSelected || undefined}
      draggable={isOffered(mission, acts.may)}
      onDragStart={draggable}
      onDragEnd={acts.end}
    >
      <div className="card-head">
        <Link href={`/missions/${id}`} className="card-title" onFocus={() => acts.choose(mission)}>
          {plain(title)}
        </Link>
      </div>
      <div className="card-why" title={why && plain(why)}>
        {plain(why ?? tags.map(tag => `#${tag}`).join(' '))}
      </div>
      <div className="card-facts">
        <Tick mission={mission} isSelected={isSelected} acts={acts} />
        <span className="card-where">
          {outcome !== columnOf(status).name && `${outcome} · `}
          {plain(project)} · {agent}
        </span>
        {priority !== 0 && (
          <span className="card-priority" title={`Priority ${priority}`}>
            {priority > 0 ? `↑${priority}` : `↓${-priority}`}
          </span>
        )}
        <When mission={mission} />
        <Menu mission={mission} acts={acts} />
      </div>
    </div>
  )
})

/** Why it is where it is. That finished work waits for a review is said by its column. */
export function whyOf({ status, status_reason, waits_for }: Mission): string | undefined {
  if (status === 'review' && status_reason?.code === 'policy') return undefined
  return reasonIn(waits_for) ?? (status === 'failed' ? status_reason?.text : undefined)
}

export const Tag = ({ tag }: { tag: string }) => (
  <Badge size="1" color="gray" variant="outline" highContrast>
    {plain(tag)}
  </Badge>
)

/** The time since its start, or when it ended or was created. */
export function When({ mission: { status, started_at, ended_at, created_at } }: { mission: Mission }) {
  if (status === 'running' && started_at) return <Elapsed from={started_at} />
  return <Time at={ended_at ?? created_at} />
}

interface TickProps {
  mission: Mission
  isSelected: boolean
  acts: CardActs
}

export function Tick({ mission, isSelected, acts }: TickProps) {
  if (!isOffered(mission, acts.may)) return null
  return (
    <label className="tick">
      <input
        type="checkbox"
        checked={isSelected}
        aria-label={`Select ${mission.title}`}
        onChange={event => acts.select(mission, (event.nativeEvent as unknown as MouseEvent).shiftKey)}
      />
    </label>
  )
}

/**
 * Does everything that dragging does, and more, without a mouse. It is created only when opened, because there are
 * hundreds of cards.
 */
export function Menu({ mission, acts }: Pick<CardProps, 'mission' | 'acts'>) {
  const [open, setOpen] = useState(false)
  const trigger = (
    <IconButton
      size="1"
      variant="ghost"
      color="gray"
      highContrast
      className="card-menu"
      aria-label={`Actions for ${mission.title}`}
      aria-haspopup="menu"
      onClick={() => setOpen(true)}
    >
      <Ellipsis size={16} />
    </IconButton>
  )
  const { may } = acts
  const { project_id } = mission
  if (!isOffered(mission, may)) return null
  if (!open) return trigger
  const moves = COLUMNS.flatMap(column => {
    const move = moveTo(mission, column)
    return move.to === 'act' && may(move.act, project_id) ? [{ column: column.name, word: move.word }] : []
  })
  return (
    <DropdownMenu.Root open onOpenChange={setOpen}>
      <DropdownMenu.Trigger>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Content size="1">
        {moves.map(({ column, word }) => (
          <DropdownMenu.Item key={column} onSelect={() => acts.move(mission, column)}>
            {word}
          </DropdownMenu.Item>
        ))}
        {mission.status === 'queued' && may('update_mission', project_id) && (
          <>
            <DropdownMenu.Item onSelect={() => acts.shift(mission, -1)}>Start sooner</DropdownMenu.Item>
            <DropdownMenu.Item onSelect={() => acts.shift(mission, 1)}>Start later</DropdownMenu.Item>
          </>
        )}
        {may('delete_mission', project_id) && (
          <>
            <DropdownMenu.Separator />
            <DropdownMenu.Item color="red" onSelect={() => acts.remove(mission)}>
              Delete
            </DropdownMenu.Item>
          </>
        )}
      </DropdownMenu.Content>
    </DropdownMenu.Root>
  )
}
