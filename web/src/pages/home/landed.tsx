import { Card, Flex, Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import { useProjectNames } from '../../kit/choosers.tsx'
import { Lines, Problem, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useMissions } from '../../live/data.ts'

const SHOWN = 12

function startOfDay(): string {
  const day = new Date()
  day.setHours(0, 0, 0, 0)
  return day.toISOString()
}

/** Missions that landed since midnight. */
export function Landed() {
  const { missions, error, isPending, hasNextPage, refetch } = useMissions({
    result: 'landed',
    ended_since: startOfDay(),
    limit: SHOWN,
  })
  const projectName = useProjectNames()
  return (
    <Section title={missions.length ? `Landed today (${missions.length}${hasNextPage ? '+' : ''})` : 'Landed today'}>
      {error && <Problem error={error} retry={() => refetch()} />}
      {isPending && !error && <Lines rows={3} height={34} />}
      {!isPending && missions.length === 0 && (
        <Card>
          <Text size="2" color="gray">
            Nothing landed yet today.
          </Text>
        </Card>
      )}
      <Flex direction="column" asChild>
        <ul className="landed">
          {missions.slice(0, SHOWN).map(({ id, title, project_id, ended_at }) => (
            <li key={id}>
              <Link href={`/missions/${id}`} className="landed-title">
                {plain(title)}
              </Link>
              <Text size="1" color="gray" className="landed-facts">
                {plain(projectName(project_id))} · {ended_at && <Time at={ended_at} />}
              </Text>
            </li>
          ))}
        </ul>
      </Flex>
      {(hasNextPage || missions.length > SHOWN) && (
        <Text size="2">
          <Link href="/missions?state=done">View all on the board</Link>
        </Text>
      )}
    </Section>
  )
}
