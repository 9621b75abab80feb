import { Flex, Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import { Answer, Lines, Page, Problem } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { ReportView } from '../../kit/report.tsx'
import { Time } from '../../kit/time.tsx'
import { useAsk } from '../../live/data.ts'

/** One report in full. */
export function OneReport({ id }: { id: string }) {
  const report = useAsk('get_report', { report_id: id })
  const mission_id = report.data?.mission_id
  const mission = useAsk('get_mission', { mission_id: mission_id ?? '' }, { enabled: mission_id !== undefined })
  const title = mission.data ? plain(mission.data.title) : mission.error ? 'A deleted mission' : 'Report'
  if (report.error)
    return (
      <Page title="Report">
        <Problem error={report.error} retry={() => report.refetch()} />
      </Page>
    )
  return (
    <Page
      title={title}
      about={
        <Flex gap="3" wrap="wrap">
          <Link href="/reports">All reports</Link>
          {mission.data && <Link href={`/missions/${mission.data.id}`}>Mission</Link>}
          {report.data && <Link href={`/sessions/${report.data.session_id}`}>Transcript</Link>}
          {report.data && (
            <Text color="gray">
              Written <Time at={report.data.created_at} />
            </Text>
          )}
        </Flex>
      }
    >
      <Answer of={report} loading={<Lines rows={6} />}>
        {found => <ReportView report={found} />}
      </Answer>
    </Page>
  )
}
