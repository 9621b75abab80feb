import { Badge, Button } from '@radix-ui/themes'
import { Hand, Square } from 'lucide-react'
import { Link, useParams } from 'wouter'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { OUTCOMES } from '../../kit/outcomes.ts'
import { Lines, Page, Problem } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMayDo } from '../../live/me.ts'
import { useShortcuts } from '../../shell/keys.ts'
import { actionsFor, type Detail } from '../mission/actions.ts'

import { type Session, TranscriptPane, useAbilities } from './transcript-pane.tsx'

export default function SessionPage() {
  const { session_id = '' } = useParams<{ session_id: string }>()
  const session = useAsk('get_session', { session_id })
  const mission = useAsk(
    'get_mission',
    { mission_id: session.data?.mission_id ?? '' },
    { enabled: session.data !== undefined },
  )
  const error = session.error ?? mission.error
  if (error)
    return (
      <Page title="Session">
        <Problem error={error} retry={() => session.refetch()} />
      </Page>
    )
  if (!session.data || !mission.data)
    return (
      <Page title="Session">
        <Lines rows={8} />
      </Page>
    )
  return (
    <Page
      title={plain(mission.data.title)}
      filled
      about={<About session={session.data} mission={mission.data} />}
      actions={<Actions session={session.data} mission={mission.data} />}
    >
      <TranscriptPane key={session.data.id} session={session.data} mission={mission.data} />
    </Page>
  )
}

function About({ session, mission }: { session: Session; mission: Detail }) {
  const { outcome, outcome_reason, status, agent, model, number } = session
  const title = useAgentTitle()
  return (
    <span className="session-about">
      <Link href={`/missions/${mission.id}`}>Mission</Link>
      <span>
        Session {number} · {plain(title(agent))}
        {model && ` · ${plain(model)}`}
      </span>
      <Badge color={outcome ? OUTCOMES[outcome].color : 'blue'} highContrast>
        {outcome ? OUTCOMES[outcome].word : status === 'starting' ? 'Starting' : 'Running'}
      </Badge>
      {outcome_reason && <span>{plain(outcome_reason)}</span>}
    </span>
  )
}

function Actions({ session, mission }: { session: Session; mission: Detail }) {
  const interrupt = useCommand('interrupt_mission')
  const stop = useCommand('cancel_session')
  const resume = useCommand('resume_mission')
  const may = useMayDo()
  const offered = actionsFor(mission, may, useAbilities(session))
  const mayInterrupt = offered.includes('interrupt') && mission.session_id === session.id
  const it = { mission_id: mission.id }
  useShortcuts(mayInterrupt ? [{ keys: 'i', title: 'Interrupt the agent', run: () => void interrupt.run(it) }] : [])
  if (session.status === 'ended') return null
  const end = async () => {
    if (!(await stop.run({ session_id: session.id }))) return
    tell({
      text: 'Stopped. Its work is kept on its branch.',
      action: { label: 'Resume', run: () => void resume.run(it) },
    })
  }
  return (
    <>
      {mayInterrupt && (
        <Button variant="soft" loading={interrupt.busy} onClick={() => interrupt.run(it)}>
          <Hand size={14} /> Interrupt
        </Button>
      )}
      {may('cancel_session', mission.project_id) && (
        <Button variant="soft" color="red" highContrast loading={stop.busy} onClick={end}>
          <Square size={14} /> Stop
        </Button>
      )}
    </>
  )
}
