import { Badge, Button, Card, Flex, Grid, Progress, Text } from '@radix-ui/themes'
import { Plus, Workflow as WorkflowIcon } from 'lucide-react'
import { Link, useSearchParams } from 'wouter'
import type { Output } from '../../api/client.ts'
import { useProjectNames } from '../../kit/choosers.tsx'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Page, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Elapsed, Time } from '../../kit/time.tsx'
import { useAsk } from '../../live/data.ts'
import { NewWorkflow } from './new.tsx'

type Row = Output<'list_workflows'>['workflows'][number]

export const WORKFLOW_TONES: Record<string, 'blue' | 'green' | 'red' | 'gray' | 'amber'> = {
  running: 'blue',
  done: 'green',
  failed: 'red',
  cancelled: 'gray',
}

export const WORKFLOW_WORDS: Record<string, string> = {
  making: 'Starting',
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
}

export default function Workflows() {
  const [search, setSearch] = useSearchParams()
  const making = search.get('new')
  const workflows = useAsk('list_workflows', { limit: 100 })
  const library = useAsk('list_ready_made_workflows', {})
  const begin = (use: string) => setSearch({ new: use })
  return (
    <Page
      title="Workflows"
      about="Stages that pass their results on. Each stage is a mission."
      actions={
        <May use="create_workflow">
          <Button onClick={() => begin('stages')}>
            <Plus size={16} /> New workflow
          </Button>
        </May>
      }
    >
      <Section title="Runs">
        <Answer of={workflows}>
          {({ workflows: list }) =>
            list.length === 0 ? (
              <Empty icon={WorkflowIcon} title="No workflows yet">
                Several agents work on one task: one writes, one reviews, one fixes. Choose a ready-made workflow below,
                or write your own stages.
              </Empty>
            ) : (
              <Flex direction="column" gap="2">
                {list.map(workflow => (
                  <RunCard key={workflow.id} workflow={workflow} />
                ))}
              </Flex>
            )
          }
        </Answer>
      </Section>
      <Section title="Ready-made">
        <Answer of={library}>
          {({ workflows: ready }) => (
            <Grid columns={{ initial: '1', sm: '2', lg: '3' }} gap="3">
              {ready.map(({ name, summary }) => (
                <Card key={name}>
                  <Flex direction="column" gap="2" height="100%">
                    <Text weight="medium">{name}</Text>
                    <Text size="2" color="gray">
                      {`${summary[0]!.toUpperCase()}${summary.slice(1)}`}
                    </Text>
                    <Flex mt="auto">
                      <May use="create_workflow">
                        <Button size="1" variant="soft" highContrast onClick={() => begin(name)}>
                          Use
                        </Button>
                      </May>
                    </Flex>
                  </Flex>
                </Card>
              ))}
            </Grid>
          )}
        </Answer>
      </Section>
      {making && <NewWorkflow use={making} close={() => setSearch({})} />}
    </Page>
  )
}

function RunCard({ workflow }: { workflow: Row }) {
  const { id, name, project_id, status, over, stage_count, created_at, ended_at, task_prompt, waits_for } = workflow
  const projectName = useProjectNames()
  return (
    <Card>
      <Flex gap="3" align="center" wrap="wrap">
        <Badge color={WORKFLOW_TONES[status] ?? 'gray'} highContrast>
          {WORKFLOW_WORDS[status] ?? status}
        </Badge>
        <Flex direction="column" flexGrow="1" flexBasis="200px" minWidth="0">
          <Link href={`/workflows/${id}`}>
            <Text weight="medium">{plain(name)}</Text>
          </Link>
          <Text size="1" color="gray" truncate>
            {plain(task_prompt)}
          </Text>
          {waits_for[0] && (
            <Text size="1" color="amber" highContrast>
              {plain(waits_for[0].stage)} needs you: {plain(waits_for[0].text)}
            </Text>
          )}
        </Flex>
        <Flex direction="column" width="140px">
          <Progress value={(over / stage_count) * 100} aria-label={`${over} of ${stage_count} stages finished`} />
          <Text size="1" color="gray">
            {over} of {stage_count} stages
          </Text>
        </Flex>
        <Text size="1" color="gray">
          {plain(projectName(project_id))} · <Elapsed from={created_at} to={ended_at} /> · <Time at={created_at} />
        </Text>
      </Flex>
    </Card>
  )
}
