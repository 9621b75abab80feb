import { Badge, Button, Code, Flex, Text } from '@radix-ui/themes'
import { Link } from 'wouter'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { CheckLine } from '../../kit/check-line.tsx'
import { LineCounts } from '../../kit/diff/line-counts.tsx'
import { Facts } from '../../kit/facts.tsx'
import { Foreign } from '../../kit/foreign.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { QuestionCard } from '../../kit/question.tsx'
import { ReportView } from '../../kit/report.tsx'
import { Elapsed, Time } from '../../kit/time.tsx'
import { dollars, plural, roughly } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import type { Detail } from './actions.ts'
import { Comments } from './comments.tsx'
import { Delivery } from './delivery.tsx'
import { MissionImages } from './mission-images.tsx'
import { LatestEvents } from './timeline.tsx'
import { Why } from './why.tsx'

/** What it is about and what came of it: summary, changes, checks, cost and timeline. */
export function Overview({ mission }: { mission: Detail }) {
  const isScript = mission.script
  return (
    <div className="mission-columns">
      <div>
        <Why mission={mission} />
        <Open mission={mission} />
        {mission.report && (
          <Section title="Summary">
            <ReportView report={mission.report} files={false} />
          </Section>
        )}
        <Changes mission={mission} />
        <NewestChecks mission={mission} />
        <Section title={isScript ? 'Script' : 'Prompt'}>
          <div className="prompt">
            {isScript ? <Foreign text={mission.detailed_prompt} code /> : <Markdown text={mission.detailed_prompt} />}
          </div>
          <MissionImages mission={mission} />
        </Section>
        {mission.acceptance_criteria && (
          <Section title="Acceptance criteria">
            <Markdown text={mission.acceptance_criteria} />
          </Section>
        )}
        <Section
          title="Timeline"
          actions={
            <Button asChild size="1" variant="ghost">
              <Link href={`/missions/${mission.id}?tab=history`}>Show all</Link>
            </Button>
          }
        >
          <LatestEvents mission={mission} />
        </Section>
        <Comments mission={mission} />
      </div>
      <aside className="mission-side" aria-label="Facts">
        <FactsOf mission={mission} />
        <Delivery mission={mission} />
      </aside>
    </div>
  )
}

/** Its open questions, which can be answered here. */
function Open({ mission }: { mission: Detail }) {
  const { data } = useAsk('get_mission_notes', { mission_id: mission.id })
  const open = data?.questions.filter(({ status }) => status === 'open') ?? []
  if (!open.length) return null
  return (
    <Section title="Needs input">
      <Flex direction="column" gap="3">
        {open.map(question => (
          <QuestionCard key={question.id} question={question} />
        ))}
      </Flex>
    </Section>
  )
}

const SHOWN_FILES = 12

/** The files it changed; the review shows the lines. */
function Changes({ mission }: { mission: Detail }) {
  const ran = mission.session_id !== null && mission.branch !== null
  const { data } = useAsk('diff_mission', { mission_id: mission.id, text: false }, { enabled: ran })
  if (!data?.files.length) return null
  const more = data.files.length + data.files_omitted - SHOWN_FILES
  return (
    <Section
      title={
        <Flex align="center" gap="3">
          {plural(data.files.length + data.files_omitted, 'changed file')}
          <LineCounts added={data.added} deleted={data.deleted} />
        </Flex>
      }
      actions={
        <Button asChild size="1" variant="soft">
          <Link href={`/review/${mission.id}`}>Show changes</Link>
        </Button>
      }
    >
      <ul className="changed-files">
        {data.files.slice(0, SHOWN_FILES).map(({ path, change, added, deleted }) => (
          <li key={path}>
            <Code variant="ghost" truncate title={plain(path)}>
              {plain(path)}
            </Code>
            {change !== 'modified' && (
              <Badge color={change === 'deleted' ? 'red' : change === 'added' ? 'green' : 'gray'} highContrast>
                {change}
              </Badge>
            )}
            <LineCounts added={added} deleted={deleted} />
          </li>
        ))}
      </ul>
      {more > 0 && (
        <Text size="1" color="gray">
          and {plural(more, 'more file')}
        </Text>
      )}
    </Section>
  )
}

/** The checks of the newest commit they ran on. */
function NewestChecks({ mission }: { mission: Detail }) {
  const sorted = mission.evidence.toSorted((one, other) => other.created_at.localeCompare(one.created_at))
  const newest = sorted.filter(({ commit }) => commit === sorted[0]?.commit)
  if (!newest.length) return null
  return (
    <Section
      title="Checks"
      actions={
        <Button asChild size="1" variant="ghost">
          <Link href={`/missions/${mission.id}?tab=checks`}>Show all</Link>
        </Button>
      }
    >
      {newest.map(check => (
        <CheckLine key={check.id} check={check} />
      ))}
    </Section>
  )
}

function FactsOf({ mission }: { mission: Detail }) {
  const { usage, sessions, tags, created_at, started_at, ended_at } = mission
  const title = useAgentTitle()
  const holds = new Map(mission.holds.map(({ field, value }) => [field, value]))
  const agent = holds.get('agent')
  const tokens = usage.input_tokens + usage.output_tokens
  return (
    <Facts
      of={{
        Agent: plain([agent && title(String(agent)), holds.get('model')].filter(Boolean).join(' · ')),
        Priority: mission.priority || undefined,
        Tags: tags.map(plain).join(', '),
        Created: <Time at={created_at} />,
        [ended_at ? 'Took' : 'Started']:
          started_at && (ended_at ? <Elapsed from={started_at} to={ended_at} /> : <Time at={started_at} />),
        Cost: (usage.cost_usd > 0 || tokens > 0) && (
          <Text>
            {usage.cost_usd > 0 && dollars(usage.cost_usd)}
            {usage.cost_usd > 0 && tokens > 0 && ' · '}
            {tokens > 0 && `${roughly(tokens)} tokens`}
          </Text>
        ),
        Sessions: sessions.length > 0 && (
          <Link href={`/missions/${mission.id}?tab=sessions`}>{plural(sessions.length, 'session')}</Link>
        ),
      }}
    />
  )
}
