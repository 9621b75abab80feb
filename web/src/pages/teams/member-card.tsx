import { Badge, Button, Flex, Progress, Text } from '@radix-ui/themes'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'wouter'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { May } from '../../kit/may.tsx'
import { plain } from '../../kit/plain.ts'
import { Dot } from '../../kit/status.tsx'
import { Elapsed } from '../../kit/time.tsx'
import { dollars, plural } from '../../kit/words.ts'
import { useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import type { Running } from './asks.ts'
import { Health } from './health.tsx'
import { MemberMenu } from './member-menu.tsx'
import { type Mail, type Member, ROLES, STATES, type Team } from './words.ts'

/** Loaded when somebody looks at one. */
const Terminal = lazy(() => import('./terminal.tsx'))

interface MemberCardProps {
  team: Team
  member: Member
  /** Its session, while it is at work. */
  now: Running | undefined
  /** The name of its group within the team. */
  swarm: string | undefined
  /** What the limits of talk keep from it. */
  held: readonly Mail[]
  isMe: boolean
  write(handle: string): void
}

export function MemberCard({ team, member, now, swarm, held, isMe, write }: MemberCardProps) {
  const { handle, role, person, state, waits_for, unread, agent, model, labels } = member
  const { word, tone } = STATES[state]
  const mayRead = useMay('read_transcript', team.project_id)
  const titleOf = useAgentTitle()
  const runs =
    person === null ? [agent ? titleOf(agent) : "the project's agent", model].filter(Boolean).join(', ') : 'Person'
  return (
    <>
      <Flex gap="2" align="center" wrap="wrap">
        <Text size="2" weight="medium" className="break">
          {plain(handle)}
        </Text>
        {isMe && <Text size="1">(you)</Text>}
        {person === null && (
          <Badge color={tone} highContrast className="status">
            <Dot tone={tone} alive={state === 'working'} />
            {word}
          </Badge>
        )}
        {unread > 0 && (
          <Badge color="iris" highContrast>
            {unread} unread
          </Badge>
        )}
        <span className="member-menu">{!isMe && <MemberMenu team={team} member={member} write={write} />}</span>
      </Flex>
      <Text as="div" size="1" color="gray" className="break">
        {[ROLES[role], runs, ...(swarm ? [swarm] : []), ...labels].map(plain).join(' · ')}
      </Text>
      {member.task && (
        <Text as="div" size="2" truncate>
          <Link href={`/missions/${member.task.id}`}>{plain(member.task.title)}</Link>
        </Text>
      )}
      {state === 'working' && (
        <div className="member-now">
          {now?.doing ? (
            <code title={plain(now.doing)}>{plain(now.doing)}</code>
          ) : (
            <span>{mayRead ? 'Starting…' : 'At work'}</span>
          )}
          {now && <Elapsed from={now.started_at} />}
        </div>
      )}
      {waits_for && state !== 'idle' && state !== 'paused' && (
        <Text as="div" size="2" className="break">
          {plain(waits_for)}
        </Text>
      )}
      <Health member={member} />
      <Held mails={held} team={team} />
      <Spent team={team} member={member} />
      <Places team={team} member={member} />
    </>
  )
}

function Held({ mails, team }: { mails: readonly Mail[]; team: Team }) {
  const { run, busy } = useCommand('release_mail')
  if (!mails.length) return null
  const release = async () => {
    for (const { id } of mails) await run({ mail_id: id })
  }
  return (
    <Flex gap="2" mt="1" align="center" wrap="wrap">
      <Text size="2">{plural(mails.length, 'message is', 'messages are')} held back from it.</Text>
      <May use="release_mail" project={team.project_id}>
        <Button size="1" variant="soft" color="gray" highContrast loading={busy} onClick={release}>
          Release
        </Button>
      </May>
    </Flex>
  )
}

/** What it has spent, for those who may see costs. */
function Spent({ team, member: { handle, person, spent_usd, max_budget_usd } }: { team: Team; member: Member }) {
  const mayLook = useMay('costs.read', team.project_id)
  if (!mayLook || person !== null || (!spent_usd && max_budget_usd === null)) return null
  const percent = max_budget_usd ? Math.min(100, Math.round((spent_usd / max_budget_usd) * 100)) : 0
  return (
    <div className="member-spent">
      <Text size="1" color="gray">
        {max_budget_usd === null
          ? `${dollars(spent_usd)} spent`
          : `${dollars(spent_usd)} of ${dollars(max_budget_usd)}`}
      </Text>
      {max_budget_usd !== null && (
        <Progress
          value={percent}
          size="1"
          aria-label={`Budget that ${plain(handle)} has used`}
          color={percent > 80 ? 'amber' : undefined}
        />
      )}
    </div>
  )
}

/** What it has said, and where its work is. */
function Places({ team, member }: { team: Team; member: Member }) {
  const { mission_id, session_id, person, placement } = member
  const [watched, setWatched] = useState(false)
  const mayRead = useMay('read_transcript', team.project_id)
  if (person !== null || !mission_id) return null
  return (
    <Flex gap="3" mt="1" align="center">
      {placement === 'tmux' && (
        <May use="capture_member" project={team.project_id}>
          <Button size="1" variant="soft" color="gray" highContrast onClick={() => setWatched(true)}>
            Terminal
          </Button>
        </May>
      )}
      {session_id && mayRead && (
        <Text size="2">
          <Link href={`/sessions/${session_id}`}>Transcript</Link>
        </Text>
      )}
      <Text size="2">
        <Link href={`/missions/${mission_id}`}>Mission</Link>
      </Text>
      {watched && (
        <Suspense fallback={null}>
          <Terminal team={team} member={member} close={() => setWatched(false)} />
        </Suspense>
      )}
    </Flex>
  )
}
