import { Badge, Button, Code, Flex, Text } from '@radix-ui/themes'
import { Bell, Blocks, ChevronRight, CircleDot, type LucideIcon, Smartphone } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { ProjectChooser } from '../../kit/choosers.tsx'
import { Answer, Page, Section } from '../../kit/page.tsx'
import { useAsk } from '../../live/data.ts'
import { Connecting } from './connecting.tsx'
import './integrations.css'
import { Snippets } from './snippets.tsx'

type Client = Output<'list_integrations'>['clients'][number]

const Phone = lazy(() => import('../../shell/phone.tsx'))

/** The fleet in other programs, and other programs in the fleet. */
export default function Integrations() {
  const [project, setProject] = useState<string | null>(null)
  const integrations = useAsk('list_integrations', project ? { project_id: project } : {}, { keep: true })
  return (
    <Page title="Integrations" about="Use the fleet from your own agent, editor or program">
      <Answer of={integrations}>
        {all => (
          <>
            <Section title="Agents and editors">
              <Flex direction="column" gap="3">
                <Text as="p" size="2" color="gray" m="0">
                  Connecting adds one entry to the client's own configuration file and changes nothing else in it. Then
                  the client can start missions, follow them and read their reports.
                </Text>
                <div className="integration-scope">
                  <ProjectChooser label="Connect for" value={project} set={setProject} none="All my work" />
                </div>
                <ul className="integration-list" aria-label="Agents and editors">
                  {all.clients.toSorted(usedFirst).map(client => (
                    <ClientRow key={client.name} client={client} project={project} />
                  ))}
                </ul>
              </Flex>
            </Section>
            <Section title="Other clients and programs">
              <Snippets of={all} />
            </Section>
            <Section title="More">
              <Others />
            </Section>
          </>
        )}
      </Answer>
    </Page>
  )
}

const isUsed = ({ installed, files }: Client): boolean => installed || files.some(({ connected }) => connected)
const usedFirst = (one: Client, other: Client): number => Number(isUsed(other)) - Number(isUsed(one))

interface ClientRowProps {
  client: Client
  project: string | null
}

function ClientRow({ client: { name, title, installed, files, allow }, project }: ClientRowProps) {
  const [asks, setAsks] = useState<'connect' | 'disconnect'>()
  const scope = project ? 'project' : 'user'
  const file = files.find(each => each.scope === scope)
  const elsewhere = files.find(each => each.scope !== scope && each.connected)
  return (
    <li className="integration">
      <div className="integration-about">
        <Flex gap="2" align="center" wrap="wrap">
          <Text weight="medium">{title}</Text>
          <Badge color="gray" variant={installed ? 'soft' : 'outline'} highContrast>
            {installed ? 'Installed' : 'Not found on this machine'}
          </Badge>
          {file?.connected && (
            <Badge color="green" highContrast>
              {project ? 'Connected in this project' : 'Connected'}
            </Badge>
          )}
          {elsewhere && (
            <Badge color="green" variant="outline" highContrast>
              Connected for all your work
            </Badge>
          )}
        </Flex>
        <Text size="1" color="gray" className="break">
          {file ? <Code variant="ghost">{file.path}</Code> : `${title} has no configuration for a single project.`}
        </Text>
      </div>
      {file &&
        (file.connected ? (
          <Button
            variant="soft"
            color="gray"
            highContrast
            aria-label={`Disconnect ${title}`}
            onClick={() => setAsks('disconnect')}
          >
            Disconnect
          </Button>
        ) : (
          <Button variant="soft" highContrast aria-label={`Connect ${title}`} onClick={() => setAsks('connect')}>
            Connect
          </Button>
        ))}
      {asks && (
        <Connecting
          client={{ name, title, cannotAllow: allow }}
          where={{ scope, project_id: project ?? undefined }}
          act={asks}
          close={() => setAsks(undefined)}
        />
      )}
    </li>
  )
}

/** What else works together with the fleet, and where it is set up. */
function Others() {
  const [phone, setPhone] = useState(false)
  return (
    <>
      <ul className="integration-list">
        <Other
          icon={Smartphone}
          title="Your phone"
          about="Scan a code to sign it in. It shows the same pages."
          open={() => setPhone(true)}
        />
        <Other
          icon={Bell}
          title="Notifications"
          about="Push messages to browsers, ntfy, and e-mail when you are needed."
          href="/settings/notifications"
        />
        <Other
          icon={Blocks}
          title="Slack, Telegram, webhooks, GitHub issues"
          about="Plugins tell others what happens, and turn issues into missions."
          href="/plugins"
        />
        <Other
          icon={CircleDot}
          title="Beads"
          about="Folders whose beads become missions when they are ready, and are closed when the work is done."
          href="/settings#github-and-beads"
        />
      </ul>
      {phone && (
        <Suspense>
          <Phone close={() => setPhone(false)} />
        </Suspense>
      )}
    </>
  )
}

interface OtherProps {
  icon: LucideIcon
  title: string
  about: string
  href?: string
  open?(): void
}

function Other({ icon: Icon, title, about, href, open }: OtherProps) {
  const content = (
    <>
      <Icon size={18} aria-hidden />
      <span className="integration-about">
        <Text as="span" size="2" weight="medium">
          {title}
        </Text>
        <Text as="span" size="2" color="gray">
          {about}
        </Text>
      </span>
      <ChevronRight size={16} aria-hidden />
    </>
  )
  return (
    <li>
      {href ? (
        <Link href={href} className="integration integration-link">
          {content}
        </Link>
      ) : (
        <button type="button" className="integration integration-link" onClick={open}>
          {content}
        </button>
      )}
    </li>
  )
}
