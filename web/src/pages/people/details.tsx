import { Button, Dialog, Flex, Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import { Devices } from '../../kit/devices.tsx'
import { useFocusBack } from '../../kit/focus-back.ts'
import { Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useMe } from '../../live/me.ts'
import { RoleList } from './grants.tsx'
import type { Person } from './person.ts'
import { Tokens } from './tokens.tsx'

/** What somebody has: roles, browsers, tokens. */
export function Details({ person, close }: { person: Person; close(): void }) {
  const focusBack = useFocusBack()
  const { id, kind, name, grants, created_at } = person
  // Only the owner of the home sees the browsers of others.
  const isOwner = useMe()?.kind === 'owner'
  return (
    <Dialog.Root open onOpenChange={open => open || close()}>
      <Dialog.Content maxWidth="600px" onCloseAutoFocus={focusBack}>
        <Dialog.Title size="4" mb="1">
          {plain(name)}
        </Dialog.Title>
        <Dialog.Description size="2" color="gray" mb="4">
          {kind === 'person' ? 'A person' : 'A service'}, since <Time at={created_at} />.{' '}
          <Link href={`/activity?by=${kind}:${id}`}>What {plain(name)} did</Link>
        </Dialog.Description>
        <Section title="Roles">
          <RoleList grants={grants} />
        </Section>
        {kind === 'person' && isOwner && (
          <Section title="Browsers">
            <Devices
              of={id}
              none={
                <Text size="2" color="gray">
                  None is signed in.
                </Text>
              }
            />
          </Section>
        )}
        <Tokens of={person} />
        <Flex justify="end" mt="4">
          <Button variant="soft" color="gray" highContrast onClick={close}>
            Close
          </Button>
        </Flex>
      </Dialog.Content>
    </Dialog.Root>
  )
}
