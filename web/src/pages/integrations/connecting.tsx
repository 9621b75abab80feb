import { Text } from '@radix-ui/themes'
import { useState } from 'react'
import type { Input } from '../../api/client.ts'
import { InlineDiff } from '../../kit/diff/inline.tsx'
import { SwitchInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Answer, Problem } from '../../kit/page.tsx'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'

interface ConnectingProps {
  client: { name: Input<'connect_client'>['client']; title: string; cannotAllow: string | null }
  where: Pick<Input<'connect_client'>, 'scope' | 'project_id'>
  act: 'connect' | 'disconnect'
  close(): void
}

const CHANGES = { created: 'New file', changed: 'Changed', removed: 'Removed' }

/** Shows what exactly changes in the files of a client, and changes it. */
export function Connecting({ client, where, act, close }: ConnectingProps) {
  const [allow, setAllow] = useState(false)
  const [skill, setSkill] = useState(false)
  const isConnect = act === 'connect'
  const wanted = { client: client.name, ...where }
  const options = isConnect ? { allow, skill } : { remove: true }
  const preview = useAsk('preview_connection', { ...wanted, ...options }, { keep: true })
  const done = (words: string) => ({
    affects: ['list_integrations', 'preview_connection'] as const,
    done: () => {
      tell({ text: words })
      close()
    },
    // The new preview is shown at once; the message says why.
    refused: () => {
      preview.refetch()
      return false
    },
  })
  const connect = useCommand('connect_client', done(`${client.title} is connected. Restart it to use the fleet.`))
  const disconnect = useCommand('disconnect_client', done(`${client.title} is disconnected.`))
  const shown = preview.data && !preview.error ? preview.data : undefined
  const submit = () => {
    if (!shown) return
    if (isConnect) connect.run({ ...wanted, allow, skill, shown: shown.digest })
    else disconnect.run({ ...wanted, shown: shown.digest })
  }
  return (
    <FormDialog
      title={isConnect ? `Connect ${client.title}` : `Disconnect ${client.title}`}
      about={
        isConnect
          ? 'This is exactly what changes in its files. Everything else stays as it is.'
          : 'This takes out exactly what was added.'
      }
      act={isConnect ? 'Connect' : 'Disconnect'}
      busy={connect.busy || disconnect.busy}
      ready={!!shown && !preview.isPlaceholderData}
      close={close}
      submit={submit}
    >
      {isConnect && !client.cannotAllow && (
        <SwitchInput
          label="Use the fleet's tools without asking"
          hint="Missions cost money and run programs as you."
          value={allow}
          set={setAllow}
        />
      )}
      {isConnect && client.cannotAllow && (
        <Text size="2" color="gray">
          {client.cannotAllow}.
        </Text>
      )}
      {isConnect && (
        <SwitchInput
          label="Add the skill"
          hint="A page that teaches the agent to use the fleet well."
          value={skill}
          set={setSkill}
        />
      )}
      {preview.error ? (
        <Problem error={preview.error} />
      ) : (
        <Answer of={preview}>
          {({ files, note }) => (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
            <section className="integration-diffs" aria-label="What changes" tabIndex={0}>
              {files.length === 0 && <Text size="2">Nothing has to change.</Text>}
              {files.map(({ path, change, diff }) => (
                <div key={path}>
                  <Text as="div" size="1" color="gray" className="break" mb="1">
                    {CHANGES[change]}: {path}
                  </Text>
                  <InlineDiff edit={{ path, diff, old_text: null, new_text: null }} named={false} />
                </div>
              ))}
              {note && <Text size="2">{note}</Text>}
            </section>
          )}
        </Answer>
      )}
    </FormDialog>
  )
}
