import { Badge, Button, DropdownMenu, Flex, IconButton, Text } from '@radix-ui/themes'
import { Ellipsis, Mail, Pause, Play, Plus, ScrollText, UserMinus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { AgentChooser, useRunsScripts } from '../../kit/choosers.tsx'
import { ChoiceInput, LongTextInput, NumberInput, TextInput } from '../../kit/fields.tsx'
import { Foreign } from '../../kit/foreign.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { May } from '../../kit/may.tsx'
import { Answer } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Dot } from '../../kit/status.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { type Member, ROLES, STATES, type Team } from './words.ts'

interface MembersProps {
  team: Team
  members: readonly Member[]
  myself: Member | undefined
  write(handle: string): void
}

export function Members({ team, members, myself, write }: MembersProps) {
  return (
    <>
      <ul className="members" aria-label="Members">
        {members.map(member => (
          <li key={member.id}>
            <MemberCard team={team} member={member} isMe={member.id === myself?.id} write={write} />
          </li>
        ))}
      </ul>
      {team.agents === 0 && (
        <Text as="p" size="2" color="gray" mt="3">
          No agents yet. Add one with a charter: what it is here for. It starts when somebody writes to it.
        </Text>
      )}
    </>
  )
}

interface MemberCardProps {
  team: Team
  member: Member
  isMe: boolean
  write(handle: string): void
}

function MemberCard({ team, member, isMe, write }: MemberCardProps) {
  const { handle, role, person, state, waits_for, unread, agent, model, session_id, mission_id, labels } = member
  const { word, tone } = STATES[state]
  const runs = person === null ? [agent ?? "the project's agent", model].filter(Boolean).join(', ') : 'Person'
  return (
    <>
      <Flex gap="2" align="center" wrap="wrap">
        <Text weight="medium" className="break">
          {plain(handle)}
        </Text>
        {isMe && <Text size="1">(you)</Text>}
        {person === null && (
          <Badge color={tone} highContrast className="status">
            <Dot tone={tone} alive={state === 'working'} />
            {word}
          </Badge>
        )}
        {unread > 0 && (
          <Badge color="iris" highContrast>
            {unread} unread
          </Badge>
        )}
        <span className="member-menu">{!isMe && <MemberMenu team={team} member={member} write={write} />}</span>
      </Flex>
      <Text as="div" size="1" color="gray">
        {[ROLES[role], plain(runs), ...labels.map(plain)].join(' · ')}
      </Text>
      {waits_for && state !== 'idle' && (
        <Text as="div" size="2" className="break">
          {plain(waits_for)}
        </Text>
      )}
      {mission_id && (
        <Flex gap="3" mt="1">
          {session_id && (
            <Text size="2">
              <Link href={`/sessions/${session_id}`}>Transcript</Link>
            </Text>
          )}
          <Text size="2">
            <Link href={`/missions/${mission_id}`}>Mission</Link>
          </Text>
        </Flex>
      )}
    </>
  )
}

function MemberMenu({ team, member, write }: Omit<MemberCardProps, 'isMe'>) {
  const [open, setOpen] = useState<'charter' | 'dismiss'>()
  const change = useCommand('change_member')
  const { handle, paused, person } = member
  const isAgent = person === null
  const close = () => setOpen(undefined)
  return (
    <>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger>
          <IconButton size="1" variant="ghost" color="gray" highContrast aria-label={`Actions for ${handle}`}>
            <Ellipsis size={16} />
          </IconButton>
        </DropdownMenu.Trigger>
        {/* The focus goes where the chosen action puts it. */}
        <DropdownMenu.Content align="end">
          <May use="send_mail" project={team.project_id}>
            <DropdownMenu.Item onSelect={() => setTimeout(() => write(handle))}>
              <Mail size={14} /> Write to {plain(handle)}
            </DropdownMenu.Item>
          </May>
          {isAgent && (
            <DropdownMenu.Item onSelect={() => setOpen('charter')}>
              <ScrollText size={14} /> Charter
            </DropdownMenu.Item>
          )}
          <May use="change_member" project={team.project_id}>
            {isAgent && (
              <DropdownMenu.Item onSelect={() => change.run({ team_id: team.id, member: member.id, paused: !paused })}>
                {paused ? <Play size={14} /> : <Pause size={14} />} {paused ? 'Unpause' : 'Pause'}
              </DropdownMenu.Item>
            )}
            <DropdownMenu.Separator />
            <DropdownMenu.Item color="red" onSelect={() => setOpen('dismiss')}>
              <UserMinus size={14} /> Dismiss…
            </DropdownMenu.Item>
          </May>
        </DropdownMenu.Content>
      </DropdownMenu.Root>
      {open === 'charter' && <Charter team={team} member={member} close={close} />}
      {open === 'dismiss' && <Dismiss team={team} member={member} close={close} />}
    </>
  )
}

interface DialogProps {
  team: Team
  member: Member
  close(): void
}

function Charter({ team, member: { id, handle, agent }, close }: DialogProps) {
  const detail = useAsk('get_member', { team_id: team.id, member: id })
  const isScript = useRunsScripts()(agent)
  return (
    <FormDialog title={`Charter of ${handle}`} act="Done" close={close} submit={close}>
      <Answer of={detail}>{({ charter }) => <Foreign text={charter} code={isScript} />}</Answer>
    </FormDialog>
  )
}

function Dismiss({ team, member: { id, handle, person, state }, close }: DialogProps) {
  const [reason, setReason] = useState('')
  const { run, busy } = useCommand('dismiss_member', { done: close })
  const stops = state === 'working' ? 'Its session stops. ' : ''
  return (
    <FormDialog
      title={`Dismiss ${handle}?`}
      about={
        person === null
          ? `${stops}Its work is kept, and its unread mail goes back to the senders. The name can be used again.`
          : 'They are no longer a member, until they write to the team again.'
      }
      act="Dismiss"
      tone="red"
      busy={busy}
      close={close}
      submit={() => run({ team_id: team.id, member: id, reason: reason.trim() || undefined })}
    >
      <TextInput label="Reason (optional)" value={reason} set={setReason} />
    </FormDialog>
  )
}

/** A button with its dialog. */
export function AddMember({ team }: { team: Team }) {
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
      {open && <AddMemberDialog team={team} close={() => setOpen(false)} />}
    </>
  )
}

const ROLE_OPTIONS = Object.entries(ROLES).map(([value, label]) => ({ value, label }))

function AddMemberDialog({ team, close }: Omit<DialogProps, 'member'>) {
  const [handle, setHandle] = useState('')
  const [role, setRole] = useState<string | null>('worker')
  const [agent, setAgent] = useState<string | null>(null)
  const [model, setModel] = useState('')
  const [charter, setCharter] = useState('')
  const [budget, setBudget] = useState<number | null>(null)
  const models = useAsk('list_models', {}).data?.models ?? []
  const names = models.filter(each => each.agent === agent).flatMap(each => [each.alias ?? [], each.name].flat())
  const isScript = useRunsScripts()(agent)
  const { run, busy } = useCommand('add_member', { done: close })
  const add = () =>
    run({
      team_id: team.id,
      handle: handle.trim(),
      role: role as Member['role'],
      agent,
      charter,
      ...(!isScript && { model: model.trim() || null, max_budget_usd: budget }),
    })
  return (
    <FormDialog
      title="Add a member"
      about="It starts when mail comes, in a worktree and a conversation that it keeps."
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
      <AgentChooser value={agent} set={setAgent} none="Project default" />
      {!isScript && (
        <TextInput label="Model" value={model} set={setModel} suggestions={[...new Set(names)]} placeholder="Default" />
      )}
      <LongTextInput
        label={isScript ? 'Script' : 'Charter'}
        hint={
          isScript
            ? 'Each wake runs it. Its mail is in the file $FLEET_MAIL_FILE, one message per line as JSON.'
            : 'Its standing instructions: what it is here for, and how it works.'
        }
        code={isScript}
        value={charter}
        set={setCharter}
        rows={6}
        required={isScript}
      />
      {!isScript && (
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
