import { useState } from 'react'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { plain } from '../../kit/plain.ts'
import { tell } from '../../kit/toasts.tsx'
import { useCommand } from '../../live/data.ts'
import { type Grants, GrantsInput } from './grants.tsx'
import type { Person } from './person.ts'

interface ChangeProps {
  person: Person
  close(): void
}

const AFFECTED = ['list_people', 'list_tokens', 'list_devices'] as const

export function ChangeRoles({ person, close }: ChangeProps) {
  const [grants, setGrants] = useState<Grants>(person.grants)
  const { run, busy } = useCommand('set_roles', { affects: AFFECTED, done: close })
  return (
    <FormDialog
      title={`Roles of ${plain(person.name)}`}
      about="Open pages follow at once."
      act="Save"
      busy={busy}
      close={close}
      submit={() => run({ principal_id: person.id, grants })}
    >
      <GrantsInput grants={grants} set={setGrants} />
    </FormDialog>
  )
}

export function SignOut({ person, close }: ChangeProps) {
  const name = plain(person.name)
  const { run, busy } = useCommand('sign_out_person', {
    affects: AFFECTED,
    done: () => {
      close()
      tell({ text: `${name} is signed out everywhere` })
    },
  })
  return (
    <FormDialog
      title={`Sign ${name} out everywhere?`}
      about={
        person.kind === 'person'
          ? `Every browser and token of ${name} ends at once. The roles stay: a new link signs ${name} in again.`
          : `Every token of ${name} ends at once. The roles stay: make a new token to use it again.`
      }
      act="Sign out"
      busy={busy}
      close={close}
      submit={() => run({ principal_id: person.id })}
    />
  )
}

export function Remove({ person, close }: ChangeProps) {
  const name = plain(person.name)
  const { run, busy } = useCommand('remove_person', {
    affects: AFFECTED,
    done: () => {
      close()
      tell({ text: `${name} has no access any more` })
    },
  })
  return (
    <FormDialog
      title={`Remove ${name}?`}
      about={`${name} is signed out at once, everywhere, and every token ends. This cannot be undone; you can invite somebody of that name again. What ${name} did stays, with the name.`}
      act={`Remove ${name}`}
      tone="red"
      busy={busy}
      close={close}
      submit={() => run({ principal_id: person.id })}
    />
  )
}
