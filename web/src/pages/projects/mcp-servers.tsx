import { Badge, Button, Card, Code, Flex, IconButton, Switch, Text } from '@radix-ui/themes'
import { Plug, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Output } from '../../api/client.ts'
import { LongTextInput, TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Editable, May } from '../../kit/may.tsx'
import { Answer, Empty } from '../../kit/page.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import type { Project } from './project.ts'

type Server = Output<'list_mcp_servers'>['mcp_servers'][number]

/** Tools that every agent on the project gets, besides those of the fleet. */
export function McpServers({ project: { id } }: { project: Project }) {
  const [adding, setAdding] = useState(false)
  const servers = useAsk('list_mcp_servers', { project_id: id })
  const add = (
    <May use="add_mcp_server" project={id}>
      <Button variant="soft" highContrast onClick={() => setAdding(true)}>
        <Plus size={16} /> Add a server
      </Button>
    </May>
  )
  return (
    <>
      <Answer of={servers}>
        {({ mcp_servers }) =>
          mcp_servers.length === 0 ? (
            <Empty icon={Plug} title="No MCP servers" action={add}>
              An MCP server gives every agent on this project more tools: documentation, a database, an issue tracker.
            </Empty>
          ) : (
            <Flex direction="column" gap="3">
              {mcp_servers.map(server => (
                <Editable key={server.id} use="mcp_servers.write" project={id}>
                  <Row server={server} />
                </Editable>
              ))}
              <div>{add}</div>
            </Flex>
          )
        }
      </Answer>
      {adding && <AddServer project={id} close={() => setAdding(false)} />}
    </>
  )
}

const AFFECTED = ['list_mcp_servers'] as const

function Row({ server: { id, name, url, command, enabled } }: { server: Server }) {
  const enable = useCommand('enable_mcp_server', { affects: AFFECTED })
  const disable = useCommand('disable_mcp_server', { affects: AFFECTED })
  const remove = useCommand('remove_mcp_server', { affects: AFFECTED })
  return (
    <Card>
      <Flex align="center" gap="3">
        <Switch
          aria-label={`Give ${name} to agents`}
          checked={enabled}
          onCheckedChange={on => (on ? enable : disable).run({ server_id: id })}
        />
        <Flex direction="column" flexGrow="1" minWidth="0">
          <Text weight="medium">
            {name}{' '}
            {!enabled && (
              <Badge color="gray" highContrast>
                off
              </Badge>
            )}
          </Text>
          <Code variant="ghost" size="1" truncate>
            {url ?? command.join(' ')}
          </Code>
        </Flex>
        <IconButton
          variant="soft"
          color="red"
          highContrast
          aria-label={`Remove ${name}`}
          onClick={() => remove.runLater(`Removing ${name}.`, { server_id: id })}
        >
          <Trash2 size={16} />
        </IconButton>
      </Flex>
    </Card>
  )
}

function AddServer({ project, close }: { project: string; close(): void }) {
  const [name, setName] = useState('')
  const [place, setPlace] = useState('')
  const [values, setValues] = useState('')
  const { run, busy } = useCommand('add_mcp_server', { affects: AFFECTED, done: close })
  const isUrl = /^https?:\/\//.test(place.trim())
  const submit = () => {
    const pairs = Object.fromEntries(
      values
        .split('\n')
        .map(line => /^\s*([^=:\s]+)\s*[=:]\s*(.*)$/.exec(line))
        .filter(match => match !== null)
        .map(([, key, value]) => [key!, value!.trim()]),
    )
    const where = isUrl ? { url: place.trim(), headers: pairs } : { command: place.trim().split(/\s+/), env: pairs }
    run({ project_id: project, name: name.trim(), ...where })
  }
  return (
    <FormDialog
      title="Add an MCP server"
      act="Add"
      busy={busy}
      ready={!!name.trim() && !!place.trim()}
      close={close}
      submit={submit}
    >
      <TextInput label="Name" value={name} set={setName} placeholder="docs" />
      <TextInput
        label="Address or command"
        hint="https://… or a program and its arguments"
        value={place}
        set={setPlace}
        placeholder="npx docs-server"
      />
      <LongTextInput
        label={isUrl ? 'Headers' : 'Environment'}
        hint="One NAME=value per line; use a variable of the server for secrets, as in TOKEN=$&#123;GITHUB_TOKEN&#125;"
        value={values}
        set={setValues}
        rows={3}
      />
    </FormDialog>
  )
}
