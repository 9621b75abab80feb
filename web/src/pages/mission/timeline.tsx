import { Code, Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import { Answer, Lines } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { shortId } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import type { FleetEvent } from '../../live/fleet-events.ts'
import type { Detail } from './actions.ts'

const MOST = 500
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

/** Everything that happened to it, oldest first. */
export function Timeline({ mission }: { mission: Detail }) {
  const events = useAsk('list_mission_events', { mission_id: mission.id, limit: MOST })
  return (
    <Answer of={events} loading={<Lines rows={8} height={24} />}>
      {({ events: happened }) => (
        <>
          <ol className="timeline">
            {happened
              .filter(({ kind }) => kind !== 'usage')
              .map(event => (
                <Happening key={event.cursor} event={event} />
              ))}
          </ol>
          {happened.length === MOST && (
            <Text size="1" color="gray">
              Only the first {MOST} are shown; <Link href={`/activity?mission=${mission.id}`}>show all</Link>.
            </Text>
          )}
        </>
      )}
    </Answer>
  )
}

function Happening({ event }: { event: FleetEvent }) {
  const { kind, time, actor, cause, session_id } = event
  return (
    <li data-tone={toneOf(kind)}>
      <Time at={time} />
      <span className="timeline-mark" />
      <div>
        <Text size="2">{kind.replaceAll('_', ' ')}</Text>{' '}
        <Text size="1" color="gray">
          {facts(event)}
          {actor !== 'fleet' && ` by ${plain(actor.startsWith('session:') ? 'its agent' : actor)}`}
          {session_id && (
            <>
              {' '}
              <Link href={`/sessions/${session_id}`}>{shortId(session_id)}</Link>
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

const SHOWN_FACTS = ['agent', 'reason', 'outcome', 'name', 'commit', 'branch', 'fields', 'code'] as const

function facts({ data }: FleetEvent) {
  const said = SHOWN_FACTS.flatMap(name => {
    const value = data[name]
    if (value === undefined || value === null) return []
    const text = Array.isArray(value) ? value.join(', ') : String(value)
    return [plain(name === 'commit' ? text.slice(0, 10) : text)]
  })
  return said.length ? <Code variant="ghost">{said.join(' · ')}</Code> : null
}
