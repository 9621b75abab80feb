import { Callout } from '@radix-ui/themes'
import { useState } from 'react'
import type { Output } from '../../api/client.ts'
import { ProjectChooser } from '../../kit/choosers.tsx'
import { LongTextInput, NumberInput, SwitchInput, TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { plain } from '../../kit/plain.ts'
import { tell } from '../../kit/toasts.tsx'
import { useCommand } from '../../live/data.ts'
import { EventsInput } from './events-input.tsx'

type Plugin = Output<'list_plugins'>['plugins'][number]
type Field = Plugin['settings'][number]
type Value = Field['value']

interface PluginSettingsProps {
  plugin: Plugin
  turnsOn: boolean
  close(): void
  saved(): void
}

/** The settings of a plugin as a form. A saved secret is never shown: typing another one replaces it. */
export function PluginSettings({
  plugin: { name, settings, settings_problem },
  turnsOn,
  close,
  saved,
}: PluginSettingsProps) {
  const [typed, setTyped] = useState<Record<string, Value>>({})
  const { run, busy } = useCommand('configure_plugin', {
    affects: ['list_plugins', 'list_agents'],
    done: ({ reason }) => {
      close()
      saved()
      if (!reason) tell({ text: `Settings of ${name} saved.` })
    },
  })
  const inField = (field: Field): Value => (field.name in typed ? typed[field.name]! : field.value)
  const isFilled = (field: Field): boolean => {
    const value = inField(field)
    if (field.kind === 'secret') return !!value || field.is_set
    return Array.isArray(value) ? value.length > 0 : value !== null && value !== ''
  }
  // An empty field of a secret means: keep the one that is there.
  const changes = Object.fromEntries(
    Object.entries(typed).filter(
      ([key, value]) => value !== '' || settings.find(each => each.name === key)?.kind !== 'secret',
    ),
  )
  return (
    <FormDialog
      title={`Settings of ${name}`}
      about={turnsOn ? 'It needs these before it can be turned on.' : undefined}
      act={turnsOn ? 'Save and turn on' : 'Save'}
      busy={busy}
      ready={settings.every(field => !field.required || isFilled(field))}
      close={close}
      submit={() => run({ plugin: name, values: changes })}
    >
      {settings_problem && (
        <Callout.Root color="amber" size="1" highContrast>
          <Callout.Text>{plain(settings_problem)}</Callout.Text>
        </Callout.Root>
      )}
      {settings.map(field => (
        <FieldInput
          key={field.name}
          field={field}
          value={inField(field)}
          set={value => setTyped({ ...typed, [field.name]: value })}
        />
      ))}
    </FormDialog>
  )
}

interface FieldInputProps {
  field: Field
  value: Value
  set(value: Value): void
}

function FieldInput({
  field: { kind, label: given, hint: about, placeholder, required, is_set, min, max },
  value,
  set,
}: FieldInputProps) {
  const label = plain(required ? given : `${given} (optional)`)
  const hint = plain(about)
  const text = value === null ? '' : String(value)
  switch (kind) {
    case 'switch':
      return <SwitchInput label={plain(given)} hint={hint} value={value === true} set={set} />
    case 'number':
      return (
        <NumberInput
          label={label}
          hint={hint}
          value={typeof value === 'number' ? value : null}
          set={set}
          {...{ min, max }}
        />
      )
    case 'list':
      return <ListInput label={label} hint={hint} value={Array.isArray(value) ? value : []} set={set} />
    case 'events':
      return <EventsInput value={Array.isArray(value) ? value : null} set={set} />
    case 'project':
      return <ProjectChooser label={label} hint={hint} value={text || null} set={set} />
    case 'secret':
      return (
        <TextInput
          label={label}
          hint={is_set ? `One is saved. Type another one to replace it. ${hint}`.trim() : hint}
          type="password"
          value={text}
          set={set}
          placeholder={is_set ? '••••••••' : placeholder}
        />
      )
    default:
      return <TextInput label={label} hint={hint} value={text} set={set} placeholder={placeholder} />
  }
}

interface ListInputProps {
  label: string
  hint: string
  value: string[]
  set(value: string[]): void
}

/** One entry per line. What is typed stays as it is while it is typed. */
function ListInput({ label, hint, value, set }: ListInputProps) {
  const [text, setText] = useState(value.join('\n'))
  const change = (next: string) => {
    setText(next)
    set(next.split(/[\n,]/).flatMap(line => line.trim() || []))
  }
  return <LongTextInput label={label} hint={hint} value={text} set={change} rows={3} />
}
