import { Badge, Button, Flex, Text } from '@radix-ui/themes'
import { useState } from 'react'
import type { Output } from '../../api/client.ts'
import { CopyButton } from '../../kit/copy.tsx'
import { ChoiceInput, LongTextInput } from '../../kit/fields.tsx'
import '../../kit/fold.css'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { May } from '../../kit/may.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import type { Tone } from '../../kit/words.ts'
import { useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import type { Member, Team } from './words.ts'

type Checkpoint = Output<'checkpoint_list'>['checkpoints'][number]

export const STATES: Record<Checkpoint['state'], { word: string; tone: Tone }> = {
  open: { word: 'Open', tone: 'blue' },
  accepted: { word: 'Accepted', tone: 'green' },
  rejected: { word: 'Rejected', tone: 'amber' },
}

interface CheckpointCardProps {
  team: Team
  checkpoint: Checkpoint
  myself: Member | undefined
}

export function CheckpointCard({ team, checkpoint, myself }: CheckpointCardProps) {
  const { from, to, goal, state, created_at, decided_at, outcome, loads } = checkpoint
  const { word, tone } = STATES[state]
  const isMine = to.member_id === myself?.id
  return (
    <article className="line" aria-label={plain(goal)}>
      <details className="fold" open={isMine && state === 'open'}>
        <summary>
          <span className="checkpoint-summary">
            <span className="line-head">
              <Badge color={tone} highContrast>
                {word}
              </Badge>
              {loads && (
                <Badge color="iris" highContrast>
                  In the next prompt
                </Badge>
              )}
              <Text size="2" color="gray" className="break">
                {from.member_id === to.member_id
                  ? `${plain(from.handle)}, for itself`
                  : `${plain(from.handle)} to ${plain(to.handle)}`}
              </Text>
              <Text size="1" color="gray">
                <Time at={created_at} />
              </Text>
            </span>
            <Text size="2" weight="medium" className="break checkpoint-goal">
              {plain(goal)}
            </Text>
          </span>
        </summary>
        <Standing checkpoint={checkpoint} />
      </details>
      {outcome && (
        <Text as="div" size="2" className="break">
          <Text color="gray">{word}: </Text>
          {plain(outcome)}
          {decided_at && (
            <Text size="1" color="gray">
              {' '}
              <Time at={decided_at} />
            </Text>
          )}
        </Text>
      )}
      <Acts team={team} checkpoint={checkpoint} isMine={isMine} />
    </article>
  )
}

const LISTS = [
  ['worked', 'Worked'],
  ['failed', 'Tried and failed'],
  ['blockers', 'Blocked by'],
  ['questions', 'Open questions'],
  ['next', 'Next'],
] as const

function Standing({ checkpoint }: { checkpoint: Checkpoint }) {
  const { now, test, done_this_session, commit, no_commit } = checkpoint
  return (
    <div className="checkpoint-body">
      <Markdown text={now} />
      {test && (
        <Listed title="How to test it">
          <Markdown text={test} />
        </Listed>
      )}
      {done_this_session.length > 0 && (
        <Listed title="Done">
          <ul>
            {done_this_session.map(({ task, files }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a checkpoint never changes
              <li key={index}>
                {plain(task)}
                {files.length > 0 && <code className="break"> {files.map(plain).join(', ')}</code>}
              </li>
            ))}
          </ul>
        </Listed>
      )}
      {LISTS.filter(([field]) => checkpoint[field].length > 0).map(([field, title]) => (
        <Listed key={field} title={title}>
          <ul>
            {checkpoint[field].map((each, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a checkpoint never changes
              <li key={index}>{plain(each)}</li>
            ))}
          </ul>
        </Listed>
      ))}
      <Text as="div" size="1" color="gray" mt="2">
        {commit ? (
          <>
            Commit <code>{commit.slice(0, 10)}</code> <CopyButton text={commit} label="Copy the commit" />
          </>
        ) : (
          `No commit: ${plain(no_commit ?? 'a person wrote it')}`
        )}
      </Text>
    </div>
  )
}

const Listed = ({ title, children }: { title: string; children: React.ReactNode }) => (
  <div>
    <Text as="div" size="2" weight="medium" mt="2">
      {title}
    </Text>
    {children}
  </div>
)

const DIALOGS = { accept: Accept, reject: Reject, load: Load }

function Acts({ team, checkpoint, isMine }: { team: Team; checkpoint: Checkpoint; isMine: boolean }) {
  const [asking, setAsking] = useState<keyof typeof DIALOGS>()
  const maySteer = useMay('mail.broadcast', team.project_id)
  const Asked = asking && DIALOGS[asking]
  const decides = isMine && checkpoint.state === 'open'
  if (!decides && !maySteer) return null
  return (
    <Flex gap="2" mt="2" wrap="wrap" className="line-buttons">
      {decides && (
        <May use="checkpoint_accept" project={team.project_id}>
          <Button size="1" onClick={() => setAsking('accept')}>
            Accept…
          </Button>
          <Button size="1" variant="soft" color="gray" highContrast onClick={() => setAsking('reject')}>
            Reject…
          </Button>
        </May>
      )}
      {maySteer && (
        <May use="checkpoint_load" project={team.project_id}>
          <Button size="1" variant="soft" color="gray" highContrast onClick={() => setAsking('load')}>
            Load into a session…
          </Button>
        </May>
      )}
      {Asked && <Asked team={team} checkpoint={checkpoint} close={() => setAsking(undefined)} />}
    </Flex>
  )
}

interface DialogProps {
  team: Team
  checkpoint: Checkpoint
  close(): void
}

function Accept({ checkpoint: { id, from }, close }: DialogProps) {
  const [outcome, setOutcome] = useState('')
  const { run, busy } = useCommand('checkpoint_accept', { done: close })
  return (
    <FormDialog
      title="Accept the checkpoint"
      about={`${from.handle} is told that you go on with it.`}
      act="Accept"
      busy={busy}
      close={close}
      submit={() => run({ checkpoint_id: id, outcome: outcome.trim() || undefined })}
    >
      <LongTextInput label="What you will do (optional)" value={outcome} set={setOutcome} rows={3} />
    </FormDialog>
  )
}

function Reject({ checkpoint: { id, from }, close }: DialogProps) {
  const [outcome, setOutcome] = useState('')
  const { run, busy } = useCommand('checkpoint_reject', { done: close })
  return (
    <FormDialog
      title="Reject the checkpoint"
      about={`${from.handle} is told why.`}
      act="Reject"
      busy={busy}
      ready={!!outcome.trim()}
      close={close}
      submit={() => run({ checkpoint_id: id, outcome: outcome.trim() })}
    >
      <LongTextInput label="Reason" value={outcome} set={setOutcome} rows={3} />
    </FormDialog>
  )
}

function Load({ team, checkpoint: { id, to }, close }: DialogProps) {
  const agents = team.members.filter(({ person }) => person === null)
  const addressee = agents.find(each => each.id === to.member_id)
  const [member, setMember] = useState<string | null>(addressee?.id ?? null)
  const { run, busy } = useCommand('checkpoint_load', { done: close })
  return (
    <FormDialog
      title="Load into a session"
      about="The next session of this member has the checkpoint in its prompt."
      act="Load"
      busy={busy}
      ready={!!member}
      close={close}
      submit={() => run({ checkpoint_id: id, member: member! })}
    >
      <ChoiceInput
        label="Member"
        value={member}
        set={setMember}
        options={agents.map(each => ({ value: each.id, label: plain(each.handle) }))}
      />
    </FormDialog>
  )
}
