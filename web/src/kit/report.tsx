import { Badge, Code, Flex, Text } from '@radix-ui/themes'
import type { Output } from '../api/client.ts'
import './fold.css'
import { Markdown } from './markdown.tsx'
import { OUTCOMES } from './outcomes.ts'
import { plain, safeLink } from './plain.ts'
import './report.css'
import { plural } from './words.ts'

type Report = Output<'get_report'>

const LISTS = [
  ['what_done', 'Done'],
  ['what_tested', 'Tested'],
  ['what_untested', 'Not tested'],
  ['what_open', 'Still open'],
  ['next_steps', 'Next'],
  ['errors_encountered', 'Errors'],
] as const
const SIGNS = { added: '+', modified: '~', deleted: '−', renamed: '→' }

/** How the session of the report ended. */
export const ReportStatus = ({ status }: Pick<Report, 'status'>) => (
  <Badge color={OUTCOMES[status].color} highContrast>
    {OUTCOMES[status].word}
  </Badge>
)

/** Scrolls if it is long, so that the rest of the page stays in reach. */
export const Summary = ({ text }: { text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <section className="report-summary" aria-label="Summary" tabIndex={0}>
    <Markdown text={text} />
  </section>
)

/** What a session says it did, and what git saw. */
export function ReportView({
  report,
  files = true,
}: {
  report: Report /** false: they are shown elsewhere. */
  files?: boolean
}) {
  const preview = safeLink(report.preview_url)
  // If not all files are listed, nobody can say which ones git did not see.
  const isWhole = report.files_omitted === 0
  const claimedOnly = isWhole
    ? report.files_claimed.filter(path => !report.files_changed.some(file => file.path === path))
    : []
  return (
    <Flex direction="column" gap="3">
      <Flex gap="2" wrap="wrap" align="center">
        <ReportStatus status={report.status} />
        <Text size="1" color="gray">
          {report.source === 'agent'
            ? 'Written by the agent'
            : 'The agent gave no report. This is from git and its last message.'}
        </Text>
        {preview && (
          <a href={preview} target="_blank" rel="noreferrer noopener">
            Preview
          </a>
        )}
      </Flex>
      {report.problem && (
        <Text size="2" color="amber" highContrast>
          {plain(report.problem)}
        </Text>
      )}
      {report.summary && <Summary text={report.summary} />}
      {LISTS.filter(([field]) => report[field].length > 0).map(([field, title]) => (
        <div key={field}>
          <Text size="2" weight="medium">
            {title}
          </Text>
          <ul className="report-list">
            {report[field].map((item, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a report never changes
              <li key={index}>
                <Markdown text={item} />
              </li>
            ))}
          </ul>
        </div>
      ))}
      {report.tests.length > 0 && (
        <div>
          <Text size="2" weight="medium">
            Tests, according to the agent
          </Text>
          <ul className="report-list">
            {report.tests.map(({ command, status, details }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a report never changes
              <li key={index}>
                {command && <Code variant="ghost">{plain(command)}</Code>} {plain(status)}
                {details && `: ${plain(details)}`}
              </li>
            ))}
          </ul>
        </div>
      )}
      {files && report.files_changed.length > 0 && (
        <details className="fold" open={report.files_changed.length <= 12}>
          <summary>
            <Text size="2" weight="medium">
              {plural(report.files_changed.length + report.files_omitted, 'file')} changed, as git saw it
            </Text>
          </summary>
          <ul className="report-files">
            {report.files_changed.map(({ path, change, from }) => (
              <li key={path}>
                <Code variant="ghost">
                  {SIGNS[change]} {from ? `${plain(from)} → ` : ''}
                  {plain(path)}
                </Code>
              </li>
            ))}
          </ul>
        </details>
      )}
      {claimedOnly.length > 0 && (
        <Text size="2" color="amber" highContrast>
          Also changed, according to the agent {claimedOnly.map(plain).join(', ')}; git saw no such change.
        </Text>
      )}
    </Flex>
  )
}
