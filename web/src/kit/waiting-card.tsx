import { Badge, Button, Card, Flex, Text } from '@radix-ui/themes'
import { CircleX, GitMerge, GitPullRequestArrow, Hourglass, type LucideIcon, Mail, Network } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Output } from '../api/client.ts'
import { useAsk } from '../live/data.ts'
import { useProjectNames } from './choosers.tsx'
import { LongTextInput } from './fields.tsx'
import { Foreign } from './foreign.tsx'
import { FormDialog } from './form-dialog.tsx'
import { mailSubject } from './mail-subject.ts'
import { MarkdownExcerpt } from './markdown.tsx'
import { plain } from './plain.ts'
import { QuestionCard } from './question.tsx'
import type { Steady } from './steady.ts'
import { Time } from './time.tsx'
import { type Entry, placeOf, projectOf } from './waiting.ts'
import { type Act, useActs } from './waiting-acts.ts'
import './waiting-card.css'
import { plural, type Tone } from './words.ts'

const KINDS: Record<Exclude<Entry['kind'], 'question'>, { icon: LucideIcon; word: string; tone: Tone }> = {
  plan: { icon: Network, word: 'Plan', tone: 'iris' },
  mail: { icon: Mail, word: 'Mail', tone: 'iris' },
  review: { icon: GitPullRequestArrow, word: 'Review', tone: 'iris' },
  conflict: { icon: GitMerge, word: 'Conflict', tone: 'red' },
  stuck: { icon: Hourglass, word: 'Blocked', tone: 'amber' },
  failure: { icon: CircleX, word: 'Failed', tone: 'red' },
}

/** Only this many get their size here; others show it in the review. */
const REVIEWS_SIZED = 50

interface WaitingCardProps {
  entry: Steady<Entry>
  titles: ReadonlyMap<string, string>
}

/** One entry of the inbox, with everything needed to decide. An entry that is resolved is shown but cannot be used. */
export function WaitingCard({ entry, titles }: WaitingCardProps) {
  return (
    <div className="waiting-place" data-gone={entry.gone}>
      <div inert={entry.gone}>
        <Waiting entry={entry} titles={titles} />
      </div>
      {entry.gone && (
        <Badge color="gray" variant="solid" highContrast className="waiting-gone">
          Resolved
        </Badge>
      )}
    </div>
  )
}

function Waiting({ entry, titles }: WaitingCardProps) {
  const projectName = useProjectNames()
  if (entry.kind === 'question') {
    const { mission_id, project_id } = entry.question
    return (
      <QuestionCard
        question={entry.question}
        mission={titles.get(mission_id) ?? 'Untitled mission'}
        project={projectName(project_id)}
      />
    )
  }
  const { icon: Icon, word, tone } = KINDS[entry.kind]
  return (
    <Card className="waiting" size="1">
      <div className="waiting-head">
        <Icon size={16} aria-hidden className="waiting-icon" data-tone={tone} />
        <Link href={placeOf(entry)} className="waiting-title">
          {plain(titleOf(entry))}
        </Link>
        <Badge color={tone} highContrast>
          {word}
        </Badge>
        <Text size="1" color="gray" className="waiting-when">
          {plain(projectName(projectOf(entry)))} · <Time at={entry.at} />
        </Text>
      </div>
      <div className="waiting-body">
        <Why entry={entry} />
        <Acts entry={entry} />
      </div>
    </Card>
  )
}

function titleOf(entry: Exclude<Entry, { kind: 'question' }>): string {
  if (entry.kind === 'plan') return entry.plan.goal
  if (entry.kind !== 'mail') return entry.mission.title
  const { from, team, subject } = entry.mail
  return `${from.handle} of ${team}${subject && `: ${mailSubject(subject)}`}`
}

/** What a message wants, before its words. */
const WANTS = { none: '', ack: 'To acknowledge', reply: 'Needs a reply', decision: 'Needs a decision' }

function MailWhy({ mail }: { mail: Extract<Entry, { kind: 'mail' }>['mail'] }) {
  const held = mail.deliveries.find(delivery => delivery.held !== null)
  const wants = held ? `Held back from ${held.to}. ${held.held}` : WANTS[mail.needs]
  return (
    <>
      {wants && (
        <Text as="div" size="1" color="gray">
          {plain(wants)}
        </Text>
      )}
      <MarkdownExcerpt text={mail.body} lines={8} chars={480} />
    </>
  )
}

function Why({ entry }: { entry: Exclude<Entry, { kind: 'question' }> }) {
  if (entry.kind === 'mail') return <MailWhy mail={entry.mail} />
  if (entry.kind === 'plan') return <Foreign text={entry.plan.summary} lines={2} chars={240} tone="quiet" />
  const { mission, kind } = entry
  // That it waits for a review is said already.
  const isUsual = kind === 'review' && mission.status_reason?.code === 'policy'
  return (
    <>
      {mission.status_reason && !isUsual && (
        <Foreign text={mission.status_reason.text} lines={2} chars={240} tone="quiet" />
      )}
      {(kind === 'review' || kind === 'conflict') && <Size missionId={mission.id} />}
    </>
  )
}

/** How much there is to review, if that is known. */
function Size({ missionId }: { missionId: string }) {
  const { data } = useAsk('list_reviews', { limit: REVIEWS_SIZED })
  const review = data?.reviews.find(({ mission }) => mission.id === missionId)
  const [size, setSize] = useState('')
  const now = review && sizeOf(review)
  if (now && now !== size) setSize(now)
  // The line has its place before the size is known and after the decision, so that cards below do not move.
  return (
    <Text as="div" size="1" color="gray" mt="1">
      {size || '\u00a0'}
    </Text>
  )
}

const sizeOf = ({ files, files_omitted, added, deleted, risk }: Output<'list_reviews'>['reviews'][number]): string =>
  `${plural(files.length + files_omitted, 'file')} · +${added} −${deleted} · ${risk.level} risk`

function Acts({ entry }: { entry: Entry }) {
  const acts = useActs()(entry)
  const [asking, setAsking] = useState<Act>()
  const [busy, setBusy] = useState(false)
  const run = async (act: Act, words?: string) => {
    setBusy(true)
    await act.run(words)
    setBusy(false)
    setAsking(undefined)
  }
  return (
    <Flex gap="2" wrap="wrap" mt="2" align="center" className="waiting-acts">
      {acts.map(act => (
        <Button
          key={act.label}
          size="1"
          variant={act.tone === 'main' ? 'solid' : 'soft'}
          color={act.tone === 'bad' ? 'red' : act.tone === 'main' ? undefined : 'gray'}
          highContrast={act.tone !== 'main'}
          disabled={busy}
          onClick={() => (act.words ? setAsking(act) : run(act))}
        >
          {act.label}
        </Button>
      ))}
      <Button size="1" variant="ghost" color="gray" highContrast asChild className="waiting-open">
        <Link href={placeOf(entry)}>
          {entry.kind === 'review' ? 'View changes' : entry.kind === 'conflict' ? 'View conflict' : 'Open'}
        </Link>
      </Button>
      {asking && <Words act={asking} busy={busy} close={() => setAsking(undefined)} run={run} />}
    </Flex>
  )
}

interface WordsProps {
  act: Act
  busy: boolean
  close(): void
  run(act: Act, words: string): void
}

export function Words({ act, busy, close, run }: WordsProps) {
  const [words, setWords] = useState('')
  const label = act.label.replace('…', '')
  return (
    <FormDialog
      title={label}
      about={act.words}
      act={label}
      busy={busy}
      ready={!act.wordsNeeded || !!words.trim()}
      close={close}
      submit={() => run(act, words.trim())}
    >
      <LongTextInput label="Message" value={words} set={setWords} />
    </FormDialog>
  )
}
