import { Button, Card, Flex, IconButton, Progress, Text, Tooltip } from '@radix-ui/themes'
import { MessageSquare } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { LongTextInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { May } from '../../kit/may.tsx'
import { OtherHost } from '../../kit/other-host.tsx'
import { Answer, Lines, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { StatusDot } from '../../kit/status.tsx'
import { Elapsed } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { dollars, plural, roughly, type Status } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'

type Task = Output<'list_running'>['tasks'][number]

const SHOWN = 20

/** No event tells what an agent prints. */
const LOOK_MS = 3000
const whileRunning = (answer: unknown): number | false =>
  (answer as Output<'list_running'> | undefined)?.tasks.length ? LOOK_MS : false

/** Running agents: what each does now, how long, how full its context is, and what it cost. Updated live. */
export function Running() {
  const running = useAsk('list_running', { limit: SHOWN }, { everyMs: whileRunning })
  const counts = useAsk('count_missions', {}).data?.counts
  const count = (running.data?.tasks.length ?? 0) + (running.data?.more ?? 0)
  const queued = counts?.queued ?? 0
  const mayRun = useMay('dispatch_mission')
  return (
    <Section
      title={count ? `Running (${count})` : 'Running'}
      actions={
        queued > 0 && (
          <Button variant="ghost" asChild>
            <Link href="/missions">{plural(queued, 'mission')} queued</Link>
          </Button>
        )
      }
    >
      <Answer of={running} loading={<Lines rows={2} height={56} />}>
        {({ tasks, more }) => (
          <>
            {tasks.length === 0 && (
              <Card>
                <Text size="2" color="gray">
                  No agents are running.{mayRun && ' Describe a task above to start one.'}
                </Text>
              </Card>
            )}
            <ul className="running">
              {tasks.map(task => (
                <Row key={task.session_id} task={task} />
              ))}
            </ul>
            {otherHosts(tasks).map(([host, there]) => (
              <OtherHost key={host} host={host} count={there.length} />
            ))}
            {more > 0 && (
              <Text size="2" color="gray">
                {more} more on the <Link href="/missions?state=running">board</Link>
              </Text>
            )}
          </>
        )}
      </Answer>
    </Section>
  )
}

const otherHosts = (tasks: readonly Task[]): [string, Task[]][] => [
  ...Map.groupBy(
    tasks.filter(({ elsewhere }) => elsewhere),
    ({ host }) => host ?? '',
  ),
]

function Row({ task }: { task: Task }) {
  const titleOf = useAgentTitle()
  const mayRead = useMay('read_transcript', task.project_id)
  const { mission_id, session_id, title, project, status, agent, model, started_at, usage, waits_for } = task
  return (
    <li className="running-row">
      <StatusDot status={status as Status} />
      <div className="running-words">
        <Link href={mayRead ? `/sessions/${session_id}` : `/missions/${mission_id}`} className="running-title">
          {plain(title)}
        </Link>
        <div className="running-now">
          {task.doing ? plain(task.doing) : <span className="running-starting">Starting…</span>}
        </div>
        <Text as="div" size="1" color="gray" truncate>
          {plain(project)} · {titleOf(agent)}
          {model && ` · ${plain(model)}`}
          {task.elsewhere && ` · on host ${plain(task.host ?? '')}`}
        </Text>
        {waits_for.map(({ text }) => (
          <Text key={text} as="div" size="1" color="amber" truncate>
            {plain(text)}
          </Text>
        ))}
      </div>
      <ContextGauge task={task} />
      <Text size="1" className="running-figures">
        <Elapsed from={started_at} />
        {usage.turns > 0 && (
          <span title={`${roughly(usage.input_tokens + usage.output_tokens)} tokens`}>{dollars(usage.cost_usd)}</span>
        )}
      </Text>
      <May use="say_to_mission" project={task.project_id}>
        <Speak missionId={mission_id} title={title} />
      </May>
    </li>
  )
}

function ContextGauge({ task: { context } }: { task: Task }) {
  if (!context?.window_tokens) return <span className="gauge" />
  const percent = Math.min(100, Math.round((context.used_tokens / context.window_tokens) * 100))
  return (
    <Tooltip
      content={`${roughly(context.used_tokens)} of ${roughly(context.window_tokens)} tokens of its context window are used`}
    >
      <Flex className="gauge" align="center" gap="1">
        <Text size="1" color="gray">
          Context {percent} %
        </Text>
        <Progress
          value={percent}
          size="1"
          aria-label="Context window used"
          color={percent > 80 ? 'amber' : undefined}
        />
      </Flex>
    </Tooltip>
  )
}

/** Sends a message to a running agent. */
function Speak({ missionId, title }: { missionId: string; title: string }) {
  const [open, setOpen] = useState(false)
  const [words, setWords] = useState('')
  const { run, busy } = useCommand('say_to_mission')
  const send = async () => {
    const said = await run({ mission_id: missionId, text: words.trim() })
    if (!said) return
    setOpen(false)
    setWords('')
    tell({
      text: said.heard === 'mid-turn' ? 'Sent. The agent reads it now.' : 'Sent. The agent reads it after its turn.',
    })
  }
  return (
    <>
      <Tooltip content="Message the agent">
        <IconButton
          variant="ghost"
          color="gray"
          highContrast
          aria-label={`Message the agent of ${title}`}
          onClick={() => setOpen(true)}
          className="speak"
        >
          <MessageSquare size={16} />
        </IconButton>
      </Tooltip>
      {open && (
        <FormDialog
          title="Message the agent"
          about={title}
          act="Send"
          busy={busy}
          ready={!!words.trim()}
          close={() => setOpen(false)}
          submit={send}
        >
          <LongTextInput label="Message" value={words} set={setWords} />
        </FormDialog>
      )}
    </>
  )
}
