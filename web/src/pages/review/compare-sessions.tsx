import { Button } from '@radix-ui/themes'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { Answer, Lines } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useAsk } from '../../live/data.ts'
import type { Compared } from './side.tsx'
import { Sides } from './sides.tsx'

type SessionSide = Output<'compare_sessions'>['first']

/** Two sessions of one mission: how the later one changed the work. */
export function CompareSessions({ first, second }: { first: string; second: string }) {
  const answer = useAsk('compare_sessions', { first, second })
  const titleOf = useAgentTitle()
  return (
    <Answer of={answer} loading={<Lines rows={2} height={240} />}>
      {({ first: one, second: two, between }) => (
        <Sides first={compared(one, titleOf)} second={compared(two, titleOf)} between={between} />
      )}
    </Answer>
  )
}

const compared = ({ session, report, ...side }: SessionSide, titleOf: (agent: string) => string): Compared => ({
  ...side,
  usage: session.usage,
  summary: report?.summary ?? '',
  title: <Link href={`/sessions/${session.id}`}>Session {session.number}</Link>,
  about: (
    <>
      {plain(titleOf(session.agent))} · {session.outcome ?? session.status} · {session.reason} ·{' '}
      <Time at={session.created_at} />
    </>
  ),
  actions: (
    <Button asChild variant="soft" highContrast>
      <Link href={`/review/${session.mission_id}`}>Review the mission</Link>
    </Button>
  ),
})
