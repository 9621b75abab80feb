import { Badge, Flex, IconButton, SegmentedControl, Tooltip } from '@radix-ui/themes'
import { ArrowUpToLine, CircleAlert } from 'lucide-react'
import { type ReactNode, useCallback, useEffect, useRef } from 'react'
import { useSearchParams } from 'wouter'
import { blockShowing } from '../../../../src/domain/rules/conversation.ts'
import { ask, type Output } from '../../api/client.ts'
import { OtherHost } from '../../kit/other-host.tsx'
import { Lines, Problem } from '../../kit/page.tsx'
import { QuestionCard } from '../../kit/question.tsx'
import { complain, tell } from '../../kit/toasts.tsx'
import { useAsk } from '../../live/data.ts'
import { useShortcuts } from '../../shell/keys.ts'
import type { Abilities, Detail } from '../mission/actions.ts'
import { Finding, type Match } from './finding.tsx'
import { Gauges } from './gauges.tsx'
import { type Place, TranscriptList } from './list.tsx'
import './session.css'
import { Speaking } from './speaking.tsx'
import { useTranscript } from './use-transcript.ts'

export type Session = Output<'get_session'>

interface TranscriptPaneProps {
  session: Session
  mission: Detail
  /** Shown before the search field. */
  children?: ReactNode
  /** Called when something was printed. */
  grown?(): void
}

/** The transcript of one session, with search, open questions and a field to talk to its agent. */
export function TranscriptPane({ session, mission, children, grown }: TranscriptPaneProps) {
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

  const cursor = window?.cursor
  useEffect(() => {
    if (cursor) grown?.()
  }, [cursor, grown])

  return (
    <>
      <Flex gap="3" align="center" wrap="wrap" className="session-tools">
        {children}
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
            <IconButton variant="soft" color="gray" aria-label="Errors" onClick={error.previous}>
              <CircleAlert size={14} />
            </IconButton>
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
        {transcript.live && session.status !== 'ended' && (
          <Badge color="green" highContrast>
            Live
          </Badge>
        )}
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
    </>
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

export function useAbilities({ agent, engine }: Session): Abilities | undefined {
  const agents = useAsk('list_agents', {}).data?.agents
  return agents?.find(each => each.name === agent && each.engine === engine)?.can as Abilities | undefined
}

/** Its open questions in full. */
function Asked({ session, mission }: { session: Session; mission: Detail }) {
  const { data } = useAsk('get_mission_notes', { mission_id: mission.id })
  const open = data?.questions.filter(each => each.status === 'open' && each.session_id === session.id) ?? []
  if (!open.length) return null
  return (
    <section className="asked" aria-label="Needs input">
      {open.map(question => (
        <QuestionCard key={question.id} question={question} />
      ))}
    </section>
  )
}
