import { Badge } from '@radix-ui/themes'
import type { Mission } from '../live/mending.ts'
import './status.css'
import { outcomeOf, STATUS_TONES, type Status, type Tone } from './words.ts'

/** Where a mission stands: a colour, and always the word too. */
export function StatusBadge({ mission }: { mission: Pick<Mission, 'status' | 'result' | 'landed'> }) {
  return (
    <Badge color={STATUS_TONES[mission.status]} variant="soft" highContrast className="status">
      <StatusDot status={mission.status} />
      {outcomeOf(mission)}
    </Badge>
  )
}

/** Beside a word that says the same. */
export const Dot = ({ tone, alive = false }: { tone: Tone; alive?: boolean }) => (
  <span className="status-dot" data-tone={tone} data-alive={alive || undefined} aria-hidden />
)

export const StatusDot = ({ status }: { status: Status }) => (
  <Dot tone={STATUS_TONES[status]} alive={status === 'running' || status === 'landing'} />
)
