import { Badge, Text } from '@radix-ui/themes'
import { History } from 'lucide-react'
import { Link } from 'wouter'
import { Empty } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Elapsed, Time } from '../../kit/time.tsx'
import { dollars, plural, roughly, type Tone } from '../../kit/words.ts'
import type { Detail, Session } from './actions.ts'

const REASONS: Record<Session['reason'], string> = {
  first: 'first',
  retry: 'started over',
  resume: 'resumed',
  conflict: 'sent back for a conflict or a failed check',
  reopen: 'reopened',
  fork: 'forked',
  hand_over: 'continued in a new conversation',
  takeover: 'a person in a terminal',
  children: 'continued with the reports of its sub-missions',
}
const TONES: Partial<Record<NonNullable<Session['outcome']>, Tone>> = {
  completed: 'green',
  failed: 'red',
  blocked: 'amber',
  limited: 'amber',
  rate_limited: 'amber',
}

export function Sessions({ mission }: { mission: Detail }) {
  if (mission.sessions.length === 0)
    return (
      <Empty icon={History} title="No sessions yet">
        Each run of an agent is a session, with its own transcript and cost. The first begins when the mission starts.
      </Empty>
    )
  return (
    <div>
      {mission.sessions.toReversed().map((session, index, newestFirst) => (
        <SessionLine key={session.id} session={session} before={newestFirst[index + 1]} />
      ))}
    </div>
  )
}

function SessionLine({ session, before }: { session: Session; before: Session | undefined }) {
  const { id, number, reason, agent, model, engine, status, outcome, outcome_reason, usage } = session
  const began = session.started_at ?? session.created_at
  return (
    <div className="session-line">
      <Text size="2" color="gray">
        {number}
      </Text>
      <div>
        <Link href={`/sessions/${id}`}>
          {plain(agent)}
          {model && ` · ${plain(model)}`}
          {engine === 'sdk' && ' (sdk)'}
        </Link>{' '}
        <Badge color={outcome ? (TONES[outcome] ?? 'gray') : 'blue'} highContrast>
          {(outcome ?? status).replaceAll('_', ' ')}
        </Badge>
        <Text as="div" size="1" color="gray">
          {REASONS[reason]}
          {session.elsewhere && session.host && ` · on host ${plain(session.host)}`}
          {outcome_reason && ` · ${plain(outcome_reason)}`}
          {before && session.ended_at && (
            <>
              {' · '}
              <Link href={`/compare?first=${before.id}&second=${id}&of=sessions`}>
                compare with session {before.number}
              </Link>
            </>
          )}
        </Text>
      </div>
      <Text as="div" size="1" color="gray">
        <Time at={began} /> · <Elapsed from={began} to={session.ended_at} />
        <br />
        {plural(usage.turns, 'turn')} · {roughly(usage.input_tokens + usage.output_tokens)} tokens
        {!!usage.cost_usd && ` · ${dollars(usage.cost_usd)}`}
      </Text>
    </div>
  )
}
