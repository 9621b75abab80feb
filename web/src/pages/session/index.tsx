import { Badge, Button, Flex, IconButton, SegmentedControl, Tooltip } from '@radix-ui/themes'
import { ArrowUpToLine, CircleAlert, Hand, Square } from 'lucide-react'
import { useCallback, useRef } from 'react'
import { Link, useParams, useSearchParams } from 'wouter'
import { blockShowing } from '../../../../src/domain/rules/conversation.ts'
import { ask, type Output } from '../../api/client.ts'
import { OtherHost } from '../../kit/other-host.tsx'
import { Lines, Page, Problem } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { QuestionCard } from '../../kit/question.tsx'
import { complain, tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { useShortcuts } from '../../shell/keys.ts'
import { type Abilities, actionsFor, type Detail } from '../mission/actions.ts'
import { Finding, type Match } from './finding.tsx'
import { Gauges } from './gauges.tsx'
import { type Place, TranscriptList } from './list.tsx'
import './session.css'
import { Speaking } from './speaking.tsx'
import { useTranscript } from './use-transcript.ts'

type Session = Output<'get_session'>

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
  return <Shown key={session.data.id} session={session.data} mission={mission.data} />
}

function Shown({ session, mission }: { session: Session; mission: Detail }) {
  const [search, setSearch] = useSearchParams()
  const raw = search.get('view') === 'raw'
  const place = useRef<Place>(null)
  const held = useRef(false)
  const finder = useRef<HTMLInputElement>(null)
  useShortcuts([{ keys: '/', title: 'Search this session', run: () => finder.current?.focus() }])
  const transcript = useTranscript(session.id, {
    raw,
    lines: session.agent === 'shell' || raw,
    at: search.get('at'),
    held: useCallback(() => held.current, []),
  })
  const { window, goTo } = transcript
  const put = (name: string, value: string | null) =>
    setSearch(
      before => {
        const next = new URLSearchParams(before)
        if (value) next.set(name, value)
        else next.delete(name)
        return next
      },
      { replace: true },
    )

  const go = ({ event_id, cursor }: Match) => {
    const index = window && blockShowing(window.conversation, window.events, event_id)
    if (index === undefined) goTo(cursor)
    else place.current?.show(index)
    put('at', cursor)
  }
  const toStart = () => {
    put('at', null)
    transcript.toStart()
  }
  const toEnd = () => {
    put('at', null)
    return transcript.toEnd()
  }
  const error = useErrors(session.id, search.get('at'), go)
  const whole = useCallback(
    (event_id: string | undefined) => (event_id ? () => allOf(session.id, event_id, raw) : undefined),
    [session.id, raw],
  )

  return (
    <Page
      title={plain(mission.title)}
      filled
      about={<About session={session} mission={mission} live={transcript.live} />}
      actions={<Actions session={session} mission={mission} />}
    >
      <Flex gap="3" align="center" wrap="wrap" className="session-tools">
        <Finding
          sessionId={session.id}
          input={finder}
          raw={raw}
          text={search.get('q') ?? ''}
          setText={text => put('q', text)}
          go={go}
        />
        <Flex gap="2" align="center">
          <Tooltip content="Go to the last error, then the one before (e)">
            <Button size="2" variant="soft" color="gray" highContrast onClick={error.previous}>
              <CircleAlert size={14} /> Errors
            </Button>
          </Tooltip>
          <Tooltip content="Jump to the start">
            <IconButton variant="soft" color="gray" aria-label="Jump to the start" onClick={toStart}>
              <ArrowUpToLine size={14} />
            </IconButton>
          </Tooltip>
          <SegmentedControl.Root
            size="1"
            value={raw ? 'raw' : 'conversation'}
            onValueChange={view => put('view', view === 'raw' ? 'raw' : null)}
          >
            <SegmentedControl.Item value="conversation">Conversation</SegmentedControl.Item>
            <SegmentedControl.Item value="raw">Raw</SegmentedControl.Item>
          </SegmentedControl.Root>
        </Flex>
        <Gauges session={session} />
      </Flex>
      {session.elsewhere && session.host && session.status !== 'ended' && <OtherHost host={session.host} />}
      {transcript.error && <Problem error={transcript.error} retry={transcript.retry} />}
      {window ? (
        <TranscriptList
          key={transcript.entry.number}
          {...transcript}
          window={window}
          from={transcript.entry.at}
          toEnd={toEnd}
          whole={whole}
          live={session.status !== 'ended'}
          place={place}
          held={held}
        />
      ) : (
        !transcript.error && <Lines rows={8} />
      )}
      <Asked session={session} mission={mission} />
      <Speaking session={session} mission={mission} can={useAbilities(session)} />
    </Page>
  )
}

async function allOf(session_id: string, event_id: string, raw: boolean): Promise<string> {
  const { event } = await ask('read_transcript_event', { session_id, event_id, raw })
  return 'output' in event ? event.output : 'text' in event ? event.text : JSON.stringify(event, null, 2)
}

/** Goes to the last error, then to the one before, anywhere in the transcript. */
function useErrors(session_id: string, at: string | null, go: (match: Match) => void) {
  const seen = useRef(at)
  const previous = async () => {
    try {
      const where = seen.current ? { before: seen.current } : { last: true }
      const { matches, start, more } = await ask('search_transcript', {
        session_id,
        only: 'errors',
        limit: 1,
        ...where,
      })
      const [match] = matches
      if (match) {
        seen.current = match.start
        go(match)
      } else if (more) {
        seen.current = start
        await previous()
      } else {
        tell({ text: seen.current ? 'No earlier errors.' : 'No errors in this session.' })
        seen.current = null
      }
    } catch (error) {
      complain(error)
    }
  }
  useShortcuts([{ keys: 'e', title: 'Go to the last error, then the one before', run: previous }])
  return { previous }
}

function useAbilities({ agent, engine }: Session): Abilities | undefined {
  const agents = useAsk('list_agents', {}).data?.agents
  return agents?.find(each => each.name === agent && each.engine === engine)?.can as Abilities | undefined
}

function About({ session, mission, live }: { session: Session; mission: Detail; live: boolean }) {
  const { outcome, outcome_reason, status, agent, model, number } = session
  return (
    <span className="session-about">
      <Link href={`/missions/${mission.id}`}>mission</Link>
      <span>
        session {number} · {plain(agent)}
        {model && ` · ${plain(model)}`}
      </span>
      <Badge color={outcome === 'failed' ? 'red' : outcome ? 'gray' : 'blue'} highContrast>
        {outcome?.replaceAll('_', ' ') ?? (live ? 'live' : status)}
      </Badge>
      {outcome_reason && <span>{plain(outcome_reason)}</span>}
    </span>
  )
}

/** Its open questions in full. */
function Asked({ session, mission }: { session: Session; mission: Detail }) {
  const { data } = useAsk('get_mission_notes', { mission_id: mission.id })
  const open = data?.questions.filter(each => each.status === 'open' && each.session_id === session.id) ?? []
  if (!open.length) return null
  return (
    <section className="asked" aria-label="Waiting for you">
      {open.map(question => (
        <QuestionCard key={question.id} question={question} />
      ))}
    </section>
  )
}

function Actions({ session, mission }: { session: Session; mission: Detail }) {
  const interrupt = useCommand('interrupt_mission')
  const stop = useCommand('cancel_session')
  const resume = useCommand('resume_mission')
  const offered = actionsFor(mission, useAbilities(session))
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
      <Button variant="soft" color="red" highContrast loading={stop.busy} onClick={end}>
        <Square size={14} /> Stop
      </Button>
    </>
  )
}
