import { Button, Callout, Dialog, Flex, Text } from '@radix-ui/themes'
import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { CopyBox } from '../../kit/copy.tsx'
import { exactTime } from '../../kit/words.ts'
import './people.css'

interface ShownOnceProps {
  title: string
  about: ReactNode
  text: string
  /** What it is, after “Copy”. */
  label: string
  expires: string | null
  close(): void
}

/** A link or a token. Only a click on Done closes it, because it cannot be shown again. */
export function ShownOnce({ title, about, text, label, expires, close }: ShownOnceProps) {
  return (
    <Dialog.Root open>
      <Dialog.Content
        maxWidth="560px"
        className="shown-once"
        onEscapeKeyDown={event => event.preventDefault()}
        onInteractOutside={event => event.preventDefault()}
      >
        <Dialog.Title size="4" mb="1">
          {title}
        </Dialog.Title>
        <Dialog.Description size="2" color="gray" mb="4">
          {about}
        </Dialog.Description>
        <CopyBox text={text} label={label} />
        <Text as="p" size="2" my="3">
          {expires ? `It works until ${exactTime(expires)}.` : 'It does not expire. Revoke it when it is not needed.'}
        </Text>
        <Callout.Root size="1" color="amber" highContrast>
          <Callout.Icon>
            <TriangleAlert size={16} />
          </Callout.Icon>
          <Callout.Text>Copy it now. It is not stored and cannot be shown again.</Callout.Text>
        </Callout.Root>
        <Flex justify="end" mt="4">
          <Button onClick={close}>Done</Button>
        </Flex>
      </Dialog.Content>
    </Dialog.Root>
  )
}
