import { ChoiceInput } from '../../kit/fields.tsx'
import { plain } from '../../kit/plain.ts'
import { useAsk } from '../../live/data.ts'
import { useMe } from '../../live/me.ts'

const OTHERS = [
  { value: 'session', label: 'Agents' },
  { value: 'fleet', label: 'The fleet itself' },
  { value: 'plugin', label: 'Plugins' },
]

interface ByWhomProps {
  value: string | null
  set(value: string | null): void
  /** Also while there is only one person. */
  always?: boolean
}

/** Whose doings to show. */
export function ByWhom({ value, set, always = false }: ByWhomProps) {
  const me = useMe()
  const names = useAsk('list_names', {}).data?.names ?? []
  if (!names.length && !value && !always) return null
  const isMe = (id: string | null) => (me?.kind === 'owner' ? id === null : id === me?.id)
  const people = [
    { value: 'owner', label: isMe(null) ? 'You' : 'The owner' },
    ...names.map(({ id, kind, name }) => ({
      value: `${kind}:${id}`,
      label: isMe(id) ? `${plain(name)} (you)` : plain(name),
    })),
  ]
  return <ChoiceInput label="Done by" value={value} set={set} options={[...people, ...OTHERS]} none="Anybody" />
}
