import { Button, Callout, Code, Flex, Text } from '@radix-ui/themes'
import { Hourglass, TriangleAlert } from 'lucide-react'
import { Link } from 'wouter'
import { Facts } from '../../kit/facts.tsx'
import { Foreign } from '../../kit/foreign.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { Section } from '../../kit/page.tsx'
import { plain, safeLink } from '../../kit/plain.ts'
import { QuestionCard } from '../../kit/question.tsx'
import { ReportView } from '../../kit/report.tsx'
import { Elapsed, Time } from '../../kit/time.tsx'
import { dollars, roughly, shortId } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import { type Detail, isAsking, liveSession } from './actions.ts'
import { Comments } from './comments.tsx'

export function Overview({ mission }: { mission: Detail }) {
  const isScript = mission.script
  return (
    <div className="mission-columns">
      <div>
        <Why mission={mission} />
        <Open mission={mission} />
        {mission.report && (
          <Section title="Report">
            <ReportView report={mission.report} />
          </Section>
        )}
        <Section title={isScript ? 'Script' : 'Prompt'}>
          <div className="prompt">
            {isScript ? <Foreign text={mission.detailed_prompt} code /> : <Markdown text={mission.detailed_prompt} />}
          </div>
        </Section>
        {mission.acceptance_criteria && (
          <Section title="Acceptance criteria">
            <Markdown text={mission.acceptance_criteria} />
          </Section>
        )}
        <Comments mission={mission} />
      </div>
      <aside className="mission-side" aria-label="Facts">
        <FactsOf mission={mission} />
      </aside>
    </div>
  )
}

/** Why it is not running, and what to do. */
function Why({ mission }: { mission: Detail }) {
  const { status, status_reason, waits_for, warnings, taken_over } = mission
  if (isAsking(mission)) return null
  const bad = status === 'failed' || status === 'needs_input' || status_reason?.code === 'checks_failed'
  const reasons = [...new Set([...waits_for.map(({ text }) => text), ...(status_reason ? [status_reason.text] : [])])]
  const taken = taken_over && `Taken over by ${taken_over.by} in a terminal (process ${taken_over.pid}).`
  const lines = [...(taken ? [taken] : []), ...reasons, ...warnings]
  if (!lines.length) return null
  const on = waits_for.flatMap(each => each.on ?? [])
  return (
    <Callout.Root color={bad ? 'amber' : 'gray'} highContrast mb="4" role="status">
      <Callout.Icon>{bad ? <TriangleAlert size={16} /> : <Hourglass size={16} />}</Callout.Icon>
      <Callout.Text className="why">
        {lines.map(line => (
          <span key={line}>{plain(line)}</span>
        ))}
        {/* Commands for the terminal are left out, because the page has its own actions. */}
        {status_reason?.try && !/^fleet /.test(status_reason.try) && <span>{plain(status_reason.try)}</span>}
        {status_reason?.code === 'checks_failed' && (
          <Link href={`/missions/${mission.id}?tab=checks`}>Show checks</Link>
        )}
        {on.map(id => (
          <Link key={id} href={`/missions/${id}`}>
            Go to {shortId(id)}
          </Link>
        ))}
      </Callout.Text>
    </Callout.Root>
  )
}

/** Its open questions, which can be answered here. */
function Open({ mission }: { mission: Detail }) {
  const { data } = useAsk('get_mission_notes', { mission_id: mission.id })
  const open = data?.questions.filter(({ status }) => status === 'open') ?? []
  if (!open.length) return null
  return (
    <Section title="Waiting for you">
      <Flex direction="column" gap="3">
        {open.map(question => (
          <QuestionCard key={question.id} question={question} />
        ))}
      </Flex>
    </Section>
  )
}

/** What landed, as which commit, and who approved it. */
function Landed({ landing }: { landing: NonNullable<Detail['landed']> }) {
  const { commit, branch, at, candidate, approved, forced, with: bringer, includes, undone } = landing
  return (
    <Text>
      <Code variant="ghost">{commit.slice(0, 10)}</Code> on {plain(branch)}, <Time at={at} />
      {candidate && candidate !== commit && (
        <>
          , of candidate <Code variant="ghost">{candidate.slice(0, 10)}</Code>
        </>
      )}
      {bringer ? (
        <>
          , with <Link href={`/missions/${bringer}`}>mission {shortId(bringer)}</Link>
        </>
      ) : (
        `, ${approved ? `approved by ${plain(approved.by)}` : 'by its policy'}`
      )}
      {includes.length > 0 && `, with the work of ${includes.map(({ title }) => plain(title)).join(', ')}`}
      {forced && `, forced by ${plain(forced.by)} past: ${plain(forced.past)}`}
      {undone && (
        <>
          , undone by <Code variant="ghost">{undone.commit.slice(0, 10)}</Code>
        </>
      )}
    </Text>
  )
}

function FactsOf({ mission }: { mission: Detail }) {
  const { usage, sessions, landed, branch, tags, created_at, started_at, ended_at } = mission
  const live = liveSession(mission)
  const holds = new Map(mission.holds.map(({ field, value }) => [field, value]))
  const project = useAsk('get_project', { project_id: mission.project_id }).data
  const tokens = usage.input_tokens + usage.output_tokens
  const pull = safeLink(mission.pull_request?.url)
  return (
    <Facts
      of={{
        Project: (
          <Link href={`/projects/${mission.project_id}`}>{plain(project?.name ?? shortId(mission.project_id))}</Link>
        ),
        Agent: plain([holds.get('agent'), holds.get('model')].filter(Boolean).join(' · ')),
        Session: live && <Link href={`/sessions/${live.id}`}>Watch live</Link>,
        Priority: mission.priority || undefined,
        Tags: tags.map(plain).join(', '),
        Branch: branch && <Code variant="ghost">{plain(branch)}</Code>,
        Candidate: mission.candidate && <Code variant="ghost">{mission.candidate.commit.slice(0, 10)}</Code>,
        Landed: landed && <Landed landing={landed} />,
        'Landed before': mission.past_landings.length > 0 && (
          <Flex direction="column">
            {mission.past_landings.map(landing => (
              <Landed key={landing.commit} landing={landing} />
            ))}
          </Flex>
        ),
        'Pull request': pull && (
          <a href={pull} target="_blank" rel="noreferrer noopener">
            {pull}
          </a>
        ),
        Created: <Time at={created_at} />,
        [ended_at ? 'Took' : 'Started']:
          started_at && (ended_at ? <Elapsed from={started_at} to={ended_at} /> : <Time at={started_at} />),
        Sessions: sessions.length || undefined,
        Cost: usage.cost_usd ? dollars(usage.cost_usd) : undefined,
        Tokens: tokens ? roughly(tokens) : undefined,
        Changes: branch && (
          <Button asChild size="1" variant="soft">
            <Link href={`/review/${mission.id}`}>Show them</Link>
          </Button>
        ),
        Id: <Code variant="ghost">{mission.id}</Code>,
      }}
    />
  )
}
