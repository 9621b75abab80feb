import { Button, Dialog, Flex } from '@radix-ui/themes'
import type { ReactNode } from 'react'
import { useFocusBack } from './focus-back.ts'
import { plain } from './plain.ts'

interface FormDialogProps {
  title: string
  about?: string
  /** The label of the button that submits. */
  act: string
  /** It takes something away. */
  tone?: 'red'
  busy?: boolean
  ready?: boolean
  close(): void
  submit(): void
  children?: ReactNode
}

/** A dialog with a few fields and one action. */
export function FormDialog({
  title,
  about,
  act,
  tone,
  busy = false,
  ready = true,
  close,
  submit,
  children,
}: FormDialogProps) {
  const focusBack = useFocusBack()
  return (
    <Dialog.Root open onOpenChange={open => open || close()}>
      <Dialog.Content maxWidth="560px" onCloseAutoFocus={focusBack} {...(!about && { 'aria-describedby': undefined })}>
        <Dialog.Title size="4" mb="1">
          {title}
        </Dialog.Title>
        {about && (
          <Dialog.Description size="2" color="gray">
            {plain(about)}
          </Dialog.Description>
        )}
        <form
          onSubmit={event => {
            event.preventDefault()
            if (ready && !busy) submit()
          }}
        >
          <Flex direction="column" gap="4" mt="4">
            {children}
            <Flex gap="2" justify="end">
              <Button type="button" variant="soft" color="gray" highContrast onClick={close}>
                Cancel
              </Button>
              <Button type="submit" color={tone} highContrast={tone === 'red'} disabled={!ready} loading={busy}>
                {act}
              </Button>
            </Flex>
          </Flex>
        </form>
      </Dialog.Content>
    </Dialog.Root>
  )
}
