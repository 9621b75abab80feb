import { Badge, Button, Callout, Flex } from '@radix-ui/themes'
import { Pause, PenLine } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Link, useParams } from 'wouter'
import { useProjectNames } from '../../kit/choosers.tsx'
import { May } from '../../kit/may.tsx'
import { useNarrow } from '../../kit/narrow.ts'
import { Answer, Page, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { dollars } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import { useMe } from '../../live/me.ts'
import { useShortcuts } from '../../shell/keys.ts'
import { Composer } from './composer.tsx'
import { TeamControls } from './controls.tsx'
import { AddMember, Members } from './members.tsx'
import './team.css'
import { Threads } from './threads-list.tsx'
import type { Member, Team } from './words.ts'

export default function TeamPage() {
  const { team_id = '' } = useParams()
  const team = useAsk('get_team', { team_id })
  return (
    <Answer
      of={team}
      loading={
        <Page title="Team">
          <div />
        </Page>
      }
    >
      {found => <Shown team={found} />}
    </Answer>
  )
}

/** Who looks, as a member of this team. People become members when they write for the first time. */
function useMyself(members: readonly Member[]): Member | undefined {
  const me = useMe()
  const actor = me?.kind === 'owner' ? 'person' : `${me?.kind}:${me?.id}`
  return members.find(({ person }) => person === actor)
}

function Shown({ team }: { team: Team }) {
  const projectName = useProjectNames()
  const { id, name, description, project_id, members, paused, agents, max_members } = team
  const myself = useMyself(members)
  const composer = useRef<HTMLElement>(null)
  const [to, setTo] = useState('')
  // The form would fill a phone, so it opens there on request.
  const isNarrow = useNarrow()
  const [writing, setWriting] = useState(false)
  const write = (handle?: string) => {
    if (handle) setTo(`@${handle} `)
    flushSync(() => setWriting(true))
    composer.current?.scrollIntoView({ block: 'nearest' })
    composer.current?.querySelector<HTMLElement>(handle ? 'textarea' : 'input')?.focus()
  }
  useShortcuts([{ keys: 'w', title: 'Write a message', run: () => write() }])
  const inOrder = useMemo(
    () => members.toSorted((one, other) => Number(!!one.person) - Number(!!other.person)),
    [members],
  )
  return (
    <Page
      title={plain(name)}
      about={
        <Flex gap="2" align="center" wrap="wrap">
          <span>
            Team in <Link href={`/projects/${project_id}`}>{plain(projectName(project_id)) || 'its project'}</Link> ·{' '}
            {spentWords(team)}
          </span>
          {paused && (
            <Badge color="amber" highContrast>
              Paused
            </Badge>
          )}
        </Flex>
      }
      actions={<TeamControls team={team} />}
    >
      {description && <p className="team-about break">{plain(description)}</p>}
      {paused && (
        <Callout.Root color="amber" highContrast mb="4">
          <Callout.Icon>
            <Pause size={16} />
          </Callout.Icon>
          <Callout.Text>Nobody in this team is woken. Mail waits until you unpause it.</Callout.Text>
        </Callout.Root>
      )}
      <div className="team">
        <Section
          title={`Members (${agents} of ${max_members})`}
          actions={
            <May use="add_member" project={project_id}>
              <AddMember team={team} />
            </May>
          }
        >
          <Members team={team} members={inOrder} myself={myself} write={write} />
        </Section>
        <Section title="Mail">
          <May use="send_mail" project={project_id}>
            <section ref={composer} aria-label="Write a message">
              {isNarrow && !writing ? (
                <Button variant="soft" mb="4" onClick={() => write()}>
                  <PenLine size={14} /> Write a message
                </Button>
              ) : (
                <Composer team={team} myself={myself} to={to} setTo={setTo} />
              )}
            </section>
          </May>
          <Threads key={id} team={team} myself={myself} />
        </Section>
      </div>
    </Page>
  )
}

const spentWords = ({ spent_usd, max_budget_usd }: Team): string =>
  max_budget_usd === null
    ? `${dollars(spent_usd)} spent, no limit`
    : `${dollars(spent_usd)} of ${dollars(max_budget_usd)} spent`
