import { Badge, Button, Card, Flex, Table, Text } from '@radix-ui/themes'
import { Brush, RotateCcw, Square } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import type { Output } from '../../api/client.ts'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { AgentChooser, useRunsScripts } from '../../kit/choosers.tsx'
import { LongTextInput, TextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { Answer, Lines, Page, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { StatusDot } from '../../kit/status.tsx'
import { Elapsed } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { bytes, duration, STATUS_WORDS, type Status } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { WORKFLOW_TONES, WORKFLOW_WORDS } from './index.tsx'
import './workflow.css'

const FlowGraph = lazy(() => import('../../kit/graph/graph.tsx'))

type Workflow = Output<'get_workflow'>
type Stage = Workflow['stages'][number]

export default function WorkflowPage() {
  const { workflow_id = '' } = useParams()
  const workflow = useAsk('get_workflow', { workflow_id })
  return <Answer of={workflow}>{found => <Shown workflow={found} />}</Answer>
}

const statusOf = ({ status }: Stage): Status | null => (status === 'made' ? null : (status as Status))

function Shown({ workflow }: { workflow: Workflow }) {
  const { name, status, status_reason, waits_for, task_prompt, stages, over, stage_count, created_at, ended_at } =
    workflow
  const [, go] = useLocation()
  const [changing, setChanging] = useState<Stage>()
  const isOver = ended_at !== null
  const mayRun = useMay('workflows.run', workflow.project_id)
  const titleOf = useAgentTitle()
  return (
    <Page
      title={plain(name)}
      about={
        <>
          <Badge color={WORKFLOW_TONES[status] ?? 'gray'} highContrast>
            {WORKFLOW_WORDS[status] ?? status}
          </Badge>{' '}
          {over} of {stage_count} stages finished · <Elapsed from={created_at} to={ended_at} />
        </>
      }
      actions={mayRun && <Actions workflow={workflow} />}
    >
      {waits_for.map(({ stage, mission_id, text }) => (
        <Text key={mission_id} as="p" size="2" mt="0">
          <Link href={`/missions/${mission_id}`}>{plain(stage)}</Link> needs you: {plain(text)}
        </Text>
      ))}
      {status_reason && (
        <Text as="p" size="2" mt="0">
          {plain(status_reason.text)}
        </Text>
      )}
      <div className="workflow-graph">
        <Suspense fallback={<Lines />}>
          <FlowGraph
            label="Stages"
            nodes={stages.map(stage => ({
              id: stage.name,
              title: stage.name,
              status: statusOf(stage),
              about: stage.agent ? plain(titleOf(stage.agent)) : undefined,
              why: stage.summary,
            }))}
            edges={stages.flatMap(stage => stage.depends_on.map(from => ({ from, to: stage.name })))}
            open={stage => go(`/missions/${stages.find(each => each.name === stage)?.mission_id}`)}
          />
        </Suspense>
      </div>
      <Section title="Stages">
        <Table.Root variant="surface" size="1" className="stages">
          <Table.Header>
            <Table.Row>
              <Table.ColumnHeaderCell>Stage</Table.ColumnHeaderCell>
              <Table.ColumnHeaderCell>Status</Table.ColumnHeaderCell>
              <Table.ColumnHeaderCell>After</Table.ColumnHeaderCell>
              <Table.ColumnHeaderCell>Duration</Table.ColumnHeaderCell>
              <Table.ColumnHeaderCell>
                <span className="visually-hidden">Change</span>
              </Table.ColumnHeaderCell>
            </Table.Row>
          </Table.Header>
          <Table.Body>
            {stages.map(stage => (
              <StageRow
                key={stage.name}
                stage={stage}
                change={isOver && mayRun ? () => setChanging(stage) : undefined}
              />
            ))}
          </Table.Body>
        </Table.Root>
      </Section>
      <Section title="Task">
        <Card>
          <Markdown text={task_prompt || 'No task. The stages have their own prompts.'} />
        </Card>
      </Section>
      {changing && <ChangeStage workflow={workflow.id} stage={changing} close={() => setChanging(undefined)} />}
    </Page>
  )
}

function StageRow({ stage, change }: { stage: Stage; change: (() => void) | undefined }) {
  const status = statusOf(stage)
  return (
    <Table.Row align="center">
      <Table.RowHeaderCell>
        {status ? <Link href={`/missions/${stage.mission_id}`}>{plain(stage.name)}</Link> : plain(stage.name)}
        <Text as="div" size="1" color="gray">
          {plain(stage.summary)}
        </Text>
      </Table.RowHeaderCell>
      <Table.Cell>
        {status ? (
          <Flex gap="1" align="center">
            <StatusDot status={status} /> {STATUS_WORDS[status]}
          </Flex>
        ) : (
          'Not started'
        )}
      </Table.Cell>
      <Table.Cell>{stage.depends_on.map(plain).join(', ')}</Table.Cell>
      <Table.Cell>{stage.elapsed_seconds !== null && duration(stage.elapsed_seconds)}</Table.Cell>
      <Table.Cell>
        {change && (
          <Button size="1" variant="soft" color="gray" highContrast onClick={change}>
            Change…
          </Button>
        )}
      </Table.Cell>
    </Table.Row>
  )
}

function Actions({ workflow: { id, ended_at, status } }: { workflow: Workflow }) {
  const cancel = useCommand('cancel_workflow')
  const retry = useCommand('retry_workflow')
  const cleanup = useCommand('cleanup_workflow', {
    done: ({ freed_bytes }) => tell({ text: `Freed ${bytes(freed_bytes)}. The work stays in the repository as refs.` }),
  })
  if (!ended_at)
    return (
      <Button
        variant="soft"
        color="red"
        highContrast
        loading={cancel.busy}
        onClick={async () => {
          if (await cancel.run({ workflow_id: id }))
            tell({
              text: 'Stopped. The work of its stages is kept.',
              action: { label: 'Resume', run: () => void retry.run({ workflow_id: id }) },
            })
        }}
      >
        <Square size={14} /> Stop
      </Button>
    )
  return (
    <>
      {status !== 'done' && (
        <Button variant="soft" highContrast loading={retry.busy} onClick={() => retry.run({ workflow_id: id })}>
          <RotateCcw size={14} /> Retry failed stages
        </Button>
      )}
      <Button
        variant="soft"
        color="gray"
        highContrast
        loading={cleanup.busy}
        onClick={() => cleanup.run({ workflow_id: id })}
      >
        <Brush size={14} /> Clean up
      </Button>
    </>
  )
}

function ChangeStage({ workflow, stage, close }: { workflow: string; stage: Stage; close(): void }) {
  const [prompt, setPrompt] = useState('')
  const [agent, setAgent] = useState(stage.agent)
  const isScript = useRunsScripts()(agent)
  const [model, setModel] = useState(stage.model ?? '')
  const { run, busy } = useCommand('change_workflow_stage', { done: close })
  return (
    <FormDialog
      title={`Edit ${stage.name}`}
      about="This stage and those that depend on it run again. The others stay as they are."
      act="Run again"
      busy={busy}
      close={close}
      submit={() =>
        run({
          workflow_id: workflow,
          stage: stage.name,
          ...(prompt && { prompt }),
          // A new script must name the agent that runs it.
          ...((agent !== stage.agent || (prompt && agent)) && { agent }),
          ...(model !== (stage.model ?? '') && { model: model || null }),
        })
      }
    >
      <LongTextInput
        label={isScript ? 'Script' : 'Prompt'}
        code={isScript}
        hint={isScript ? '/bin/sh runs this text as it is; empty: unchanged' : 'Empty: unchanged'}
        value={prompt}
        set={setPrompt}
        rows={6}
      />
      <AgentChooser value={agent} set={setAgent} none="Project default" />
      <TextInput label="Model" value={model} set={setModel} placeholder="The agent's default" />
    </FormDialog>
  )
}
