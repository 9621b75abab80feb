import { Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { sentenceOf } from '../../kit/event-words.ts'
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

/** The name of its agent; undefined: none has worked on it yet. */
function useAgent({ agent, sessions }: Detail): string | undefined {
  const titleOf = useAgentTitle()
  const name = agent ?? sessions.at(-1)?.agent
  return name ? titleOf(name) : undefined
}

/** Everything that happened to it, oldest first. */
export function Timeline({ mission }: { mission: Detail }) {
  const agent = useAgent(mission)
  return (
    <Answer of={useEvents(mission)} loading={<Lines rows={8} height={24} />}>
      {({ events }) => (
        <>
          <ol className="timeline">
            {shown(events).map(event => (
              <Happening key={event.cursor} event={event} agent={agent} />
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
  const agent = useAgent(mission)
  return (
    <Answer of={useEvents(mission)} loading={<Lines rows={LATEST} height={24} />}>
      {({ events }) => (
        <ol className="timeline">
          {shown(events)
            .slice(-LATEST)
            .reverse()
            .map(event => (
              <Happening key={event.cursor} event={event} agent={agent} />
            ))}
        </ol>
      )}
    </Answer>
  )
}

function Happening({ event, agent }: { event: FleetEvent; agent: string | undefined }) {
  const { kind, time, cause, session_id } = event
  const who = useWho()
  const mayRead = useMay('read_transcript', event.project_id)
  return (
    <li data-tone={toneOf(kind)}>
      <Time at={time} />
      <span className="timeline-mark" />
      <div>
        <Text size="2">{plain(sentenceOf(event, agent, who))}</Text>{' '}
        <Text size="1" color="gray">
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
