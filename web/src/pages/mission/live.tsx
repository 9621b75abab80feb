import { SegmentedControl, Text } from '@radix-ui/themes'
import { useState } from 'react'
import { Link } from 'wouter'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { Answer, Lines } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { useAsk } from '../../live/data.ts'
import { TranscriptPane } from '../session/transcript-pane.tsx'
import type { Detail } from './actions.ts'
import './live.css'
import { LiveChanges, useFreshDiff } from './live-changes.tsx'
import { TakenOverTerminal } from './terminal.tsx'
import { Why } from './why.tsx'

/** What its agent does and changes, as it happens. The next session of the mission replaces the one shown. */
export function Live({ mission }: { mission: Detail }) {
  // The last session stays until the next one is loaded.
  const session = useAsk('get_session', { session_id: shownSession(mission) }, { keep: true })
  const grown = useFreshDiff(mission.id)
  const [shown, setShown] = useState('transcript')
  return (
    <div className="live" data-shown={shown}>
      <Why mission={mission} />
      <SegmentedControl.Root size="1" value={shown} onValueChange={setShown} className="live-choice">
        <SegmentedControl.Item value="transcript">Transcript</SegmentedControl.Item>
        <SegmentedControl.Item value="changes">Changes</SegmentedControl.Item>
      </SegmentedControl.Root>
      <div className="live-panes">
        <section className="live-transcript" aria-label="What the agent does">
          {mission.taken_over?.page ? (
            <TakenOverTerminal mission={mission} grown={grown} />
          ) : (
            <Answer of={session} loading={<Lines rows={8} />}>
              {found => (
                <TranscriptPane key={found.id} session={found} mission={mission} grown={grown}>
                  <SessionName mission={mission} session={found} />
                </TranscriptPane>
              )}
            </Answer>
          )}
        </section>
        <section className="live-changes" aria-label="Changes so far">
          <LiveChanges mission={mission} />
        </section>
      </div>
    </div>
  )
}

/** The newest session that has a transcript: a person who took over left none. */
const shownSession = ({ sessions, session_id }: Detail): string =>
  sessions.findLast(({ reason }) => reason !== 'takeover')?.id ?? session_id!

function SessionName({
  mission,
  session,
}: {
  mission: Detail
  session: { id: string; number: number; agent: string }
}) {
  const title = useAgentTitle()
  const count = mission.sessions.length
  return (
    <Text size="2" className="live-session">
      <Link href={`/sessions/${session.id}`}>{plain(title(session.agent))}</Link>
      {count > 1 && (
        <Text size="1" color="gray">
          {' '}
          session {session.number} of {count}
        </Text>
      )}
    </Text>
  )
}
