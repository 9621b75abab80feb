import { Button, Flex, Table, Text } from '@radix-ui/themes'
import { FileText } from 'lucide-react'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { useAddress } from '../../kit/address.ts'
import { ProjectChooser, useProjectNames } from '../../kit/choosers.tsx'
import { DateInput } from '../../kit/date-input.tsx'
import { startOfDay } from '../../kit/days.ts'
import { ChoiceInput } from '../../kit/fields.tsx'
import { OUTCOMES } from '../../kit/outcomes.ts'
import { Answer, Empty, Page } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { ReportStatus } from '../../kit/report.tsx'
import { Time } from '../../kit/time.tsx'
import { useAsk } from '../../live/data.ts'
import { OneReport } from './one.tsx'
import './reports.css'

type Report = Output<'list_reports'>['reports'][number]
type Status = Report['status']

const SHOWN = 50

/** All reports as a table, or one of them. */
export default function Reports() {
  const report = useAddress().get('report')
  return report ? <OneReport id={report} /> : <ReportList />
}

function ReportList() {
  const address = useAddress()
  const [project, from, to] = [address.get('project'), address.get('from'), address.get('to')]
  const status = (Object.keys(OUTCOMES) as Status[]).find(each => each === address.get('outcome'))
  const reports = useAsk(
    'list_reports',
    {
      ...{ project_id: project ?? undefined, status, from: startOfDay(from), before: startOfDay(to, 1) },
      ...{ limit: SHOWN, cursor: address.get('after') ?? undefined },
    },
    { keep: true },
  )
  const filter = (values: Record<string, string | null>) => address.set({ ...values, after: null })
  const isFiltered = !!(project || status || from || to)
  return (
    <Page title="Reports" about="What agents say about their work, next to what git saw">
      <div className="report-filters">
        <ProjectChooser value={project} set={id => filter({ project: id })} none="All projects" />
        <ChoiceInput
          label="Outcome"
          value={status ?? null}
          set={outcome => filter({ outcome })}
          options={Object.entries(OUTCOMES).map(([value, { word }]) => ({ value, label: word }))}
          none="All outcomes"
        />
        <DateInput label="From" value={from} set={day => filter({ from: day })} />
        <DateInput label="Until" value={to} set={day => filter({ to: day })} />
      </div>
      <Answer of={reports}>
        {({ reports: list, cursor }) => (
          <>
            {list.length > 0 ? (
              <ReportTable reports={list} />
            ) : isFiltered ? (
              <Empty icon={FileText} title="No results">
                No report matches these filters.
              </Empty>
            ) : (
              <Empty icon={FileText} title="No reports yet">
                Each session ends with a report: what was done, what is open, what was tested. Agents that continue the
                work get it too.
              </Empty>
            )}
            <Flex gap="3" mt="3" justify="center">
              {address.get('after') && (
                <Button variant="soft" color="gray" highContrast onClick={() => address.set({ after: null })}>
                  Newest reports
                </Button>
              )}
              {cursor && (
                <Button variant="soft" color="gray" highContrast onClick={() => address.set({ after: cursor })}>
                  Older reports
                </Button>
              )}
            </Flex>
          </>
        )}
      </Answer>
    </Page>
  )
}

function ReportTable({ reports }: { reports: readonly Report[] }) {
  const projectName = useProjectNames()
  return (
    <Table.Root variant="surface" className="report-table">
      <Table.Header>
        <Table.Row>
          <Table.ColumnHeaderCell>Outcome</Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell>Mission</Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell className="report-wide">Project</Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell className="report-wide" justify="end">
            Files
          </Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell className="report-wide" justify="end">
            Commits
          </Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell justify="end">Written</Table.ColumnHeaderCell>
        </Table.Row>
      </Table.Header>
      <Table.Body>
        {reports.map(report => (
          <Table.Row key={report.id} align="center">
            <Table.Cell>
              <ReportStatus status={report.status} />
            </Table.Cell>
            <Table.RowHeaderCell>
              <Link href={`/reports?report=${report.id}`}>
                <Text weight="medium">{plain(report.mission_title) || 'A deleted mission'}</Text>
              </Link>
              <Text as="div" size="1" color="gray" className="report-line">
                {plain(report.summary) || 'No summary'}
              </Text>
            </Table.RowHeaderCell>
            <Table.Cell className="report-wide">{plain(projectName(report.project_id))}</Table.Cell>
            <Table.Cell className="report-wide" justify="end">
              {report.files_changed.length + report.files_omitted}
            </Table.Cell>
            <Table.Cell className="report-wide" justify="end">
              {report.commits.length}
            </Table.Cell>
            <Table.Cell justify="end">
              <Time at={report.created_at} />
            </Table.Cell>
          </Table.Row>
        ))}
      </Table.Body>
    </Table.Root>
  )
}
