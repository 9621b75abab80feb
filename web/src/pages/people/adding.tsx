import { useState } from 'react'
import type { Output } from '../../api/client.ts'
import { TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { plain } from '../../kit/plain.ts'
import { useCommand } from '../../live/data.ts'
import { FIRST_GRANT, type Grants, GrantsInput } from './grants.tsx'
import { ShownOnce } from './shown-once.tsx'
import { MakeToken } from './tokens.tsx'

export type Invited = Output<'invite_person'>

/** The link that signs a person's browser in. */
export function InvitationLink({ person, invitation, close }: Invited & { close(): void }) {
  if (!invitation) return null
  return (
    <ShownOnce
      title={`Link for ${plain(person.name)}`}
      about={`Send it to ${plain(person.name)} yourself. It signs one browser in, once; whoever opens it first is signed in.`}
      text={invitation.url}
      label="the link"
      expires={invitation.expires_at}
      close={close}
    />
  )
}

export function InvitePerson({ close }: { close(): void }) {
  const [name, setName] = useState('')
  const [grants, setGrants] = useState<Grants>([FIRST_GRANT])
  const [invited, setInvited] = useState<Invited>()
  const { run, busy } = useCommand('invite_person', { affects: ['list_people', 'list_names'], done: setInvited })
  if (invited) return <InvitationLink {...invited} close={close} />
  return (
    <FormDialog
      title="Invite a person"
      about="You get a link to send to them. They see only what their roles reach."
      act="Invite"
      busy={busy}
      ready={!!name.trim()}
      close={close}
      submit={() => run({ name: name.trim(), grants })}
    >
      <TextInput label="Name" value={name} set={setName} placeholder="Ada" />
      <GrantsInput grants={grants} set={setGrants} />
    </FormDialog>
  )
}

export function AddService({ close }: { close(): void }) {
  const [name, setName] = useState('')
  const [grants, setGrants] = useState<Grants>([FIRST_GRANT])
  const [added, setAdded] = useState<Output<'add_service'>['service']>()
  const { run, busy } = useCommand('add_service', {
    affects: ['list_people', 'list_names'],
    done: ({ service }) => setAdded(service),
  })
  if (added) return <MakeToken of={added} close={close} />
  return (
    <FormDialog
      title="Add a service"
      about="A named account for scripts, such as a nightly build. Next you make its token."
      act="Add"
      busy={busy}
      ready={!!name.trim()}
      close={close}
      submit={() => run({ name: name.trim(), grants })}
    >
      <TextInput label="Name" value={name} set={setName} placeholder="nightly" />
      <GrantsInput grants={grants} set={setGrants} />
    </FormDialog>
  )
}
