import { Badge, Button, Text } from '@radix-ui/themes'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { Output } from '../../api/client.ts'
import '../../kit/devices.css'
import { ChoiceInput, SwitchInput, TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Answer, Lines, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { FIRST_GRANT, type Grants, GrantsInput, useGrantWords } from './grants.tsx'
import { ShownOnce } from './shown-once.tsx'

type Token = Output<'list_tokens'>['tokens'][number]

interface TokensProps {
  /** Absent: one's own. */
  of?: { id: string; name: string }
}

/** Tokens for scripts and other machines. */
export function Tokens({ of }: TokensProps) {
  const [making, setMaking] = useState(false)
  const tokens = useAsk('list_tokens', { principal_id: of?.id })
  return (
    <Section
      title="Tokens"
      actions={
        <Button size="1" variant="soft" highContrast onClick={() => setMaking(true)}>
          <Plus size={14} /> Make a token
        </Button>
      }
    >
      <Answer of={tokens} loading={<Lines rows={2} height={36} />}>
        {({ tokens: list }) => {
          const valid = list.filter(token => token.valid)
          if (!valid.length)
            return (
              <Text as="p" size="2" color="gray" mt="0">
                None. A token lets a script or another machine use this fleet
                {of ? ` as ${plain(of.name)}` : ' as you'}.
              </Text>
            )
          return (
            <ul className="devices" aria-label="Tokens">
              {valid.toReversed().map(token => (
                <Row key={token.id} token={token} />
              ))}
            </ul>
          )
        }}
      </Answer>
      {making && <MakeToken of={of} close={() => setMaking(false)} />}
    </Section>
  )
}

function Row({ token: { id, name, grants, created_at, last_used_at, expires_at } }: { token: Token }) {
  const { run, busy } = useCommand('revoke_token', { affects: ['list_tokens', 'list_people'] })
  const words = useGrantWords()
  return (
    <li>
      <Text size="2" className="token-facts">
        {plain(name)}{' '}
        {grants && (
          <Badge color="gray" highContrast>
            only {grants.map(words).join(', ') || 'nothing'}
          </Badge>
        )}
        <Text as="div" size="1" color="gray">
          made <Time at={created_at} /> · {last_used_at ? <>used {<Time at={last_used_at} />}</> : 'never used'} ·{' '}
          {expires_at ? <>expires {<Time at={expires_at} />}</> : 'does not expire'}
        </Text>
      </Text>
      <Button
        size="1"
        variant="soft"
        color="red"
        highContrast
        disabled={busy}
        aria-label={`Revoke ${plain(name)}`}
        onClick={() => run({ token_id: id })}
      >
        Revoke
      </Button>
    </li>
  )
}

const DAY_MS = 86_400_000
const LASTS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
]

export function MakeToken({ of, close }: TokensProps & { close(): void }) {
  const [name, setName] = useState('')
  const [days, setDays] = useState<string | null>('90')
  const [isNarrow, setNarrow] = useState(false)
  const [grants, setGrants] = useState<Grants>([FIRST_GRANT])
  const [made, setMade] = useState<Output<'make_token'>>()
  const { run, busy } = useCommand('make_token', { affects: ['list_tokens'], done: setMade })
  if (made)
    return (
      <ShownOnce
        title={`Token “${made.details.name}”`}
        about="Whoever has it can use the fleet with its roles."
        text={made.token}
        label="the token"
        expires={made.details.expires_at}
        close={close}
      />
    )
  const submit = () =>
    run({
      principal_id: of?.id,
      name: name.trim(),
      grants: isNarrow ? grants : null,
      expires_at: days && new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
    })
  return (
    <FormDialog
      title={of ? `Make a token for ${of.name}` : 'Make a token'}
      act="Make token"
      busy={busy}
      ready={!!name.trim()}
      close={close}
      submit={submit}
    >
      <TextInput label="Name" hint="Where it is used, such as nightly build" value={name} set={setName} />
      <ChoiceInput label="Expires after" value={days} set={setDays} options={LASTS} none="Never" />
      <SwitchInput
        label="Fewer roles"
        hint={`Less than ${of ? plain(of.name) : 'you'} may do`}
        value={isNarrow}
        set={setNarrow}
      />
      {isNarrow && <GrantsInput grants={grants} set={setGrants} />}
    </FormDialog>
  )
}
