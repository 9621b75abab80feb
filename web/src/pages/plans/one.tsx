import { Badge, Button, Callout, Card, Text } from '@radix-ui/themes'
import { Check, Plus, X } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Link, useLocation, useParams, useSearchParams } from 'wouter'
import type { Output } from '../../api/client.ts'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { useProjectNames } from '../../kit/choosers.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { Answer, Lines, Page, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { tell } from '../../kit/toasts.tsx'
import { reasonIn } from '../../kit/without-ids.ts'
import { dollars, plural } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { added, connected, disconnected, editable, type Planned, removed } from './editing.ts'
import { PLAN_TONES, PLAN_WORDS } from './index.tsx'
import { MissionEditor } from './mission-editor.tsx'
import './plan.css'

const FlowGraph = lazy(() => import('../../kit/graph/graph.tsx'))

type Plan = Output<'get_plan'>

export default function PlanPage() {
  const { plan_id = '' } = useParams()
  const plan = useAsk('get_plan', { plan_id })
  return <Answer of={plan}>{found => <Shown plan={found} />}</Answer>
}

function Shown({ plan }: { plan: Plan }) {
  const { id, goal, status, project_id, summary, reason, estimate, waits_for, mission_id } = plan
  const [search, setSearch] = useSearchParams()
  const [, go] = useLocation()
  const [draft, setDraft] = useState<Planned[]>()
  const projectName = useProjectNames()
  const mayDecide = useMay('approve_plan', project_id)
  const isOpen = status === 'proposed' && mayDecide
  const missions = draft ?? plan.missions.map(editable)
  const chosen = missions.find(({ key }) => key === search.get('mission'))
  const choose = (key: string | undefined) => setSearch(key ? { mission: key } : {}, { replace: true })
  const agentTitle = useAgentTitle()
  const titleOf = (key: string) => plain(missions.find(each => each.key === key)?.title ?? key)
  const made = new Map(plan.missions.map(each => [each.key, each]))
  const connect = (from: string, to: string) => {
    const next = connected(missions, from, to)
    if (next) setDraft(next)
    else tell({ text: `${to} already comes before ${from}: they would wait for each other.`, tone: 'bad' })
  }
  return (
    <Page
      title={status === 'planning' ? 'Planning…' : 'Plan'}
      about={
        <>
          <Badge color={PLAN_TONES[status]} highContrast>
            {PLAN_WORDS[status]}
          </Badge>{' '}
          {plain(projectName(project_id))} · {plural(missions.length, 'mission')}
          {estimate.usd ? ` · about ${dollars(estimate.usd)}` : ''} ·{' '}
          <Link href={`/missions/${mission_id}`}>the planner</Link>
        </>
      }
      actions={isOpen && <Decide plan={plan} draft={draft} approved={() => setDraft(undefined)} />}
    >
      <Card mb="4">
        <Markdown text={goal} />
      </Card>
      {reason && (
        <Callout.Root color={status === 'failed' ? 'red' : 'gray'} highContrast mb="4">
          <Callout.Text>{plain(reason)}</Callout.Text>
        </Callout.Root>
      )}
      {status === 'planning' && (
        <>
          <Text as="p" size="2" color="gray">
            {plain(reasonIn(waits_for) ?? 'The planner looks at the repository')}. This page shows its proposal as soon
            as it is ready.
          </Text>
          <Lines />
        </>
      )}
      {missions.length > 0 && (
        <>
          {summary && (
            <Text as="div" size="2" mb="3">
              <Markdown text={summary} />
            </Text>
          )}
          <div className="plan">
            <div className="plan-graph">
              <Suspense fallback={<Lines />}>
                <FlowGraph
                  label="Missions of the plan"
                  nodes={missions.map(({ key, title, agent }) => ({
                    id: key,
                    title,
                    status: made.get(key)?.status ?? null,
                    about: agent ?? undefined,
                  }))}
                  edges={missions.flatMap(({ key, depends_on }) => depends_on.map(from => ({ from, to: key })))}
                  selected={chosen?.key}
                  open={key => {
                    const mission = made.get(key)?.mission_id
                    if (mission) go(`/missions/${mission}`)
                    else choose(key)
                  }}
                  edit={
                    isOpen
                      ? { connect, disconnect: (from, to) => setDraft(disconnected(missions, from, to)) }
                      : undefined
                  }
                />
              </Suspense>
            </div>
            {chosen && (
              <MissionEditor
                key={chosen.key}
                mission={chosen}
                plan={missions}
                set={isOpen ? setDraft : undefined}
                close={() => choose(undefined)}
              />
            )}
          </div>
          <Section
            title="Missions"
            actions={
              isOpen && (
                <Button
                  size="1"
                  variant="soft"
                  highContrast
                  onClick={() => {
                    const next = added(missions)
                    setDraft(next.plan)
                    choose(next.key)
                  }}
                >
                  <Plus size={14} /> Add
                </Button>
              )
            }
          >
            <ol className="plan-list">
              {missions.map(({ key, title, depends_on, agent }) => {
                const mission = made.get(key)?.mission_id
                return (
                  <li key={key}>
                    {mission ? (
                      <Link href={`/missions/${mission}`}>{plain(title)}</Link>
                    ) : (
                      <button type="button" className="plan-link" onClick={() => choose(key)}>
                        {plain(title)}
                      </button>
                    )}
                    <Text size="1" color="gray">
                      {' '}
                      {agent && `${plain(agentTitle(agent))} · `}
                      {depends_on.length > 0 && `after ${depends_on.map(titleOf).join(', ')}`}
                    </Text>
                    {isOpen && missions.length > 1 && (
                      <Button
                        size="1"
                        variant="ghost"
                        color="red"
                        highContrast
                        ml="2"
                        className="plan-remove"
                        aria-label={`Remove ${title}`}
                        onClick={() => {
                          setDraft(removed(missions, key))
                          tell({
                            text: `Removed “${plain(title)}” from the plan.`,
                            action: { label: 'Undo', run: () => setDraft(missions) },
                          })
                        }}
                      >
                        <X size={12} /> Remove
                      </Button>
                    )}
                  </li>
                )
              })}
            </ol>
          </Section>
        </>
      )}
      {id && status === 'failed' && mayDecide && (
        <Button asChild variant="soft" highContrast>
          <Link href="/plans?new">Plan again</Link>
        </Button>
      )}
    </Page>
  )
}

interface DecideProps {
  plan: Plan
  draft: Planned[] | undefined
  approved(): void
}

function Decide({ plan: { id }, draft, approved }: DecideProps) {
  const [, go] = useLocation()
  const edit = useCommand('edit_plan')
  const approve = useCommand('approve_plan')
  const reject = useCommand('reject_plan')
  const decide = async () => {
    if (draft && !(await edit.run({ plan_id: id, missions: draft }))) return
    const done = await approve.run({ plan_id: id })
    if (!done) return
    approved()
    tell({ text: `${plural(done.missions.length, 'mission')} created and queued.` })
  }
  return (
    <>
      <Button loading={edit.busy || approve.busy} onClick={decide}>
        <Check size={16} /> {draft ? 'Approve as changed' : 'Approve'}
      </Button>
      {draft && (
        <Button
          variant="soft"
          highContrast
          loading={edit.busy}
          onClick={async () => {
            if (await edit.run({ plan_id: id, missions: draft })) tell({ text: 'Saved. Nothing runs yet.' })
          }}
        >
          Save
        </Button>
      )}
      <Button
        variant="soft"
        color="red"
        highContrast
        loading={reject.busy}
        onClick={async () => {
          if (await reject.run({ plan_id: id })) go('/plans')
        }}
      >
        Reject
      </Button>
    </>
  )
}
