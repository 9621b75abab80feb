import { Button, Flex } from '@radix-ui/themes'
import { Rocket } from 'lucide-react'
import { Link } from 'wouter'
import { May } from '../../kit/may.tsx'
import { MissionLine } from '../../kit/mission-line.tsx'
import { Empty, Lines } from '../../kit/page.tsx'
import { useMissions } from '../../live/data.ts'
import type { Project } from './project.ts'

const SHOWN = 25

/** The newest missions of a project. The board shows all of them. */
export function MissionList({ project: { id } }: { project: Project }) {
  const { missions, isPending, hasNextPage } = useMissions({ project_id: id, limit: SHOWN })
  if (isPending) return <Lines />
  if (missions.length === 0)
    return (
      <Empty
        icon={Rocket}
        title="No missions yet"
        action={
          <May use="create_mission" project={id}>
            <Button asChild>
              <Link href={`/missions/new?project=${id}`}>Create a mission</Link>
            </Button>
          </May>
        }
      >
        A mission is one piece of work for one agent: it runs in its own worktree, is checked, and lands.
      </Empty>
    )
  return (
    <Flex direction="column" gap="3">
      <div>
        {missions.slice(0, SHOWN).map(mission => (
          <MissionLine key={mission.id} mission={mission} />
        ))}
      </div>
      {(hasNextPage || missions.length > SHOWN) && (
        <Link href={`/missions?view=list&project=${id}`}>All missions of this project</Link>
      )}
    </Flex>
  )
}
