import { Text } from '@radix-ui/themes'
import { CopyButton } from './copy.tsx'
import { plain } from './plain.ts'

interface OtherHostProps {
  host: string
  /** The number of sessions there. */
  count?: number
}

/** Explains why nothing happens to sessions of another machine, which look stuck here. */
export function OtherHost({ host, count = 1 }: OtherHostProps) {
  const command = `fleet host claim ${host}`
  return (
    <Text as="p" size="2" color="amber" highContrast className="other-host" role="note">
      On host {plain(host)}: {count === 1 ? '1 session' : `${count} sessions`}, left alone here. If that machine is gone
      for good: <code>{plain(command)}</code> <CopyButton text={command} label="Copy the command" />
    </Text>
  )
}
