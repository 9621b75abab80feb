import { Button, Card, Flex, Text } from '@radix-ui/themes'
import { FileText } from 'lucide-react'
import { Link, useSearchParams } from 'wouter'
import type { Output } from '../../api/client.ts'
import { ProjectChooser, useProjectNames } from '../../kit/choosers.tsx'
import { Answer, Empty, Page } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { ReportStatus, Summary } from '../../kit/report.tsx'
import { Time } from '../../kit/time.tsx'
import { plural } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'

type Report = Output<'list_reports'>['reports'][number]

const SHOWN = 30

export default function Reports() {
  const [search, setSearch] = useSearchParams()
  const project = search.get('project')
  const cursor = search.get('after') ?? undefined
  const reports = useAsk('list_reports', { project_id: project ?? undefined, limit: SHOWN, cursor }, { keep: true })
  return (
    <Page title="Reports" about="What agents say about their work, next to what git saw">
      <Flex mb="4">
        <ProjectChooser value={project} set={id => setSearch(id ? { project: id } : {})} none="All projects" />
      </Flex>
      <Answer of={reports}>
        {({ reports: list, cursor: next }) =>
          list.length === 0 ? (
            <Empty icon={FileText} title="No report yet">
              Each session ends with a report: what was done, what is open, what was tested. It is passed on to agents
              that continue the work, and kept here.
            </Empty>
          ) : (
            <Flex direction="column" gap="3">
              {list.map(report => (
                <ReportCard key={report.id} report={report} />
              ))}
              {next && (
                <div>
                  <Button
                    variant="soft"
                    color="gray"
                    highContrast
                    onClick={() => setSearch({ ...(project && { project }), after: next })}
                  >
                    Older reports
                  </Button>
                </div>
              )}
            </Flex>
          )
        }
      </Answer>
    </Page>
  )
}

const LISTS = [
  ['what_open', 'Open'],
  ['what_untested', 'Untested'],
  ['next_steps', 'Next'],
  ['errors_encountered', 'Errors'],
] as const

function ReportCard({ report }: { report: Report }) {
  const {
    mission_id,
    mission_title,
    session_id,
    project_id,
    status,
    summary,
    source,
    problem,
    files_changed,
    files_omitted,
    commits,
    created_at,
  } = report
  const projectName = useProjectNames()
  return (
    <Card>
      <Flex direction="column" gap="2">
        <Flex gap="3" align="center" wrap="wrap">
          <ReportStatus status={status} />
          <Link href={`/missions/${mission_id}`}>
            <Text size="2" weight="medium">
              {plain(mission_title) || 'A deleted mission'}
            </Text>
          </Link>
          <Link href={`/sessions/${session_id}`}>
            <Text size="2">Session</Text>
          </Link>
          <Text size="2" color="gray">
            {plain(projectName(project_id))} · {plural(files_changed.length + files_omitted, 'file')},{' '}
            {plural(commits.length, 'commit')} · <Time at={created_at} />
            {source === 'git' && ' · made from git: the agent gave no report'}
          </Text>
        </Flex>
        {problem && (
          <Text size="2" color="red">
            {plain(problem)}
          </Text>
        )}
        <Text size="2" as="div">
          <Summary text={summary} />
        </Text>
        {LISTS.filter(([field]) => report[field].length > 0).map(([field, name]) => (
          <Text key={field} size="2" color="gray" as="div">
            {name}: {report[field].map(plain).join(' · ')}
          </Text>
        ))}
      </Flex>
    </Card>
  )
}
