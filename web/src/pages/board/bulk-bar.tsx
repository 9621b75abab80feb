import { Button, Flex, Text } from '@radix-ui/themes'
import { X } from 'lucide-react'
import { useState } from 'react'
import type { Name } from '../../api/client.ts'
import { NumberInput, TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { useMayDo } from '../../live/me.ts'
import type { Mission } from '../../live/mending.ts'
import type { Acting } from './acting.ts'
import type { MoveAct } from './moves.ts'

interface BulkProps {
  missions: readonly Mission[]
  acting: Acting
  clear(): void
  remove(missions: readonly Mission[]): void
}

const ACTS: readonly { act: MoveAct; word: string }[] = [
  { act: 'dispatch_mission', word: 'Queue' },
  { act: 'retry_mission', word: 'Retry' },
  { act: 'land_mission', word: 'Land' },
  { act: 'cancel_mission', word: 'Cancel' },
]

/** Actions for all selected missions. Those that are refused are counted. */
export function BulkBar({ missions, acting, clear, remove }: BulkProps) {
  const [asking, setAsking] = useState<'tag' | 'priority'>()
  const close = () => setAsking(undefined)
  const may = useMayDo()
  const mayUse = (name: Name) => missions.some(({ project_id }) => may(name, project_id))
  return (
    <section className="bulk" aria-label="Selected missions">
      <Text size="2" weight="medium" role="status">
        {missions.length} selected
      </Text>
      <Flex gap="2" wrap="wrap">
        {ACTS.filter(({ act }) => mayUse(act)).map(({ act, word }) => (
          <Button key={act} size="1" variant="soft" color="gray" highContrast onClick={() => acting.act(act, missions)}>
            {word}
          </Button>
        ))}
        {mayUse('update_mission') && (
          <>
            <Button size="1" variant="soft" color="gray" highContrast onClick={() => setAsking('tag')}>
              Tag…
            </Button>
            <Button size="1" variant="soft" color="gray" highContrast onClick={() => setAsking('priority')}>
              Priority…
            </Button>
          </>
        )}
        {mayUse('delete_mission') && (
          <Button size="1" variant="soft" color="red" highContrast onClick={() => remove(missions)}>
            Delete
          </Button>
        )}
      </Flex>
      <Button size="1" variant="ghost" color="gray" highContrast onClick={clear}>
        <X size={14} /> Clear
      </Button>
      {asking === 'tag' && <AskTag close={close} submit={tag => acting.tag(missions, tag)} />}
      {asking === 'priority' && <AskPriority close={close} submit={value => acting.prioritise(missions, value)} />}
    </section>
  )
}

function AskTag({ close, submit }: { close(): void; submit(tag: string): void }) {
  const [tag, setTag] = useState('')
  const send = () => {
    submit(tag.trim())
    close()
  }
  return (
    <FormDialog title="Add a tag" act="Tag" ready={!!tag.trim()} close={close} submit={send}>
      <TextInput label="Tag" value={tag} set={setTag} />
    </FormDialog>
  )
}

function AskPriority({ close, submit }: { close(): void; submit(priority: number): void }) {
  const [priority, setPriority] = useState<number | null>(0)
  const send = () => {
    submit(priority ?? 0)
    close()
  }
  return (
    <FormDialog title="Set priority" act="Set" ready={priority !== null} close={close} submit={send}>
      <NumberInput
        label="Priority"
        hint="Higher starts first; from -1000 to 1000."
        value={priority}
        set={setPriority}
        min={-1000}
        max={1000}
      />
    </FormDialog>
  )
}
