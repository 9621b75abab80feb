import { Badge, Button, Card, Code, Flex, Text } from '@radix-ui/themes'
import { Play, Square } from 'lucide-react'
import type { Output } from '../../api/client.ts'
import { CheckLine } from '../../kit/check-line.tsx'
import { Foreign } from '../../kit/foreign.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { useAsk, useCommand } from '../../live/data.ts'
import type { Project } from './project.ts'

type Run = NonNullable<Output<'get_check_run'>['run']>

/** No event tells of a printed line. */
const LOOK_MS = 1000

/** The last run of checks on the base branch, as it happens. */
export function useCheckRun(project: Project) {
  const answer = useAsk(
    'get_check_run',
    { project_id: project.id },
    { everyMs: found => ((found as Output<'get_check_run'> | undefined)?.run?.running ? LOOK_MS : false) },
  )
  const start = useCommand('run_checks', { affects: ['get_check_run'] })
  const run = answer.data?.run ?? undefined
  const isLive = run !== undefined && run.status !== 'ended'
  return { run, isLive, busy: start.busy, start: (check?: string) => start.run({ project_id: project.id, check }) }
}

const STATES: Record<NonNullable<Run['outcome']> | 'waiting' | 'running', { text: string; color: Color }> = {
  waiting: { text: 'Waiting for a landing', color: 'amber' },
  running: { text: 'Running', color: 'blue' },
  passed: { text: 'Passed', color: 'green' },
  failed: { text: 'Failed', color: 'red' },
  stopped: { text: 'Stopped', color: 'gray' },
}
type Color = 'amber' | 'blue' | 'green' | 'red' | 'gray'

interface CheckRunProps {
  project: Project
  running: ReturnType<typeof useCheckRun>
  /** Why nothing can be run now. */
  hindered?: string
}

export function CheckRunCard({ project, running: { run, isLive, busy, start }, hindered }: CheckRunProps) {
  const stop = useCommand('stop_checks', { affects: ['get_check_run'] })
  return (
    <Card mb="4">
      <Flex direction="column" gap="3">
        <Flex justify="between" align="center" gap="3" wrap="wrap">
          <Flex direction="column" minWidth="0">
            <Text weight="medium">Run on {plain(project.base_branch)}</Text>
            <Text size="2" color="gray">
              {hindered ?? 'On its current commit, in a worktree for checks. Your files stay as they are.'}
            </Text>
          </Flex>
          {isLive ? (
            <Button
              type="button"
              variant="soft"
              color="red"
              highContrast
              loading={stop.busy}
              disabled={run?.stopping}
              onClick={() => stop.run({ project_id: project.id })}
            >
              <Square size={14} /> Stop
            </Button>
          ) : (
            <Button type="button" loading={busy} disabled={!!hindered} onClick={() => start()}>
              <Play size={14} /> Run now
            </Button>
          )}
        </Flex>
        {run && <Evidence run={run} />}
      </Flex>
    </Card>
  )
}

function Evidence({ run }: { run: Run }) {
  const { status, outcome, commit, branch, checks, results, running, reason, created_at, ended_at } = run
  const state = STATES[status === 'ended' ? (outcome ?? 'stopped') : status]
  return (
    <section aria-label="Last run" className="check-run">
      <Flex gap="2" align="center" wrap="wrap">
        <Badge color={state.color} highContrast role="status">
          {state.text}
        </Badge>
        <Text size="2" color="gray">
          {results.length} of {checks.length} · {plain(branch)} at <Code>{commit.slice(0, 10)}</Code> ·{' '}
          <Time at={ended_at ?? created_at} />
        </Text>
      </Flex>
      {reason && <Foreign text={reason} code tone="bad" />}
      {results.map(result => (
        <CheckLine key={result.name} check={result} />
      ))}
      {running && (
        <details className="fold check" open>
          <summary>
            <Badge color="blue" highContrast>
              running
            </Badge>
            <Text size="2" weight="medium">
              {plain(running.name)}
            </Text>
          </summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <div className="check-output" tabIndex={0}>
            <Foreign text={`$ ${running.command}`} code tone="quiet" />
            <Foreign text={running.output || '(no output yet)'} code lines={200} chars={40_000} />
          </div>
        </details>
      )}
    </section>
  )
}
