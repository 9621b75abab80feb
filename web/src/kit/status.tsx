import { Badge } from '@radix-ui/themes'
import type { Mission } from '../live/mending.ts'
import './status.css'
import { outcomeOf, STATUS_TONES, type Status, type Tone } from './words.ts'

/** The status of a mission: always a word, and a colour. */
export function StatusBadge({ mission }: { mission: Pick<Mission, 'status' | 'result' | 'landed'> }) {
  return (
    <Badge color={STATUS_TONES[mission.status]} variant="soft" highContrast className="status">
      <StatusDot status={mission.status} />
      {outcomeOf(mission)}
    </Badge>
  )
}

/** A dot beside a word with the same meaning. */
export const Dot = ({ tone, alive = false }: { tone: Tone; alive?: boolean }) => (
  <span className="status-dot" data-tone={tone} data-alive={alive || undefined} aria-hidden />
)

export const StatusDot = ({ status }: { status: Status }) => (
  <Dot tone={STATUS_TONES[status]} alive={status === 'running' || status === 'landing'} />
)
