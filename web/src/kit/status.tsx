import { Badge } from '@radix-ui/themes'
import type { Mission } from '../live/mending.ts'
import './status.css'
import { outcomeOf, STATUS_TONES, type Status } from './words.ts'

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
export const StatusDot = ({ status }: { status: Status }) => (
  <span
    className="status-dot"
    data-tone={STATUS_TONES[status]}
    data-alive={status === 'running' || status === 'landing' || undefined}
    aria-hidden
  />
)
