import { Button, Flex, Table, Text } from '@radix-ui/themes'
import { Rocket } from 'lucide-react'
import { Link } from 'wouter'
import { Empty, Lines } from '../../kit/page.tsx'
import { StatusBadge } from '../../kit/status.tsx'
import { Time } from '../../kit/time.tsx'
import { useMissions } from '../../live/data.ts'
import type { Project } from './one.tsx'

const SHOWN = 25

/** The newest of its missions; the board has them all. */
export function MissionList({ project: { id } }: { project: Project }) {
  const { missions, isPending, hasNextPage } = useMissions({ project_id: id, limit: SHOWN })
  if (isPending) return <Lines />
  if (missions.length === 0)
    return (
      <Empty
        icon={Rocket}
        title="No missions here yet"
        action={
          <Button asChild>
            <Link href={`/missions/new?project=${id}`}>Describe the first</Link>
          </Button>
        }
      >
        A mission is one piece of work for one agent: it runs in its own worktree, is checked, and lands.
      </Empty>
    )
  return (
    <Flex direction="column" gap="3">
      <Table.Root variant="surface">
        <Table.Body>
          {missions.slice(0, SHOWN).map(mission => (
            <Table.Row key={mission.id} align="center">
              <Table.RowHeaderCell>
                <Link href={`/missions/${mission.id}`}>{mission.title}</Link>
                {mission.waits_for[0] && (
                  <Text as="div" size="1" color="gray">
                    {mission.waits_for[0].text}
                  </Text>
                )}
              </Table.RowHeaderCell>
              <Table.Cell>
                <StatusBadge mission={mission} />
              </Table.Cell>
              <Table.Cell>
                <Text color="gray">
                  <Time at={mission.ended_at ?? mission.created_at} />
                </Text>
              </Table.Cell>
            </Table.Row>
          ))}
        </Table.Body>
      </Table.Root>
      {(hasNextPage || missions.length > SHOWN) && (
        <Link href={`/missions?view=list&project=${id}`}>All missions of this project</Link>
      )}
    </Flex>
  )
}
