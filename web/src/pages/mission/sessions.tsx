import { Badge, Text } from '@radix-ui/themes'
import { History } from 'lucide-react'
import { Link } from 'wouter'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { OUTCOMES } from '../../kit/outcomes.ts'
import { Empty } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Elapsed, Time } from '../../kit/time.tsx'
import { dollars, plural, roughly } from '../../kit/words.ts'
import type { Detail, Session } from './actions.ts'

const REASONS: Record<Session['reason'], string> = {
  first: 'First session',
  retry: 'Retry',
  resume: 'Resumed',
  conflict: 'Sent back because of a conflict or a failed check',
  reopen: 'Reopened',
  fork: 'Forked',
  hand_over: 'Continued in a new conversation',
  takeover: 'Taken over by you',
  children: 'Continued with the reports of its sub-missions',
  mail: 'Woken by mail',
  terminal: 'In a terminal',
  outside: 'In a terminal of yours',
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
  const title = useAgentTitle()
  const began = session.started_at ?? session.created_at
  return (
    <div className="session-line">
      <Text size="2" color="gray">
        {number}
      </Text>
      <div>
        <Link href={`/sessions/${id}`}>
          {plain(title(agent))}
          {model && ` · ${plain(model)}`}
          {engine === 'sdk' && ' (SDK)'}
        </Link>{' '}
        <Badge color={outcome ? OUTCOMES[outcome].color : 'blue'} highContrast>
          {outcome ? OUTCOMES[outcome].word : status === 'starting' ? 'Starting' : 'Running'}
        </Badge>
        <Text as="div" size="1" color="gray">
          {REASONS[reason]}
          {session.elsewhere && session.host && ` · on host ${plain(session.host)}`}
          {outcome_reason && ` · ${plain(outcome_reason)}`}
          {before && session.ended_at && (
            <>
              {' · '}
              <Link href={`/compare?first=${before.id}&second=${id}&of=sessions`}>
                Compare with session {before.number}
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
