import { DropdownMenu, IconButton } from '@radix-ui/themes'
import { Ellipsis, Mail, Pause, Play, ScrollText, UserMinus } from 'lucide-react'
import { useState } from 'react'
import { useRunsScripts } from '../../kit/choosers.tsx'
import { TextInput } from '../../kit/fields.tsx'
import { Foreign } from '../../kit/foreign.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { May } from '../../kit/may.tsx'
import { Answer } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import type { Member, Team } from './words.ts'

interface MemberMenuProps {
  team: Team
  member: Member
  write(handle: string): void
}

/** What can be done about a member. */
export function MemberMenu({ team, member, write }: MemberMenuProps) {
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
