import { Badge, Table, Text } from '@radix-ui/themes'
import type { Output } from '../../api/client.ts'
import { Section } from '../../kit/page.tsx'
import { ago } from '../../kit/words.ts'

type Servers = NonNullable<Output<'system_status'>['servers']>

/** The servers that share a store on PostgreSQL, and which of them decides. */
export function ServersSection({ servers: { decider, servers } }: { servers: Servers }) {
  return (
    <Section title="Servers">
      <Text as="p" size="2" mb="2">
        {decider
          ? `${decider.server} decides${decider.since ? ` (took over: ${ago(decider.since)})` : ''}. The others answer, and one of them takes over if it is gone.`
          : 'No server decides at this moment, so nothing new starts.'}
      </Text>
      <Table.Root variant="surface" size="1">
        <Table.Header>
          <Table.Row>
            {['Server', 'Version', 'Role', 'Started', 'Last heard of'].map(title => (
              <Table.ColumnHeaderCell key={title}>{title}</Table.ColumnHeaderCell>
            ))}
          </Table.Row>
        </Table.Header>
        <Table.Body>
          {servers.map(each => (
            <Table.Row key={`${each.host} ${each.pid}`}>
              <Table.RowHeaderCell>
                {each.url ?? each.host} (process {each.pid})
              </Table.RowHeaderCell>
              <Table.Cell>{each.version}</Table.Cell>
              <Table.Cell>{each.decides ? <Badge color="green">decides</Badge> : 'answers'}</Table.Cell>
              <Table.Cell>{ago(each.since)}</Table.Cell>
              <Table.Cell>{(each.heard_ms_ago / 1000).toFixed(1)} s ago</Table.Cell>
            </Table.Row>
          ))}
        </Table.Body>
      </Table.Root>
    </Section>
  )
}
