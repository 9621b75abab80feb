import { Button, DropdownMenu, IconButton, Kbd, Text } from '@radix-ui/themes'
import { ChevronUp, Undo2 } from 'lucide-react'
import { plain } from '../../kit/plain.ts'
import { StatusBadge } from '../../kit/status.tsx'
import { reasonIn } from '../../kit/without-ids.ts'
import { useMayDo } from '../../live/me.ts'
import './bar.css'
import type { Decisions } from './decisions.ts'
import { isOpen, type Review } from './queue.ts'
import { RiskBadge } from './risk.tsx'

interface BarProps {
  review: Review
  unsent: number
  decisions: Decisions
  sendBack(): void
}

/** With the number of comments that go with it. */
export const requestChanges = (unsent: number): string => `Request changes${unsent ? ` (${unsent})` : ''}`

/** The buttons for the decision. The bar stays visible. */
export function DecisionBar({ review, unsent, decisions, sendBack }: BarProps) {
  const { mission, risk, checks } = review
  const { busy, land, reject, reconsider, undo } = decisions
  const may = useMayDo()
  const mayLand = may('land_mission', mission.project_id)
  if (!isOpen(mission))
    return (
      <section className="bar" aria-label="Decide">
        <StatusBadge mission={mission} />
        <Text size="2" className="bar-words">
          {plain(mission.status_reason?.text ?? reasonIn(mission.waits_for) ?? '')}
        </Text>
        {mission.result === 'landed' && mayLand && (
          <Button variant="soft" loading={busy} disabled={mission.undoing} onClick={undo}>
            <Undo2 size={15} aria-hidden /> {mission.undoing ? 'Undoing…' : 'Undo landing'}
          </Button>
        )}
        {mission.status_reason?.code === 'rejected' && mayLand && (
          <Button variant="soft" loading={busy} onClick={reconsider}>
            <Undo2 size={15} aria-hidden /> Undo rejection
          </Button>
        )}
      </section>
    )
  const failing = checks.failed.length > 0
  return (
    <section className="bar" aria-label="Decide">
      <RiskBadge risk={risk} />
      <Text size="2" className="bar-words">
        {failing && `${checks.failed.map(plain).join(', ')} failed`}
      </Text>
      {mayLand && (
        <Button variant="soft" color="red" highContrast disabled={busy} onClick={() => reject()}>
          Reject <Kbd size="1">x</Kbd>
        </Button>
      )}
      {may('send_back_mission', mission.project_id) && (
        <Button variant="soft" highContrast disabled={busy} onClick={sendBack}>
          {requestChanges(unsent)} <Kbd size="1">b</Kbd>
        </Button>
      )}
      {mayLand && (
        <div className="bar-land">
          <Button loading={busy} onClick={() => land()}>
            {failing ? 'Check again and land' : 'Land'} <Kbd size="1">l</Kbd>
          </Button>
          <DropdownMenu.Root>
            <DropdownMenu.Trigger>
              <IconButton aria-label="Other ways to land" disabled={busy}>
                <ChevronUp size={16} />
              </IconButton>
            </DropdownMenu.Trigger>
            <DropdownMenu.Content side="top" align="end">
              <DropdownMenu.Item onSelect={() => land()}>Run the checks, then land</DropdownMenu.Item>
              <DropdownMenu.Item color="red" onSelect={() => land({ force: true })}>
                Land even if checks fail
              </DropdownMenu.Item>
            </DropdownMenu.Content>
          </DropdownMenu.Root>
        </div>
      )}
    </section>
  )
}
