import { useMemo, useRef, useState } from 'react'
import type { Output } from '../../api/client.ts'
import { takeLastBack } from '../../kit/deciding.ts'
import type { DiffHandle } from '../../kit/diff/view.tsx'
import { LongTextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { KeyHelp } from '../../kit/key-help.tsx'
import { plural } from '../../kit/words.ts'
import { useMayDo } from '../../live/me.ts'
import { useShortcuts } from '../../shell/keys.ts'
import { DecisionBar, requestChanges } from './bar.tsx'
import { Changes } from './changes.tsx'
import { type Comment, isUnsent, useComments } from './comments.tsx'
import { Conflict } from './conflict.tsx'
import { useDecisions } from './decisions.ts'
import { Overview } from './overview.tsx'
import { isConflict, isOpen, type Review } from './queue.ts'
import './reviewing.css'

interface ReviewingProps {
  review: Review
  detail: Output<'get_mission'>
}

const NO_COMMENTS: Comment[] = []
const KEYS = {
  'n p': 'files',
  'j k': 'lines',
  'shift j k': 'select lines',
  c: 'comment',
  v: 'viewed',
  l: 'land',
  b: 'request changes',
  x: 'reject',
  u: 'undo',
  '[ ]': 'other missions',
}

/** The review of one mission. Its state starts over with the next one. */
export function Reviewing({ review, detail }: ReviewingProps) {
  const { mission, session_id, candidate, files } = review
  const decisions = useDecisions(mission)
  const comments = useComments(mission.id).data?.comments ?? NO_COMMENTS
  const unsent = comments.filter(isUnsent).length
  const diff = useRef<DiffHandle & { view(): void }>(null)
  const [sending, setSending] = useState(false)
  const open = isOpen(mission)
  const may = useMayDo()
  const decides = open && !decisions.busy
  const mayLand = may('land_mission', mission.project_id)
  const maySendBack = may('send_back_mission', mission.project_id)
  const mayComment = may('comment_mission', mission.project_id)
  const [placed, others] = useMemo(() => {
    const paths = new Set(files.map(({ path }) => path))
    // Lines move with each candidate, so comments on an earlier one are not shown on these lines.
    const isAbout = (comment: Comment) =>
      comment.candidate ? comment.candidate === candidate?.commit : comment.session_id === session_id
    const isHere = (comment: Comment) => comment.path !== null && isAbout(comment) && paths.has(comment.path)
    return [comments.filter(isHere), comments.filter(comment => !isHere(comment))]
  }, [comments, files, session_id, candidate])
  const isKey = (key: string) =>
    key === 'c' ? mayComment : key === 'b' ? maySendBack : !['l', 'x', 'u'].includes(key) || mayLand
  const keys = Object.fromEntries(Object.entries(KEYS).filter(([key]) => isKey(key)))
  useShortcuts([
    { keys: 'n', title: 'Next file', run: () => diff.current?.file(1) },
    { keys: 'p', title: 'Previous file', run: () => diff.current?.file(-1) },
    { keys: 'j', title: 'Next line', run: () => diff.current?.line(1) },
    { keys: 'k', title: 'Previous line', run: () => diff.current?.line(-1) },
    { keys: 'shift+j', title: 'Select the next line too', run: () => diff.current?.line(1, true) },
    { keys: 'shift+k', title: 'Select the previous line too', run: () => diff.current?.line(-1, true) },
    ...(mayComment ? [{ keys: 'c', title: 'Comment on the selected lines', run: () => diff.current?.comment() }] : []),
    { keys: 'v', title: 'Mark the file as viewed', run: () => diff.current?.view() },
    { keys: 'u', title: 'Undo the last decision', run: takeLastBack },
    { keys: ']', title: 'Next mission to review', run: () => decisions.goOn(1) },
    { keys: '[', title: 'Previous mission to review', run: () => decisions.goOn(-1) },
    ...(decides && mayLand
      ? [
          { keys: 'l', title: 'Land', run: () => decisions.land() },
          { keys: 'x', title: 'Reject', run: () => decisions.reject() },
        ]
      : []),
    ...(decides && maySendBack ? [{ keys: 'b', title: 'Request changes', run: () => setSending(true) }] : []),
  ])
  return (
    <>
      <KeyHelp keys={keys} />
      {isConflict(review) && <Conflict mission={mission} decisions={decisions} />}
      <Overview review={review} detail={detail} comments={others} />
      {candidate && (
        <Changes ref={diff} review={review} candidate={candidate.commit} comments={placed} open={open && mayComment} />
      )}
      <DecisionBar review={review} unsent={unsent} decisions={decisions} sendBack={() => setSending(true)} />
      {sending && <SendBack unsent={unsent} close={() => setSending(false)} send={decisions.sendBack} />}
    </>
  )
}

interface SendBackProps {
  unsent: number
  close(): void
  send(message: string): void
}

function SendBack({ unsent, close, send }: SendBackProps) {
  const [message, setMessage] = useState('')
  return (
    <FormDialog
      title="Request changes"
      about={`The agent continues in the same conversation${unsent ? ` and gets ${plural(unsent, 'comment')}` : ''}.`}
      act={requestChanges(unsent)}
      ready={unsent > 0 || message.trim() !== ''}
      close={close}
      submit={() => {
        close()
        send(message)
      }}
    >
      <LongTextInput
        label={unsent ? 'Message (optional)' : 'Message'}
        value={message}
        set={setMessage}
        placeholder="What should be different?"
      />
    </FormDialog>
  )
}
