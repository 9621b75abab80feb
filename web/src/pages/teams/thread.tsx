import { Button, Card, Heading, Text } from '@radix-ui/themes'
import { useEffect, useRef, useState } from 'react'
import { mailSubject } from '../../kit/mail-subject.ts'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { plural } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { Message } from './message.tsx'
import { isUnreadBy, partiesOf, type Thread, waitsFor } from './threads.ts'
import type { Mail, Member, Team } from './words.ts'

/** This many of the newest messages are shown at first. */
const SHOWN = 3
const MOST = 500

interface ThreadCardProps {
  team: Team
  thread: Thread
  myself: Member | undefined
  /** It was linked to. */
  isWanted: boolean
}

export function ThreadCard({ team, thread, myself, isWanted }: ThreadCardProps) {
  const [all, setAll] = useState(isWanted)
  const card = useRef<HTMLDivElement>(null)
  const whole = useAsk('list_mail', { thread: thread.id, limit: MOST }, { enabled: all && !thread.isWhole, keep: true })
  const messages = (all && whole.data?.messages) || thread.messages
  useEffect(() => {
    if (isWanted) card.current?.scrollIntoView({ block: 'start' })
  }, [isWanted])
  useReadWhenSeen(card, team, thread, myself)
  // What waits for this person is never hidden.
  const waiting = messages.findIndex(mail => waitsFor(mail, myself?.id))
  const newest = Math.max(0, messages.length - SHOWN)
  const from = all ? 0 : waiting < 0 ? newest : Math.min(waiting, newest)
  const hidden = thread.isWhole ? plural(from, 'earlier message') : 'earlier messages'
  const { subject } = thread
  return (
    <Card ref={card} className="thread">
      <div className="thread-head">
        <Heading as="h3" size="2" className="break">
          {plain(mailSubject(subject) || partiesOf(messages).join(', '))}
        </Heading>
        <Text size="1" color="gray">
          <Time at={thread.last} />
        </Text>
      </div>
      {(from > 0 || (!all && !thread.isWhole)) && (
        <Button size="1" variant="ghost" my="2" onClick={() => setAll(true)}>
          Show {hidden}
        </Button>
      )}
      <ol className="messages">
        {messages.slice(from).map(mail => (
          <li key={mail.id}>
            <Message team={team} mail={mail} myself={myself} titled={differs(mail, subject)} />
          </li>
        ))}
      </ol>
    </Card>
  )
}

/** A message that goes on under another subject says it. */
const differs = ({ subject }: Mail, of: string): boolean => !!subject && subject.replace(/^Re: /, '') !== of

/** Mail to a person counts as read once its thread is on their screen. What it asks for stays open. */
function useReadWhenSeen(
  card: React.RefObject<HTMLDivElement | null>,
  { id, project_id }: Team,
  thread: Thread,
  myself: Member | undefined,
): void {
  const { run } = useCommand('read_mail')
  const may = useMay('read_mail', project_id)
  const unread = thread.messages.filter(mail => isUnreadBy(mail, myself?.id)).map(mail => mail.id)
  const newest = unread.at(-1)
  useEffect(() => {
    if (!newest || !may || !card.current) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry?.isIntersecting || document.hidden) return
        observer.disconnect()
        void run({ team_id: id, thread: thread.id, limit: MOST })
      },
      { threshold: 0.2 },
    )
    const look = () => {
      observer.unobserve(card.current!)
      observer.observe(card.current!)
    }
    observer.observe(card.current)
    document.addEventListener('visibilitychange', look)
    return () => {
      observer.disconnect()
      document.removeEventListener('visibilitychange', look)
    }
  }, [newest, may, id, thread.id, run, card])
}
