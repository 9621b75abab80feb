import { Badge, Callout, Card, Code, Flex, Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { CopyBox } from '../../kit/copy.tsx'
import { Answer, Page, Section } from '../../kit/page.tsx'
import { useAsk } from '../../live/data.ts'

type Client = Output<'list_integrations'>['clients'][number]

/** How to use the fleet from other tools. */
export default function Integrations() {
  const integrations = useAsk('list_integrations', {})
  return (
    <Page title="Integrations" about="The fleet from your own agent, editor or program">
      <Answer of={integrations}>
        {({ clients, mcp, examples }) => (
          <>
            <Section title="Agents and editors, over MCP">
              <Text as="p" size="2" color="gray" mt="0">
                One command adds the fleet to the configuration file of a client and changes nothing else in it. Or
                paste the text yourself.
              </Text>
              <Flex direction="column" gap="3">
                {clients.map(client => (
                  <ClientCard key={client.name} client={client} />
                ))}
              </Flex>
            </Section>
            {mcp && (
              <Section title="Any other MCP client">
                <CopyBox label="address" text={mcp} />
              </Section>
            )}
            <Section title="Programs">
              <Flex direction="column" gap="4">
                {examples.map(({ title, text }) => (
                  <div key={title}>
                    <Text as="div" size="2" weight="medium" mb="1">
                      {title}
                    </Text>
                    <CopyBox label={title} text={text} />
                  </div>
                ))}
              </Flex>
              <Text as="p" size="2" color="gray">
                All operations are described at <a href="/docs">/docs</a>; plugins for Slack, Telegram, webhooks and
                GitHub are under <Link href="/plugins">Plugins</Link>.
              </Text>
            </Section>
          </>
        )}
      </Answer>
    </Page>
  )
}

function ClientCard({ client }: { client: Client }) {
  const { title, files, started, over_http, check } = client
  const isTold = files.some(({ installed }) => installed)
  return (
    <Card>
      <Flex direction="column" gap="3">
        <Flex gap="2" align="center">
          <Text weight="medium">{title}</Text>
          {isTold && (
            <Badge color="green" highContrast>
              Set up
            </Badge>
          )}
        </Flex>
        <CopyBox label={`command for ${title}`} text={started.command} />
        <details>
          <summary>
            <Text size="2">Manual setup</Text>
          </summary>
          <Flex direction="column" gap="3" mt="2">
            <Text size="2" color="gray">
              Add to{' '}
              {files.map(({ path, scope }, at) => (
                <span key={path}>
                  {at > 0 && ' or '}
                  <Code size="2" className="break">
                    {path}
                  </Code>{' '}
                  ({scope})
                </span>
              ))}
            </Text>
            <CopyBox label={`configuration of ${title}`} text={started.text} />
            {over_http && (
              <>
                <Text size="2" color="gray">
                  Or, to call the server over HTTP:
                </Text>
                <CopyBox label={`configuration of ${title} over HTTP`} text={over_http.text} />
                {over_http.needs && (
                  <>
                    <Callout.Root size="1" color="gray" highContrast>
                      <Callout.Text>
                        The file does not contain the token. Set it in the environment of the client.
                      </Callout.Text>
                    </Callout.Root>
                    <CopyBox label={`token for ${title}`} text={over_http.needs} />
                  </>
                )}
              </>
            )}
          </Flex>
        </details>
        <Text size="1" color="gray">
          To check that it worked: {check}
        </Text>
      </Flex>
    </Card>
  )
}
