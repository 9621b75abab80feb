import { Code, Flex, Text } from '@radix-ui/themes'
import { useState } from 'react'
import type { Output } from '../../api/client.ts'
import { CopyBox } from '../../kit/copy.tsx'
import { ChoiceInput } from '../../kit/fields.tsx'

/** Configurations to paste, and addresses, for what cannot be connected with a button. */
export function Snippets({ of: { clients, mcp, rest, token } }: { of: Output<'list_integrations'> }) {
  const [name, setName] = useState<string | null>(clients[0]?.name ?? null)
  const client = clients.find(each => each.name === name)
  return (
    <Flex direction="column" gap="4">
      {mcp && <Named title="Address for MCP clients" text={mcp} />}
      {rest && (
        <Named title="Address of the REST interface" text={rest}>
          All operations are described, with a form to try each, at <a href="/docs">/docs</a>.
        </Named>
      )}
      <Text as="p" size="2" color="gray" m="0">
        Over HTTP a program sends the token as <Code>Authorization: Bearer</Code>. The token is the content of{' '}
        <Code className="break">{token.file}</Code>; clients read it from the variable <Code>{token.variable}</Code>.
      </Text>
      <div className="integration-scope">
        <ChoiceInput
          label="Configuration to paste, in the form of"
          value={name}
          set={setName}
          options={clients.map(each => ({ value: each.name, label: each.title }))}
        />
      </div>
      {client && <Named title="Starts the fleet itself" text={client.started.text} />}
      {client?.over_http && <Named title="Calls the server over HTTP" text={client.over_http.text} />}
    </Flex>
  )
}

function Named({ title, text, children }: { title: string; text: string; children?: React.ReactNode }) {
  return (
    <div>
      <Text as="div" size="2" weight="medium" mb="1">
        {title}
      </Text>
      <CopyBox label={title} text={text} />
      {children && (
        <Text as="p" size="2" color="gray" mt="1" mb="0">
          {children}
        </Text>
      )}
    </div>
  )
}
