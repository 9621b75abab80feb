import { Badge, Button, Card, Flex, Text, TextArea } from '@radix-ui/themes'
import { Hand, type LucideIcon, MessageCircleQuestion, ShieldQuestion } from 'lucide-react'
import { type KeyboardEvent, type RefObject, useEffect, useId, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { Output } from '../api/client.ts'
import { onEvents, useCommand } from '../live/data.ts'
import { useMay } from '../live/me.ts'
import { useWho } from '../live/names.ts'
import { Foreign } from './foreign.tsx'
import { May } from './may.tsx'
import { plain } from './plain.ts'
import './question.css'
import { toolKind, wishOf } from '../../../src/domain/rules/tool-words.ts'
import { choicesIn, inputIn } from './question-parts.ts'
import { Time } from './time.tsx'
import { tell } from './toasts.tsx'
import { ToolInput } from './tool-input.tsx'

export type Question = Output<'list_inbox'>['questions'][number]

interface QuestionCardProps {
  question: Question
  /** The title of its mission, unless the page shows it already. */
  mission?: string
  project?: string
}

const ICONS: Record<Question['kind'], LucideIcon> = {
  permission: ShieldQuestion,
  question: MessageCircleQuestion,
  interruption: Hand,
}

/** A question of an agent, with everything that it asks and all possible answers. */
export function QuestionCard({ question, mission, project }: QuestionCardProps) {
  const Icon = ICONS[question.kind]
  return (
    <Card className="question" data-open={question.status === 'open' || undefined}>
      <Flex align="center" gap="2" wrap="wrap" mb="2">
        <Icon size={18} aria-hidden className="question-icon" />
        <Text size="2" weight="medium">
          <Heading question={question} />
        </Text>
        {mission && (
          <Link href={`/missions/${question.mission_id}`} className="question-mission">
            {plain(mission)}
          </Link>
        )}
        <Text size="1" color="gray" className="question-when">
          {project && `${plain(project)} · `}
          <May use="read_transcript" project={question.project_id}>
            <Link href={`/sessions/${question.session_id}`}>Transcript</Link> ·{' '}
          </May>
          <Time at={question.created_at} />
        </Text>
      </Flex>
      {question.kind === 'permission' ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <div className="question-input" tabIndex={0}>
          <ToolInput input={inputIn(question.text)} />
        </div>
      ) : (
        <Foreign text={choicesIn(question.text).question} lines={200} chars={40_000} />
      )}
      <Standing question={question} />
    </Card>
  )
}

function Standing({ question }: { question: Question }) {
  const mayAnswer = useMay(question.kind === 'permission' ? 'approvals.decide' : 'answer_question', question.project_id)
  if (question.status !== 'open') return <Answered question={question} />
  if (mayAnswer) return <Answering question={question} />
  return (
    <Text as="p" size="2" color="gray" mt="2" mb="0">
      {question.kind === 'permission' ? 'Somebody who may decide about permissions' : 'Somebody who may answer'} has to
      answer this. Your role does not include it.
    </Text>
  )
}

function Heading({ question: { kind, tool } }: { question: Question }) {
  if (kind === 'interruption') return 'Interrupted. Send a message to continue'
  if (kind === 'question') return 'Question'
  return (
    <>
      {wishOf(tool)} {tool && !isSaid(tool) && <code className="question-tool">{plain(tool)}</code>}
    </>
  )
}

/** A command is a command, whichever name its client has for it. */
const isSaid = (tool: string): boolean => toolKind(tool) === 'run'

function Answering({ question }: { question: Question }) {
  const { run, busy } = useCommand('answer_question')
  const [words, setWords] = useState('')
  const id = useId()
  const asksLeave = question.kind === 'permission'
  const { choices } = asksLeave ? { choices: [] } : choicesIn(question.text)
  const isMine = useRef(false)
  useAnsweredElsewhere(question, isMine)
  const answer = (decision: 'allow' | 'deny' | undefined, text = words.trim(), remember?: 'session' | 'project') => {
    isMine.current = true
    run({ question_id: question.id, decision, text: text || undefined, remember })
  }
  const allowFor = (scope: 'session' | 'project') => answer('allow', words.trim(), scope)
  // A key sends only words. A permission is decided by its buttons.
  const sendByKey = (event: KeyboardEvent) => {
    if (asksLeave || event.key !== 'Enter' || !(event.metaKey || event.ctrlKey) || busy) return
    event.preventDefault()
    if (words.trim()) answer(undefined)
  }
  return (
    <>
      {choices.length > 0 && (
        <Flex gap="2" wrap="wrap" mt="3">
          {choices.map(({ label, about }) => (
            <Button
              key={label}
              variant="surface"
              disabled={busy}
              className="question-choice"
              onClick={() => answer(undefined, label)}
            >
              <span>
                <b>{plain(label)}</b>
                {about && <small>{plain(about)}</small>}
              </span>
            </Button>
          ))}
        </Flex>
      )}
      <label htmlFor={id} className="question-label">
        {asksLeave ? 'Add a note (optional)' : choices.length ? 'Or in your own words' : 'Your answer'}
      </label>
      <TextArea
        id={id}
        value={words}
        rows={asksLeave ? 1 : 2}
        resize="vertical"
        onChange={event => setWords(event.target.value)}
        onKeyDown={sendByKey}
      />
      <Flex gap="2" mt="2" align="center" wrap="wrap">
        {asksLeave ? (
          <>
            <Button data-key="a" disabled={busy} onClick={() => answer('allow')}>
              Allow once
            </Button>
            {question.covers !== null && (
              <>
                <Button variant="soft" highContrast disabled={busy} onClick={() => allowFor('session')}>
                  Allow for this session
                </Button>
                <Button variant="soft" highContrast disabled={busy} onClick={() => allowFor('project')}>
                  Always allow in this project
                </Button>
              </>
            )}
            <Button data-key="d" color="red" variant="soft" highContrast disabled={busy} onClick={() => answer('deny')}>
              Deny
            </Button>
          </>
        ) : (
          <Button disabled={busy || !words.trim()} onClick={() => answer(undefined)}>
            Answer
          </Button>
        )}
        {asksLeave && question.covers !== null && (
          <Text as="div" size="1" color="gray" className="question-covers">
            A rule covers exactly: <code>{plain(question.covers)}</code>. <Link href="/approvals">See all rules</Link>
          </Text>
        )}
        {question.deadline && (
          <Text size="1" color="gray">
            Answered automatically with “{question.otherwise ?? 'deny'}” <Time at={question.deadline} />
          </Text>
        )}
      </Flex>
    </>
  )
}

/** Says why the form disappears while somebody fills it in. */
function useAnsweredElsewhere({ id, kind }: Question, isMine: RefObject<boolean>): void {
  const who = useWho()
  const known = useRef(who)
  known.current = who
  useEffect(
    () =>
      onEvents(events => {
        const event = events.find(({ data }) => data.question === id)
        if (!event || isMine.current) return
        const what = kind === 'permission' ? 'request' : 'question'
        if (event.kind === 'answered')
          tell({ text: `This ${what} was answered elsewhere, by ${known.current(event.actor) || 'the fleet'}.` })
        else if (event.kind === 'question_withdrawn') tell({ text: `The agent withdrew this ${what}.` })
      }),
    [id, kind, isMine],
  )
}

function Answered({ question: { status, answer, answered_by, answered_at, kind } }: { question: Question }) {
  const who = useWho()
  if (status === 'withdrawn' || !answer)
    return (
      <Text as="p" size="2" color="gray" mt="2" mb="0">
        Withdrawn.
      </Text>
    )
  const word = kind === 'permission' ? { allow: 'Allowed', deny: 'Denied' }[answer.decision] : 'Answered'
  return (
    <Flex gap="2" mt="2" align="baseline" wrap="wrap">
      <Badge color={answer.decision === 'deny' ? 'red' : 'green'} highContrast>
        {word}
      </Badge>
      {answer.text && <Foreign text={answer.text} />}
      <Text size="1" color="gray">
        by {answered_by ? who(answered_by) || 'the fleet' : 'nobody'} {answered_at && <Time at={answered_at} />}
      </Text>
    </Flex>
  )
}
