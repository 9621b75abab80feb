import { Button, Card, Text } from '@radix-ui/themes'
import { LogOut } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { PERMISSIONS, type Permission } from '../../../../src/operations/permissions.ts'
import { useProjectNames } from '../../kit/choosers.tsx'
import { Devices } from '../../kit/devices.tsx'
import { Facts } from '../../kit/facts.tsx'
import { TextInput } from '../../kit/fields.tsx'
import { May } from '../../kit/may.tsx'
import { Page, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMe } from '../../live/me.ts'
import type { Me } from '../../live/rights.ts'
import { signOut } from '../../shell/sign-out.ts'
import { useGrantWords } from '../people/grants.tsx'
import { Tokens } from '../people/tokens.tsx'
import './account.css'

/** Who is signed in here, what they may do, and with what. */
export default function Account() {
  const me = useMe()
  if (!me) return <Page title="Account">…</Page>
  const isOwner = me.kind === 'owner'
  return (
    <Page
      title="Account"
      about={isOwner ? 'You are the owner of this fleet' : `You are ${plain(me.name)}`}
      actions={
        <Button variant="soft" color="gray" highContrast onClick={signOut}>
          <LogOut size={16} /> Sign out
        </Button>
      }
    >
      {isOwner ? <Owner /> : <Roles me={me} />}
      <Section title="Browsers">
        <Devices
          of={me.id}
          none={
            <Text size="2" color="gray">
              None is signed in.
            </Text>
          }
        />
      </Section>
      {me.kind === 'person' && (
        <Section title="Notifications">
          <Text as="p" size="2">
            <Link href="/settings/notifications">Choose</Link> what you are told, and how.
          </Text>
        </Section>
      )}
      {me.kind === 'person' && <Password />}
      {!isOwner && <Tokens />}
    </Page>
  )
}

/** Signs in further browsers, without a link. */
function Password() {
  const [password, setPassword] = useState('')
  const [current, setCurrent] = useState('')
  const { run, busy } = useCommand('set_password', { affects: [] })
  const save = async () => {
    const answer = await run({ password, ...(current && { current }) })
    if (!answer) return
    setPassword('')
    setCurrent('')
    tell({ text: 'Your password is set' })
  }
  return (
    <Section title="Password">
      <Card>
        <form
          className="account-password"
          onSubmit={event => {
            event.preventDefault()
            save()
          }}
        >
          <TextInput
            label="New password"
            hint="At least 10 characters. With your name, it signs in further browsers."
            type="password"
            value={password}
            set={setPassword}
            required
          />
          <TextInput
            label="Current password"
            hint="If you have one."
            type="password"
            value={current}
            set={setCurrent}
          />
          <Button type="submit" loading={busy} disabled={!password}>
            Set password
          </Button>
        </form>
      </Card>
    </Section>
  )
}

const Owner = () => (
  <Card mb="5">
    <Text as="p" size="2" mt="0" mb="2">
      You may do everything. Whoever can read the files of this fleet’s home is its owner, so the terminal on that
      machine needs no sign-in.
    </Text>
    <Text as="p" size="2" mb="0">
      To share the fleet, <Link href="/people">invite people</Link>. For scripts on other machines, add a service there
      and make it a token.
    </Text>
  </Card>
)

function Roles({ me }: { me: Me }) {
  const words = useGrantWords()
  const roles = useAsk('list_roles', {}).data?.roles ?? []
  return (
    <>
      <Section title="Roles">
        <Facts
          of={Object.fromEntries(me.grants.map(grant => [words(grant), roles.find(r => r.role === grant.role)?.about]))}
        />
        <May use="people.manage">
          <Text as="p" size="2" mb="0">
            You may also <Link href="/people">manage people</Link>.
          </Text>
        </May>
      </Section>
      <Section title="What you may do">
        <Permissions me={me} />
      </Section>
    </>
  )
}

/** What is allowed in the same places stands together. */
function Permissions({ me }: { me: Me }) {
  const projectName = useProjectNames()
  const placeOf = (projects: readonly string[] | null): string =>
    projects === null
      ? 'In the whole fleet'
      : `In ${projects.map(id => plain(projectName(id) || 'a project that is gone')).join(', ')}`
  // One's own account is in no project.
  const rest = me.permissions.filter(({ permission }) => permission !== 'self.manage')
  return [...Map.groupBy(rest, ({ projects }) => placeOf(projects))].map(([place, allowed]) => (
    <div key={place}>
      <Text as="div" size="2" weight="medium" mb="1">
        {place}
      </Text>
      <ul className="may-do">
        {allowed.map(({ permission }) => (
          <li key={permission}>{PERMISSIONS[permission as Permission] ?? permission}</li>
        ))}
      </ul>
    </div>
  ))
}
