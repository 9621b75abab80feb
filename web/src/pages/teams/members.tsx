import { Text } from '@radix-ui/themes'
import { useMemo } from 'react'
import { May } from '../../kit/may.tsx'
import { Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { AddMember } from './add-member.tsx'
import { heldFrom, useMail, useNow, useSwarms } from './asks.ts'
import { MemberCard } from './member-card.tsx'
import type { PartProps } from './part.ts'
import { ROLES } from './words.ts'

/** Who is in the team, agents first, and what each does now. */
export function Rail({ team, myself, write }: PartProps) {
  const { members, gone, agents, max_members, project_id } = team
  const now = useNow(team)
  const messages = useMail(team).data?.messages ?? []
  const swarms = useSwarms(team).data?.swarms ?? []
  const inOrder = useMemo(
    () => members.toSorted((one, other) => Number(!!one.person) - Number(!!other.person)),
    [members],
  )
  return (
    <Section
      title={`Members (${agents} of ${max_members})`}
      actions={
        <May use="add_member" project={project_id}>
          <AddMember team={team} />
        </May>
      }
    >
      <ul className="members" aria-label="Members">
        {inOrder.map(member => (
          <li key={member.id}>
            <MemberCard
              team={team}
              member={member}
              now={member.session_id ? now.get(member.session_id) : undefined}
              swarm={swarms.find(({ id }) => id === member.swarm_id)?.name}
              held={heldFrom(messages, member.id)}
              isMe={member.id === myself?.id}
              write={write}
            />
          </li>
        ))}
      </ul>
      {agents === 0 && (
        <Text as="p" size="2" color="gray" mt="3">
          No agents yet. Add one with a charter: what it is here for. It starts when somebody writes to it.
        </Text>
      )}
      {gone.length > 0 && (
        <details className="members-gone">
          <summary>Gone ({gone.length})</summary>
          <ul aria-label="Members who are gone">
            {gone.map(({ id, handle, role, dismissed_at }) => (
              <li key={id}>
                {plain(handle)}, {ROLES[role]}, dismissed <Time at={dismissed_at} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </Section>
  )
}
