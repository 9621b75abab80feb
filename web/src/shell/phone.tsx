import { Button, Callout, Dialog, Flex, Select, Text } from '@radix-ui/themes'
import { Check, TriangleAlert } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import type { Output } from '../api/client.ts'
import { CopyBox } from '../kit/copy.tsx'
import { Devices } from '../kit/devices.tsx'
import { useFocusBack } from '../kit/focus-back.ts'
import { Lines } from '../kit/page.tsx'
import { plain } from '../kit/plain.ts'
import { Time } from '../kit/time.tsx'
import { useAsk, useCommand } from '../live/data.ts'
import { useMe } from '../live/me.ts'
import './phone.css'

type Way = Output<'continue_on_phone'>

/** Lets a phone sign in: a code to scan, or how to make one possible, and the devices that are signed in. */
export default function Phone({ close }: { close(): void }) {
  const focusBack = useFocusBack()
  const { run, busy } = useCommand('continue_on_phone')
  const me = useMe()
  const [way, setWay] = useState<Way>()
  const makeLink = useCallback((address?: string) => run({ address }).then(setWay), [run])
  // biome-ignore lint/correctness/useExhaustiveDependencies: one link each time this is opened
  useEffect(() => void makeLink(), [])
  return (
    <Dialog.Root open onOpenChange={open => open || close()}>
      <Dialog.Content maxWidth="520px" onCloseAutoFocus={focusBack}>
        <Dialog.Title size="4" mb="1">
          Continue on phone
        </Dialog.Title>
        <Dialog.Description size="2" color="gray" mb="4">
          {way?.link === null
            ? 'The server accepts connections from this machine only, so a phone cannot reach it. To change that safely:'
            : 'Scan this code with the camera of your phone. It signs in one device, once.'}
        </Dialog.Description>
        {!way && busy && <Lines rows={1} height={280} />}
        {way?.link && <Scan way={way} link={way.link} choose={makeLink} />}
        {way?.link === null && <Advice advice={way.advice} />}
        <Devices
          of={me?.id ?? null}
          title={
            <Text as="div" size="2" weight="medium" mt="5" mb="1">
              Signed in
            </Text>
          }
        />
        <Flex justify="end" mt="4">
          <Button variant="soft" color="gray" highContrast onClick={close}>
            Close
          </Button>
        </Flex>
      </Dialog.Content>
    </Dialog.Root>
  )
}

interface ScanProps {
  way: Way
  link: NonNullable<Way['link']>
  choose(address: string): void
}

function Scan({ way: { addresses }, link, choose }: ScanProps) {
  const address = addresses.find(each => link.url.startsWith(each)) ?? ''
  const arrived = useAsk('list_devices', {}).data?.devices.find(({ id }) => id === link.device_id)
  if (arrived)
    return (
      <Callout.Root color="green" highContrast role="status">
        <Callout.Icon>
          <Check size={16} />
        </Callout.Icon>
        <Callout.Text>{plain(arrived.name)} is signed in. Continue there.</Callout.Text>
      </Callout.Root>
    )
  return (
    <Flex direction="column" gap="3" className="phone-way">
      <QrCode modules={link.qr.modules} />
      <Text size="1" color="gray" align="center">
        Expires <Time at={link.expires_at} />
      </Text>
      {!link.encrypted && (
        <Callout.Root color="amber" highContrast size="1">
          <Callout.Icon>
            <TriangleAlert size={16} />
          </Callout.Icon>
          <Callout.Text>
            This address is not encrypted: others on the network can read the traffic. Use it only inside a VPN.
          </Callout.Text>
        </Callout.Root>
      )}
      {addresses.length > 1 && (
        <Select.Root value={address} onValueChange={choose}>
          <Select.Trigger aria-label="Address for the phone" />
          <Select.Content position="popper">
            {addresses.map(each => (
              <Select.Item key={each} value={each}>
                {each}
              </Select.Item>
            ))}
          </Select.Content>
        </Select.Root>
      )}
      <CopyBox text={link.url} label="the link" />
    </Flex>
  )
}

/** Dark on light even in dark mode, because many cameras cannot read it otherwise. */
function QrCode({ modules }: { modules: boolean[][] }) {
  const size = modules.length
  const path = modules.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg className="qr" viewBox={`-2 -2 ${size + 4} ${size + 4}`} role="img" aria-label="Code to scan with the phone">
      <rect x="-2" y="-2" width={size + 4} height={size + 4} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

const Advice = ({ advice }: { advice: Way['advice'] }) => (
  <Flex direction="column" gap="3" className="phone-way">
    {advice.map(({ how, command }) => (
      <div key={how}>
        <Text as="p" size="2" mb="1" mt="0">
          {how}
        </Text>
        <CopyBox text={command} label="the command" />
      </div>
    ))}
  </Flex>
)
