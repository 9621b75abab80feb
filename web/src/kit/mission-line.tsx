import { Badge, Text } from '@radix-ui/themes'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Mission } from '../live/mending.ts'
import { useAgentTitle } from './agent-title.ts'
import './mission-line.css'
import { plain } from './plain.ts'
import { StatusBadge } from './status.tsx'
import { Time } from './time.tsx'
import { reasonIn } from './without-ids.ts'

interface MissionLineProps {
  mission: Mission
  /** The name of its project, if the list has missions of several. */
  project?: string
  /** Buttons at the end of the line. */
  actions?: ReactNode
}

/** One mission on a line: its status, its title, and why it waits. */
export function MissionLine({ mission, project, actions }: MissionLineProps) {
  const { id, title, agent, tags, waits_for, status_reason, ended_at, started_at, created_at } = mission
  const titleOf = useAgentTitle()
  const why = reasonIn(waits_for) ?? (mission.status === 'failed' ? status_reason?.text : undefined)
  return (
    <div className="mission-line">
      <StatusBadge mission={mission} />
      <div className="mission-line-words">
        <Link href={`/missions/${id}`} className="mission-line-title">
          {plain(title)}
        </Link>
        {why && (
          <Text as="div" size="1" color="gray" truncate title={plain(why)}>
            {plain(why)}
          </Text>
        )}
      </div>
      <div className="mission-line-facts">
        {tags.slice(0, 3).map(tag => (
          <Badge key={tag} size="1" color="gray" variant="outline" highContrast>
            {plain(tag)}
          </Badge>
        ))}
        {project && <Text size="1">{plain(project)}</Text>}
        {agent && <Text size="1">{titleOf(agent)}</Text>}
        <Text size="1">
          <Time at={ended_at ?? started_at ?? created_at} />
        </Text>
      </div>
      {actions}
    </div>
  )
}
