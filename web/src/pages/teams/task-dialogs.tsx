import { Text } from '@radix-ui/themes'
import { useState } from 'react'
import { ChoiceInput, LongTextInput, NumberInput, TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { plain } from '../../kit/plain.ts'
import { useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import type { Task } from './task-acts.ts'
import { ROLES, type Team } from './words.ts'

interface DialogProps {
  team: Team
  task: Task
  tasks: readonly Task[]
  close(): void
}

const membersOf = ({ members }: Team) =>
  members.map(({ id, handle, role, person }) => ({
    value: id,
    label: `${plain(handle)} (${person === null ? ROLES[role].toLowerCase() : 'a person'})`,
  }))

export function CreateTask({ team, tasks, close }: Omit<DialogProps, 'task'>) {
  const [title, setTitle] = useState('')
  const [description, setDescription] = useState('')
  const [member, setMember] = useState<string | null>(null)
  const [blockers, setBlockers] = useState<readonly string[]>([])
  const [priority, setPriority] = useState<number | null>(null)
  const mayAssign = useMay('missions.run', team.project_id)
  const { run, busy } = useCommand('create_team_task', { done: close })
  return (
    <FormDialog
      title="New task"
      about="It starts once a member has it, is free, and what it waits for is done."
      act="Create"
      busy={busy}
      ready={title.trim().length >= MIN_TITLE}
      close={close}
      submit={() =>
        run({
          team_id: team.id,
          title: title.trim(),
          description,
          blocked_by: [...blockers],
          ...(member && { agent: member }),
          ...(priority !== null && { priority }),
        })
      }
    >
      <TextInput label="Title" value={title} set={setTitle} required />
      <LongTextInput
        label="Description"
        hint="Everything that whoever does it needs to know."
        value={description}
        set={setDescription}
        rows={5}
      />
      <div className="dialog-pair">
        {mayAssign && (
          <ChoiceInput label="Member" value={member} set={setMember} options={membersOf(team)} none="Nobody yet" />
        )}
        <NumberInput label="Priority" value={priority} set={setPriority} placeholder="0" />
      </div>
      {tasks.length > 0 && <Blockers tasks={tasks} chosen={blockers} choose={setBlockers} />}
    </FormDialog>
  )
}

const MIN_TITLE = 3

interface BlockersProps {
  tasks: readonly Task[]
  chosen: readonly string[]
  choose(ids: readonly string[]): void
}

/** Tasks that must be done first. */
function Blockers({ tasks, chosen, choose }: BlockersProps) {
  return (
    <fieldset className="blockers">
      <Text as="span" size="2" weight="medium" asChild>
        <legend>Waits for</legend>
      </Text>
      {tasks.map(({ id, title }) => (
        <label key={id}>
          <input
            type="checkbox"
            checked={chosen.includes(id)}
            onChange={({ target }) => choose(target.checked ? [...chosen, id] : chosen.filter(each => each !== id))}
          />
          <span>{plain(title)}</span>
        </label>
      ))}
    </fieldset>
  )
}

export function AssignTask({ team, task, close }: DialogProps) {
  const [member, setMember] = useState<string | null>(task.assignee?.member_id ?? null)
  const { run, busy } = useCommand('team_assign', { done: close })
  const stops = task.state === 'working' ? 'Its session stops, and whoever gets it goes on from its work so far.' : ''
  return (
    <FormDialog
      title={`Assign “${plain(task.title)}”`}
      about={stops}
      act="Assign"
      busy={busy}
      ready={!!member && member !== task.assignee?.member_id}
      close={close}
      submit={() => run({ team_id: team.id, task: task.id, agent: member! })}
    >
      <ChoiceInput label="Member" value={member} set={setMember} options={membersOf(team)} />
    </FormDialog>
  )
}

export function BlockTask({ task, tasks, close }: DialogProps) {
  const known = new Set([task.id, ...task.blockers.map(({ id }) => id)])
  const others = tasks.filter(({ id }) => !known.has(id))
  const [blockers, setBlockers] = useState<readonly string[]>([])
  const [reason, setReason] = useState('')
  const { run, busy } = useCommand('team_block', { done: close })
  return (
    <FormDialog
      title={`What blocks “${plain(task.title)}”?`}
      about={
        others.length ? 'It goes on once these tasks are done.' : 'There is no other open task that it could wait for.'
      }
      act="Block"
      busy={busy}
      ready={blockers.length > 0}
      close={close}
      submit={() => run({ task_id: task.id, blocked_by: [...blockers], reason: reason.trim() })}
    >
      {others.length > 0 && (
        <>
          <Blockers tasks={others} chosen={blockers} choose={setBlockers} />
          <TextInput label="Reason (optional)" value={reason} set={setReason} />
        </>
      )}
    </FormDialog>
  )
}

export function CompleteTask({ task, close }: DialogProps) {
  const [summary, setSummary] = useState('')
  const { run, busy } = useCommand('team_complete', { done: close })
  return (
    <FormDialog
      title={`Complete “${plain(task.title)}”?`}
      about="It counts as done, and nothing lands. What waits for it may start."
      act="Complete"
      busy={busy}
      close={close}
      submit={() => run({ task_id: task.id, summary: summary.trim() })}
    >
      <LongTextInput label="What was done (optional)" value={summary} set={setSummary} rows={3} />
    </FormDialog>
  )
}
