import { Badge, Button, Card, Flex, Text } from '@radix-ui/themes'
import { Network, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import type { Output } from '../../api/client.ts'
import { AgentChooser, ProjectChooser, useProjectNames } from '../../kit/choosers.tsx'
import { LongTextInput, ScriptsSwitch, SwitchInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Page } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useAsk, useCommand } from '../../live/data.ts'

export type PlanStatus = Output<'list_plans'>['plans'][number]['status']

export const PLAN_TONES: Record<PlanStatus, 'blue' | 'amber' | 'green' | 'gray' | 'red'> = {
  planning: 'blue',
  proposed: 'amber',
  approved: 'green',
  complete: 'green',
  rejected: 'gray',
  failed: 'red',
}

export const PLAN_WORDS: Record<PlanStatus, string> = {
  planning: 'Planning',
  proposed: 'Needs approval',
  approved: 'Approved',
  complete: 'Nothing left to do',
  rejected: 'Rejected',
  failed: 'Failed',
}

export default function Plans() {
  const [search, setSearch] = useSearchParams()
  const plans = useAsk('list_plans', { limit: 100 })
  const projectName = useProjectNames()
  const begin = (
    <May use="plans.run">
      <Button onClick={() => setSearch({ new: '' })}>
        <Plus size={16} /> New plan
      </Button>
    </May>
  )
  return (
    <Page
      title="Plans"
      about="A goal that an agent breaks into missions; you decide before anything runs"
      actions={begin}
    >
      <Answer of={plans}>
        {({ plans: list }) =>
          list.length === 0 ? (
            <Empty icon={Network} title="No plans yet" action={begin}>
              Describe your goal. A planner looks at the repository and proposes missions with their dependencies. You
              edit and approve them.
            </Empty>
          ) : (
            <Flex direction="column" gap="2">
              {list.map(({ id, goal, status, project_id, created_at, summary, loop_id }) => (
                <Card key={id}>
                  <Flex gap="3" align="center" wrap="wrap">
                    <Badge color={PLAN_TONES[status]} highContrast>
                      {PLAN_WORDS[status]}
                    </Badge>
                    <Flex direction="column" flexGrow="1" flexBasis="240px" minWidth="0">
                      <Link href={`/plans/${id}`}>
                        <Text weight="medium">{plain(goal)}</Text>
                      </Link>
                      <Text size="1" color="gray" truncate>
                        {plain(summary)}
                      </Text>
                    </Flex>
                    <Text size="1" color="gray">
                      {loop_id && 'round of a loop · '}
                      {plain(projectName(project_id))} · <Time at={created_at} />
                    </Text>
                  </Flex>
                </Card>
              ))}
            </Flex>
          )
        }
      </Answer>
      {search.has('new') && <NewPlan close={() => setSearch({})} />}
    </Page>
  )
}

function NewPlan({ close }: { close(): void }) {
  const [, go] = useLocation()
  const [project, setProject] = useState<string | null>(null)
  const [goal, setGoal] = useState('')
  const [agent, setAgent] = useState<string | null>(null)
  const [scripts, setScripts] = useState(false)
  const [approve, setApprove] = useState(false)
  const { run, busy } = useCommand('plan_project', { done: ({ id }) => go(`/plans/${id}`) })
  return (
    <FormDialog
      title="New plan"
      act="Plan"
      busy={busy}
      ready={!!project && !!goal.trim()}
      close={close}
      submit={() => run({ project_id: project!, prompt: goal, agent: agent ?? undefined, scripts, approve })}
    >
      <ProjectChooser value={project} set={setProject} to="plan_project" />
      <LongTextInput label="Goal" value={goal} set={setGoal} rows={5} required />
      <AgentChooser coding label="Planner" value={agent} set={setAgent} none="Project default" />
      <ScriptsSwitch value={scripts} set={setScripts} />
      <SwitchInput
        label="Approve automatically"
        hint="Missions start without your review"
        value={approve}
        set={setApprove}
      />
    </FormDialog>
  )
}
