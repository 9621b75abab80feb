import { Badge, Callout, Code, Flex, Table, Text, TextField } from '@radix-ui/themes'
import { Search, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import type { Output } from '../../api/client.ts'
import { Answer, Page } from '../../kit/page.tsx'
import { tell } from '../../kit/toasts.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import { Disk } from './disk.tsx'
import './settings.css'

type Setting = Output<'get_settings'>['settings'][number]

/** Sources of values that this page cannot change. */
const INSISTED = ['environment', 'flag']

export default function SettingsPage() {
  const [search, setSearch] = useSearchParams()
  const text = search.get('text') ?? ''
  const settings = useAsk('get_settings', {})
  return (
    <Page title="Settings" about={settings.data && <>Stored in {settings.data.file}. Changes apply at once.</>}>
      <Disk />
      <TextField.Root
        placeholder="Find a setting"
        aria-label="Find a setting"
        value={text}
        mb="3"
        onChange={event => setSearch(event.target.value ? { text: event.target.value } : {}, { replace: true })}
      >
        <TextField.Slot>
          <Search size={14} />
        </TextField.Slot>
      </TextField.Root>
      <Answer of={settings}>
        {({ problem, settings: all }) => (
          <>
            {problem && (
              <Callout.Root color="amber" highContrast mb="3">
                <Callout.Icon>
                  <TriangleAlert size={16} />
                </Callout.Icon>
                <Callout.Text>{problem} The previous settings stay in effect.</Callout.Text>
              </Callout.Root>
            )}
            <Table.Root variant="surface" className="settings">
              <Table.Header>
                <Table.Row>
                  <Table.ColumnHeaderCell>Setting</Table.ColumnHeaderCell>
                  <Table.ColumnHeaderCell>Value</Table.ColumnHeaderCell>
                  <Table.ColumnHeaderCell>Source</Table.ColumnHeaderCell>
                </Table.Row>
              </Table.Header>
              <Table.Body>
                {all
                  .filter(({ key, summary }) => `${key} ${summary}`.toLowerCase().includes(text.toLowerCase()))
                  .map(setting => (
                    <Row key={setting.key} setting={setting} />
                  ))}
              </Table.Body>
            </Table.Root>
          </>
        )}
      </Answer>
    </Page>
  )
}

const asText = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)

function Row({ setting }: { setting: Setting }) {
  const { key, summary, origin, variable } = setting
  return (
    <Table.Row align="center">
      <Table.RowHeaderCell>
        <Code size="2">{key}</Code>
        <Text as="div" size="1" color="gray">
          {summary}
        </Text>
      </Table.RowHeaderCell>
      <Table.Cell>
        <Value key={asText(setting.value)} setting={setting} />
      </Table.Cell>
      <Table.Cell>
        <Flex direction="column" align="start" gap="1">
          <Badge color={origin === 'default' ? 'gray' : 'iris'} highContrast>
            {origin}
          </Badge>
          <Text size="1" color="gray" className="break">
            {variable}
          </Text>
        </Flex>
      </Table.Cell>
    </Table.Row>
  )
}

/** Saved on blur or Enter. An empty value restores the default. */
function Value({ setting: { key, value, origin, default: fallback, variable } }: { setting: Setting }) {
  const before = origin === 'default' ? '' : asText(value)
  const [text, setText] = useState(before)
  const { run, busy } = useCommand('set_settings', { affects: ['get_settings'] })
  const insisted = INSISTED.includes(origin)
  const save = async () => {
    if (text === before) return
    const saved = await run({ settings: { [key]: text === '' ? null : text } })
    if (!saved) return setText(before)
    tell({
      text: text === '' ? `Reset ${key} to ${asText(fallback) || 'empty'}.` : `Set ${key} to ${text}.`,
      action: { label: 'Undo', run: () => void run({ settings: { [key]: before === '' ? null : before } }) },
    })
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        save()
      }}
    >
      <TextField.Root
        aria-label={key}
        value={text}
        placeholder={asText(fallback) || 'empty'}
        disabled={insisted || busy}
        title={insisted ? `${variable} sets this. Change it there.` : undefined}
        onChange={event => setText(event.target.value)}
        onBlur={save}
      />
    </form>
  )
}
