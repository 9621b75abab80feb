import { Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import { eventWords } from '../../kit/event-words.ts'
import { Answer, Lines } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useAsk } from '../../live/data.ts'
import type { FleetEvent } from '../../live/fleet-events.ts'
import { useMay } from '../../live/me.ts'
import { useWho } from '../../live/names.ts'
import type { Detail } from './actions.ts'

const MOST = 500
const LATEST = 6
const GOOD = new Set(['landed', 'check_passed', 'kept', 'no_changes', 'dependency_met', 'undone'])
const BAD = new Set(['failed', 'check_failed', 'conflict', 'dispatch_failed', 'undo_failed', 'stalled'])
const ASKS = new Set([
  'asked',
  'needs_input',
  'review_wanted',
  'limit_reached',
  'landing_waits',
  'pull_request_opened',
  'commented',
])
const WORK = new Set(['session_starting', 'session_running', 'adopted', 'landing_started'])

const toneOf = (kind: string): string | undefined =>
  GOOD.has(kind) ? 'good' : BAD.has(kind) ? 'bad' : ASKS.has(kind) ? 'asks' : WORK.has(kind) ? 'work' : undefined

const useEvents = (mission: Detail) => useAsk('list_mission_events', { mission_id: mission.id, limit: MOST })
const shown = (events: readonly FleetEvent[]) => events.filter(({ kind }) => kind !== 'usage')

/** Everything that happened to it, oldest first. */
export function Timeline({ mission }: { mission: Detail }) {
  return (
    <Answer of={useEvents(mission)} loading={<Lines rows={8} height={24} />}>
      {({ events }) => (
        <>
          <ol className="timeline">
            {shown(events).map(event => (
              <Happening key={event.cursor} event={event} />
            ))}
          </ol>
          {events.length === MOST && (
            <Text size="1" color="gray">
              Only the first {MOST} events are shown. <Link href={`/activity?mission=${mission.id}`}>Show all</Link>
            </Text>
          )}
        </>
      )}
    </Answer>
  )
}

/** The last few things that happened, newest first. */
export function LatestEvents({ mission }: { mission: Detail }) {
  return (
    <Answer of={useEvents(mission)} loading={<Lines rows={LATEST} height={24} />}>
      {({ events }) => (
        <ol className="timeline">
          {shown(events)
            .slice(-LATEST)
            .reverse()
            .map(event => (
              <Happening key={event.cursor} event={event} />
            ))}
        </ol>
      )}
    </Answer>
  )
}

function Happening({ event }: { event: FleetEvent }) {
  const { kind, time, actor, cause, session_id, data } = event
  const who = useWho()
  const mayRead = useMay('read_transcript', event.project_id)
  const approver = kind === 'landed' && typeof data.approved_by === 'string' ? data.approved_by : undefined
  const by = who(approver ?? actor)
  return (
    <li data-tone={toneOf(kind)}>
      <Time at={time} />
      <span className="timeline-mark" />
      <div>
        <Text size="2">{eventWords(event)}</Text>{' '}
        <Text size="1" color="gray">
          {by && ` by ${by}`}
          {session_id && kind === 'session_starting' && mayRead && (
            <>
              {' '}
              <Link href={`/sessions/${session_id}`}>Transcript</Link>
            </>
          )}
        </Text>
        {cause && (
          <Text as="div" size="1" color="gray">
            {plain(cause)}
          </Text>
        )}
      </div>
    </li>
  )
}
