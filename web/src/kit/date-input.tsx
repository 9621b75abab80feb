import { Flex, Text, TextField } from '@radix-ui/themes'
import { useId } from 'react'

interface DateProps {
  label: string
  /** As 2026-11-18. */
  value: string | null
  set(value: string | null): void
}

export function DateInput({ label, value, set }: DateProps) {
  const id = useId()
  return (
    <Flex direction="column" gap="1">
      <Text as="label" size="2" weight="medium" htmlFor={id}>
        {label}
      </Text>
      <TextField.Root id={id} type="date" value={value ?? ''} onChange={event => set(event.target.value || null)} />
    </Flex>
  )
}
