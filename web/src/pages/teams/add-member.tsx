import { Button } from '@radix-ui/themes'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { AgentChooser, useRunsScripts } from '../../kit/choosers.tsx'
import { ChoiceInput, LongTextInput, NumberInput, TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { plain } from '../../kit/plain.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useSwarms } from './asks.ts'
import { type Member, ROLES, type Team } from './words.ts'

interface AddMemberProps {
  team: Team
  /** The group within the team that it joins. */
  swarm?: string
}

/** A button with its dialog. */
export function AddMember({ team, swarm }: AddMemberProps) {
  const [open, setOpen] = useState(false)
  const isFull = team.agents >= team.max_members
  return (
    <>
      <Button
        size="1"
        variant="soft"
        disabled={isFull}
        title={isFull ? 'The team is full' : undefined}
        onClick={() => setOpen(true)}
      >
        <Plus size={14} /> Add a member
      </Button>
      {open && <AddMemberDialog team={team} swarm={swarm} close={() => setOpen(false)} />}
    </>
  )
}

export const ROLE_OPTIONS = Object.entries(ROLES).map(([value, label]) => ({ value, label }))

const PLACEMENTS = [
  { value: 'headless', label: 'In the background' },
  { value: 'tmux', label: 'In a terminal (tmux)' },
]

function AddMemberDialog({ team, swarm: given, close }: AddMemberProps & { close(): void }) {
  const [handle, setHandle] = useState('')
  const [role, setRole] = useState<string | null>('worker')
  const [agent, setAgent] = useState<string | null>(null)
  const [model, setModel] = useState('')
  const [charter, setCharter] = useState('')
  const [budget, setBudget] = useState<number | null>(null)
  const [placement, setPlacement] = useState<string | null>('headless')
  const [swarm, setSwarm] = useState<string | null>(given ?? null)
  const swarms = (useSwarms(team).data?.swarms ?? []).filter(({ ended_at }) => !ended_at)
  const models = useAsk('list_models', {}).data?.models ?? []
  const names = models.filter(each => each.agent === agent).flatMap(each => [each.alias ?? [], each.name].flat())
  const isScript = useRunsScripts()(agent)
  const inTerminal = placement === 'tmux'
  // A script costs nothing, and nobody measures what a client in a terminal does.
  const isMeasured = !isScript && !inTerminal
  const { run, busy } = useCommand('add_member', { done: close })
  const add = () =>
    run({
      team_id: team.id,
      handle: handle.trim(),
      role: role as Member['role'],
      agent,
      charter,
      placement: placement as 'headless' | 'tmux',
      ...(swarm && { swarm_id: swarm }),
      ...(!isScript && { model: model.trim() || null }),
      ...(isMeasured && { max_budget_usd: budget }),
    })
  return (
    <FormDialog
      title="Add a member"
      about={
        inTerminal
          ? 'Its own client starts at once in a window of tmux, in a worktree that it keeps. Mail is typed there.'
          : 'It starts when mail comes, in a worktree and a conversation that it keeps.'
      }
      act="Add"
      busy={busy}
      ready={!!handle.trim() && (!isScript || !!charter.trim())}
      close={close}
      submit={add}
    >
      <TextInput
        label="Name"
        hint="Letters, digits, - and _"
        value={handle}
        set={setHandle}
        placeholder="builder"
        required
      />
      <ChoiceInput label="Role" value={role} set={setRole} options={ROLE_OPTIONS} />
      {swarms.length > 0 && (
        <ChoiceInput
          label="Swarm"
          value={swarm}
          set={setSwarm}
          options={swarms.map(({ id, name }) => ({ value: id, label: plain(name) }))}
          none="None"
        />
      )}
      <AgentChooser value={agent} set={setAgent} none="Project default" />
      <ChoiceInput label="Runs" value={placement} set={setPlacement} options={PLACEMENTS} />
      {!isScript && (
        <TextInput label="Model" value={model} set={setModel} suggestions={[...new Set(names)]} placeholder="Default" />
      )}
      <LongTextInput
        label={isScript ? 'Script' : 'Charter'}
        hint={
          isScript && inTerminal
            ? 'It runs in the window, and is idle when it shows "> " and waits for a line.'
            : isScript
              ? 'Each wake runs it. Its mail is in the file $FLEET_MAIL_FILE, one message per line as JSON.'
              : 'Its standing instructions: what it is here for, and how it works.'
        }
        code={isScript}
        value={charter}
        set={setCharter}
        rows={6}
        required={isScript}
      />
      {isMeasured && (
        <NumberInput
          label="Budget ($)"
          hint="For all its sessions together."
          value={budget}
          set={setBudget}
          min={0}
          step="any"
          placeholder="No limit"
        />
      )}
    </FormDialog>
  )
}
