import { Button, DropdownMenu } from '@radix-ui/themes'
import { Ellipsis, Pause, Play, Settings, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useDraft } from '../../kit/draft.ts'
import { ChoiceInput, LongTextInput, NumberInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { May } from '../../kit/may.tsx'
import { plural } from '../../kit/words.ts'
import { useCommand } from '../../live/data.ts'
import type { Team } from './words.ts'

/** Pauses, changes and deletes a team. */
export function TeamControls({ team }: { team: Team }) {
  const [open, setOpen] = useState<'change' | 'delete'>()
  const change = useCommand('change_team')
  const { id, paused, project_id } = team
  const close = () => setOpen(undefined)
  return (
    <May use="change_team" project={project_id}>
      <Button
        variant="soft"
        color={paused ? undefined : 'gray'}
        highContrast
        loading={change.busy}
        onClick={() => change.run({ team_id: id, paused: !paused })}
      >
        {paused ? <Play size={14} /> : <Pause size={14} />}
        {paused ? 'Unpause' : 'Pause'}
      </Button>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger>
          <Button variant="soft" color="gray" highContrast aria-label="Actions for the team">
            <Ellipsis size={16} />
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Content align="end">
          <DropdownMenu.Item onSelect={() => setOpen('change')}>
            <Settings size={14} /> Settings…
          </DropdownMenu.Item>
          <DropdownMenu.Separator />
          <DropdownMenu.Item color="red" onSelect={() => setOpen('delete')}>
            <Trash2 size={14} /> Delete…
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Root>
      {open === 'change' && <ChangeTeam team={team} close={close} />}
      {open === 'delete' && <DeleteTeam team={team} close={close} />}
    </May>
  )
}

interface DialogProps {
  team: Team
  close(): void
}

function ChangeTeam({ team: { id, description, max_members, max_budget_usd, spawning }, close }: DialogProps) {
  const { value, set, changes, isChanged } = useDraft<{
    description: string
    max_members: number | null
    max_budget_usd: number | null
    spawning: string | null
  }>({ description, max_members, max_budget_usd, spawning })
  const { run, busy } = useCommand('change_team', { done: close })
  const save = () =>
    run({
      team_id: id,
      ...changes,
      spawning: changes.spawning ? (changes.spawning as Team['spawning']) : undefined,
      max_members: 'max_members' in changes ? (changes.max_members ?? undefined) : undefined,
    })
  return (
    <FormDialog title="Team settings" act="Save" busy={busy} ready={isChanged} close={close} submit={save}>
      <LongTextInput label="Description" value={value.description} set={set('description')} rows={3} />
      <NumberInput label="Maximum of agents" value={value.max_members} set={set('max_members')} min={1} max={60} />
      <NumberInput
        label="Budget ($)"
        hint="For all members together. Once it is spent, mail wakes nobody."
        value={value.max_budget_usd}
        set={set('max_budget_usd')}
        min={0}
        step="any"
        placeholder="No limit"
      />
      <ChoiceInput
        label="Requests for members"
        hint="A request for a lead or a coordinator always needs a decision."
        value={value.spawning}
        set={set('spawning')}
        options={[
          { value: 'ask', label: 'A lead or a person decides' },
          { value: 'grant', label: 'Grant without asking' },
        ]}
      />
    </FormDialog>
  )
}

function DeleteTeam({ team: { id, name, agents }, close }: DialogProps) {
  const [, go] = useLocation()
  const { run, busy } = useCommand('delete_team', { affects: ['list_teams'], done: () => go('/teams') })
  const first = agents ? `Its ${plural(agents, 'agent is', 'agents are')} dismissed first: their sessions stop. ` : ''
  return (
    <FormDialog
      title={`Delete the team ${name}?`}
      about={`${first}Its mail and the work of its members are kept.`}
      act="Delete"
      tone="red"
      busy={busy}
      close={close}
      submit={() => run({ team_id: id, dismiss: agents > 0 })}
    />
  )
}
