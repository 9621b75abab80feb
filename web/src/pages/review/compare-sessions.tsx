import { Button } from '@radix-ui/themes'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { Hunks } from '../../kit/diff/hunks.tsx'
import { parseDiff } from '../../kit/diff/parse.ts'
import { shown } from '../../kit/diff/shown.ts'
import '../../kit/fold.css'
import { Answer, Lines, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useAsk } from '../../live/data.ts'
import type { Compared } from './side.tsx'
import { Sides } from './sides.tsx'

type SessionSide = Output<'compare_sessions'>['first']

/** Two sessions of one mission: how the later one changed the work. */
export function CompareSessions({ first, second }: { first: string; second: string }) {
  const answer = useAsk('compare_sessions', { first, second })
  return (
    <Answer of={answer} loading={<Lines rows={2} height={240} />}>
      {({ first: one, second: two, between }) => (
        <>
          <Sides first={compared(one)} second={compared(two)} />
          {between && between.text !== '' && (
            <Section title="From the end of the first to the end of the second">
              {parseDiff(between.text).map(({ path, hunks }) => (
                <details key={path} className="fold compare-file" open>
                  <summary>
                    <code>{shown(path)}</code>
                  </summary>
                  <div className="diff-inline">
                    <Hunks path={path} hunks={hunks} />
                  </div>
                </details>
              ))}
            </Section>
          )}
        </>
      )}
    </Answer>
  )
}

const compared = ({ session, report, ...side }: SessionSide): Compared => ({
  ...side,
  usage: session.usage,
  summary: report?.summary ?? '',
  title: <Link href={`/sessions/${session.id}`}>Session {session.number}</Link>,
  about: (
    <>
      {plain(session.agent)} · {session.outcome ?? session.status} · {session.reason} · <Time at={session.created_at} />
    </>
  ),
  actions: (
    <Button asChild variant="soft" highContrast>
      <Link href={`/review/${session.mission_id}`}>Review the mission</Link>
    </Button>
  ),
})
