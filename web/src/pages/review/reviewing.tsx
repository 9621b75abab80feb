import { useMemo, useRef, useState } from 'react'
import type { Output } from '../../api/client.ts'
import { takeLastBack } from '../../kit/deciding.ts'
import type { DiffHandle } from '../../kit/diff/view.tsx'
import { LongTextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { KeyHelp } from '../../kit/key-help.tsx'
import { plural } from '../../kit/words.ts'
import { useShortcuts } from '../../shell/keys.ts'
import { DecisionBar } from './bar.tsx'
import { Changes } from './changes.tsx'
import { isUnsent, type Remark, useRemarks } from './comments.tsx'
import { Conflict } from './conflict.tsx'
import { useDecisions } from './decisions.ts'
import { Overview } from './overview.tsx'
import { isConflict, isOpen, type Review } from './queue.ts'
import './reviewing.css'

interface ReviewingProps {
  review: Review
  detail: Output<'get_mission'>
}

const NO_REMARKS: Remark[] = []
const KEYS = {
  'n p': 'files',
  'j k': 'lines',
  c: 'remark',
  v: 'viewed',
  l: 'land',
  b: 'send back',
  x: 'reject',
  u: 'undo',
  '[ ]': 'other missions',
}

/** Everything about the work of one mission; it begins afresh with the next one. */
export function Reviewing({ review, detail }: ReviewingProps) {
  const { mission, session_id, candidate, files } = review
  const decisions = useDecisions(mission)
  const remarks = useRemarks(mission.id).data?.comments ?? NO_REMARKS
  const unsent = remarks.filter(isUnsent).length
  const diff = useRef<DiffHandle & { view(): void }>(null)
  const [sending, setSending] = useState(false)
  const open = isOpen(mission)
  const [placed, others] = useMemo(() => {
    const paths = new Set(files.map(({ path }) => path))
    // Lines move with the next candidate: what was said of an earlier one is no longer about these.
    const isAbout = (remark: Remark) =>
      remark.candidate ? remark.candidate === candidate?.commit : remark.session_id === session_id
    const isHere = (remark: Remark) => remark.path !== null && isAbout(remark) && paths.has(remark.path)
    return [remarks.filter(isHere), remarks.filter(remark => !isHere(remark))]
  }, [remarks, files, session_id, candidate])
  useShortcuts([
    { keys: 'n', title: 'Next file', run: () => diff.current?.file(1) },
    { keys: 'p', title: 'Previous file', run: () => diff.current?.file(-1) },
    { keys: 'j', title: 'Next line', run: () => diff.current?.line(1) },
    { keys: 'k', title: 'Previous line', run: () => diff.current?.line(-1) },
    { keys: 'c', title: 'Remark on the line', run: () => diff.current?.remark() },
    { keys: 'v', title: 'Mark the file as viewed', run: () => diff.current?.view() },
    { keys: 'u', title: 'Take the last decision back', run: takeLastBack },
    { keys: ']', title: 'Next mission to review', run: () => decisions.goOn(1) },
    { keys: '[', title: 'Previous mission to review', run: () => decisions.goOn(-1) },
    ...(open && !decisions.busy
      ? [
          { keys: 'l', title: 'Land it', run: () => decisions.land() },
          { keys: 'b', title: 'Send it back', run: () => setSending(true) },
          { keys: 'x', title: 'Reject it', run: () => decisions.reject() },
        ]
      : []),
  ])
  return (
    <>
      <KeyHelp keys={KEYS} />
      {isConflict(review) && <Conflict mission={mission} decisions={decisions} />}
      <Overview review={review} detail={detail} remarks={others} />
      {candidate && <Changes ref={diff} review={review} candidate={candidate.commit} remarks={placed} open={open} />}
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
      title={unsent ? `Send back with ${plural(unsent, 'remark')}` : 'Send back'}
      about="Its agent goes on in the same conversation and worktree, and is told all of it at once."
      act={unsent ? `Send back with ${plural(unsent, 'remark')}` : 'Send back'}
      ready={unsent > 0 || message.trim() !== ''}
      close={close}
      submit={() => {
        close()
        send(message)
      }}
    >
      <LongTextInput
        label={unsent ? 'Message (not necessary)' : 'Message'}
        value={message}
        set={setMessage}
        placeholder="What should be different?"
      />
    </FormDialog>
  )
}
