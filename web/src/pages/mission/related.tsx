import { Button, Text } from '@radix-ui/themes'
import { Network } from 'lucide-react'
import { Link } from 'wouter'
import { MissionLine } from '../../kit/mission-line.tsx'
import { Empty, Lines, Section } from '../../kit/page.tsx'
import { useMissions } from '../../live/data.ts'
import type { Mission } from '../../live/mending.ts'
import type { Detail } from './actions.ts'

/** Its dependencies, dependents, sub-missions, and its origin. */
export function Related({ mission }: { mission: Detail }) {
  const { depends_on, dependents, parent_mission_id, fork_of, follows, workflow, plan_id, scheduled } = mission
  const origin = [parent_mission_id, fork_of?.mission_id, follows, scheduled?.by].filter(id => id != null)
  const children = useMissions({ parent_mission_id: mission.id, limit: 200 })
  const nothing =
    depends_on.length + dependents.length + origin.length + children.missions.length === 0 && !workflow && !plan_id
  if (nothing && !children.isPending)
    return (
      <Empty
        icon={Network}
        title="No related missions"
        action={
          <Button asChild variant="soft">
            <Link href={`/missions/new?project=${mission.project_id}&parent=${mission.id}`}>New sub-mission</Link>
          </Button>
        }
      >
        A mission can depend on others and then receives their reports. It can also be split into sub-missions.
      </Empty>
    )
  return (
    <>
      <ByIds title="Depends on" ids={depends_on} />
      <List title="Blocks" missions={dependents} />
      <List title="Sub-missions" missions={children.missions} />
      <ByIds title="Origin" ids={origin} />
      {(workflow || plan_id) && (
        <Section title="Parent">
          {workflow && (
            <Text as="p" size="2">
              <Link href={`/workflows/${workflow.id}`}>a workflow</Link>, stage {workflow.stage + 1}
            </Text>
          )}
          {plan_id && (
            <Text as="p" size="2">
              <Link href={`/plans/${plan_id}`}>a plan</Link>
            </Text>
          )}
        </Section>
      )}
    </>
  )
}

function ByIds({ title, ids }: { title: string; ids: string[] }) {
  const { missions, isPending } = useMissions({ ids, limit: 200 }, { enabled: ids.length > 0 })
  if (ids.length === 0) return null
  return isPending ? (
    <Section title={title}>
      <Lines rows={ids.length} />
    </Section>
  ) : (
    <List title={title} missions={missions} />
  )
}

function List({ title, missions }: { title: string; missions: Mission[] }) {
  if (missions.length === 0) return null
  return (
    <Section title={title}>
      {missions.map(mission => (
        <MissionLine key={mission.id} mission={mission} />
      ))}
    </Section>
  )
}
