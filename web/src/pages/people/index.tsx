import { Badge, Button, DropdownMenu, IconButton, Table } from '@radix-ui/themes'
import { Bot, Ellipsis, Plus, UserPlus, Users } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { Answer, Empty, Page } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { AddService, InvitationLink, type Invited, InvitePerson } from './adding.tsx'
import { ChangeRoles, Remove, SignOut } from './changing.tsx'
import { Details } from './details.tsx'
import { RoleList } from './grants.tsx'
import './people.css'
import type { Person } from './person.ts'

/** No event tells that a token was used. */
const LOOK_MS = 30_000

type Open =
  | { what: 'invite' }
  | { what: 'service' }
  | { what: 'details' | 'roles' | 'sign-out' | 'remove'; id: string }
  | { what: 'link'; invited: Invited }

/** Who may use this fleet besides its owner. */
export default function People() {
  const people = useAsk('list_people', {}, { everyMs: () => LOOK_MS })
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const invite = (
    <Button onClick={() => setOpen({ what: 'invite' })}>
      <UserPlus size={16} /> Invite a person
    </Button>
  )
  return (
    <Page
      title="People"
      about="Who may use this fleet besides its owner, and what they may do"
      actions={
        <>
          {invite}
          <Button variant="soft" color="gray" highContrast asChild>
            <Link href="/audit">Audit log</Link>
          </Button>
          <Button variant="soft" highContrast onClick={() => setOpen({ what: 'service' })}>
            <Plus size={16} /> Add a service
          </Button>
        </>
      }
    >
      <Answer of={people}>
        {({ people: list }) => (
          <>
            {list.length === 0 ? (
              <Empty icon={Users} title="Only you" action={invite}>
                Invite somebody with a role in the whole fleet or in one project. They see only what their roles reach.
                A service is an account for scripts.
              </Empty>
            ) : (
              <PeopleTable people={list} open={setOpen} />
            )}
            {open && <Opened open={open} people={list} close={close} />}
          </>
        )}
      </Answer>
    </Page>
  )
}

function PeopleTable({ people, open }: { people: readonly Person[]; open(open: Open): void }) {
  return (
    <Table.Root variant="surface">
      <Table.Header>
        <Table.Row>
          <Table.ColumnHeaderCell>Name</Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell>Roles</Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell className="person-since">Since</Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell>Last use</Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell>
            <span className="visually-hidden">Actions</span>
          </Table.ColumnHeaderCell>
        </Table.Row>
      </Table.Header>
      <Table.Body>
        {people.map(person => (
          <Row key={person.id} person={person} open={open} />
        ))}
      </Table.Body>
    </Table.Root>
  )
}

function Row({ person, open }: { person: Person; open(open: Open): void }) {
  const { id, kind, name, grants, created_at, last_used_at } = person
  const again = useCommand('invite_again', { done: invited => open({ what: 'link', invited }) })
  return (
    <Table.Row align="center">
      <Table.RowHeaderCell className="person-name">
        <Button variant="ghost" highContrast onClick={() => open({ what: 'details', id })}>
          {plain(name)}
        </Button>{' '}
        {kind === 'service' && (
          <Badge color="gray" highContrast>
            <Bot size={12} aria-hidden /> service
          </Badge>
        )}
      </Table.RowHeaderCell>
      <Table.Cell>
        <RoleList grants={grants} />
      </Table.Cell>
      <Table.Cell className="person-since">
        <Time at={created_at} />
      </Table.Cell>
      <Table.Cell>{last_used_at ? <Time at={last_used_at} /> : 'never'}</Table.Cell>
      <Table.Cell justify="end">
        <DropdownMenu.Root>
          <DropdownMenu.Trigger>
            <IconButton variant="ghost" color="gray" highContrast aria-label={`Actions for ${plain(name)}`}>
              <Ellipsis size={16} />
            </IconButton>
          </DropdownMenu.Trigger>
          <DropdownMenu.Content align="end">
            <DropdownMenu.Item onSelect={() => open({ what: 'details', id })}>Tokens and details…</DropdownMenu.Item>
            <DropdownMenu.Item onSelect={() => open({ what: 'roles', id })}>Change roles…</DropdownMenu.Item>
            {kind === 'person' && (
              <DropdownMenu.Item onSelect={() => again.run({ principal_id: id })}>New sign-in link…</DropdownMenu.Item>
            )}
            <DropdownMenu.Separator />
            <DropdownMenu.Item onSelect={() => open({ what: 'sign-out', id })}>Sign out everywhere…</DropdownMenu.Item>
            <DropdownMenu.Item color="red" onSelect={() => open({ what: 'remove', id })}>
              Remove…
            </DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Root>
      </Table.Cell>
    </Table.Row>
  )
}

function Opened({ open, people, close }: { open: Open; people: readonly Person[]; close(): void }) {
  if (open.what === 'invite') return <InvitePerson close={close} />
  if (open.what === 'service') return <AddService close={close} />
  if (open.what === 'link') return <InvitationLink {...open.invited} close={close} />
  const person = people.find(({ id }) => id === open.id)
  if (!person) return null
  const View = { details: Details, roles: ChangeRoles, 'sign-out': SignOut, remove: Remove }[open.what]
  return <View person={person} close={close} />
}
