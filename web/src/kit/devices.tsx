import { Badge, Button, Text } from '@radix-ui/themes'
import type { ReactNode } from 'react'
import { useAsk, useCommand } from '../live/data.ts'
import './devices.css'
import { Answer } from './page.tsx'
import { plain } from './plain.ts'
import { Time } from './time.tsx'

interface DevicesProps {
  /** The id of a person; null: the owner of the home. */
  of: string | null
  title?: ReactNode
  /** Shown instead if there are none. */
  none?: ReactNode
}

/** The browsers in which somebody is signed in. */
export function Devices({ of, title, none = null }: DevicesProps) {
  const devices = useAsk('list_devices', {})
  const { run, busy } = useCommand('sign_out_device', { affects: ['list_devices'] })
  return (
    <Answer of={devices} loading={null}>
      {({ devices: all }) => {
        const own = all.filter(({ principal_id }) => principal_id === of)
        if (own.length === 0) return none
        return (
          <>
            {title}
            <ul className="devices">
              {own.map(({ id, name, this_one, signed_in_at }) => (
                <li key={id}>
                  <Text size="2" truncate>
                    {plain(name)} {this_one && <Badge highContrast>this one</Badge>}
                    <Text as="div" size="1" color="gray">
                      since <Time at={signed_in_at} />
                    </Text>
                  </Text>
                  <Button
                    size="1"
                    variant="soft"
                    color="red"
                    highContrast
                    disabled={busy}
                    aria-label={`Sign out ${plain(name)}`}
                    onClick={() => run({ device_id: id })}
                  >
                    Sign out
                  </Button>
                </li>
              ))}
            </ul>
          </>
        )
      }}
    </Answer>
  )
}
