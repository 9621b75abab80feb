import { Badge, Button, Card, Flex, Table, Text } from '@radix-ui/themes'
import { Plus, Repeat } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { AgentChooser, ProjectChooser } from '../../kit/choosers.tsx'
import { LongTextInput, NumberInput, ScriptsSwitch, SwitchInput } from '../../kit/fields.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Lines, Page, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Elapsed, Time } from '../../kit/time.tsx'
import { dollars, plural } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { Controls } from './controls.tsx'
import { OUTCOMES, TONES, WORDS } from './words.ts'

type Project = Output<'list_projects'>['projects'][number]

export default function Loops() {
  const [starting, setStarting] = useState(false)
  const projects = useAsk('list_projects', { limit: 500 })
  const start = (
    <May use="loops.run">
      <Button onClick={() => setStarting(true)}>
        <Plus size={16} /> Start a loop
      </Button>
    </May>
  )
  return (
    <Page title="Loops" about="Rounds of planning, missions and landing until a goal is reached" actions={start}>
      <Answer of={projects}>
        {({ projects: all }) => {
          const withLoop = all.filter(project => project.loop_id)
          if (withLoop.length === 0)
            return (
              <Empty icon={Repeat} title="No loops yet" action={start}>
                A loop plans towards a goal, runs the missions of the plan, lands them, and plans again, until the goal
                is reached and the checks pass, or until it reaches a limit of rounds, money or failures.
              </Empty>
            )
          return withLoop.map(project => <LoopsOf key={project.id} project={project} />)
        }}
      </Answer>
      {starting && <StartLoop close={() => setStarting(false)} />}
    </Page>
  )
}

function LoopsOf({ project }: { project: Project }) {
  const { data: loop } = useAsk('get_loop', { project_id: project.id })
  const history = useAsk('list_loops', { project_id: project.id, limit: 20 }).data?.loops ?? []
  if (!loop) return <Lines rows={2} />
  const older = history.filter(({ id }) => id !== loop.id)
  return (
    <Section title={<Link href={`/projects/${project.id}`}>{plain(project.name)}</Link>}>
      <Card>
        <Flex justify="between" gap="3" wrap="wrap">
          <Flex direction="column" gap="1" minWidth="0">
            <Flex gap="2" align="center">
              <Badge color={TONES[loop.status]} highContrast>
                {WORDS[loop.status]}
              </Badge>
              <Text size="2" color="gray">
                Round {loop.rounds.length} of {loop.max_rounds} · {dollars(loop.spent_usd)} spent
                {loop.max_budget_usd !== null && ` of ${dollars(loop.max_budget_usd)}`} ·{' '}
                <Elapsed from={loop.created_at} to={loop.ended_at} />
              </Text>
            </Flex>
            <Link href={`/loops/${loop.id}`}>{plain(loop.goal)}</Link>
            {loop.waits_for && (
              <Text size="2" color="gray">
                Waiting for {loop.waits_for}
              </Text>
            )}
            {loop.ending && (
              <Text size="2" color="gray">
                {plain(loop.ending.text)}
              </Text>
            )}
          </Flex>
          <May use="loops.run" project={project.id}>
            <Controls project={project.id} status={loop.status} />
          </May>
        </Flex>
        {loop.rounds.length > 0 && (
          <Table.Root size="1" mt="3">
            <Table.Header>
              <Table.Row>
                <Table.ColumnHeaderCell>Round</Table.ColumnHeaderCell>
                <Table.ColumnHeaderCell>What it did</Table.ColumnHeaderCell>
                <Table.ColumnHeaderCell>Cost</Table.ColumnHeaderCell>
                <Table.ColumnHeaderCell>Started</Table.ColumnHeaderCell>
              </Table.Row>
            </Table.Header>
            <Table.Body>
              {loop.rounds.toReversed().map(round => (
                <Table.Row key={round.number}>
                  <Table.RowHeaderCell>
                    <Link href={`/loops/${loop.id}?round=${round.number}`}>Round {round.number}</Link>
                  </Table.RowHeaderCell>
                  <Table.Cell>
                    <Text as="div" weight="medium">
                      {round.outcome ? OUTCOMES[round.outcome] : 'In progress'}
                    </Text>
                    {plain(round.text ?? '')}
                  </Table.Cell>
                  <Table.Cell>{dollars(round.cost_usd)}</Table.Cell>
                  <Table.Cell>
                    <Time at={round.started_at} />
                  </Table.Cell>
                </Table.Row>
              ))}
            </Table.Body>
          </Table.Root>
        )}
      </Card>
      {older.map(({ id, goal, status, rounds, ended_at }) => (
        <Flex key={id} gap="2" mt="2" align="center">
          <Badge color={TONES[status]} highContrast>
            {WORDS[status]}
          </Badge>
          <Text size="2" truncate>
            <Link href={`/loops/${id}`}>{plain(goal)}</Link>
          </Text>
          <Text size="2" color="gray">
            {plural(rounds.length, 'round')}, {ended_at && <Time at={ended_at} />}
          </Text>
        </Flex>
      ))}
    </Section>
  )
}

function StartLoop({ close }: { close(): void }) {
  const [project, setProject] = useState<string | null>(null)
  const [goal, setGoal] = useState('')
  const [agent, setAgent] = useState<string | null>(null)
  const [rounds, setRounds] = useState<number | null>(10)
  const [budget, setBudget] = useState<number | null>(null)
  const [scripts, setScripts] = useState(false)
  const [unchecked, setUnchecked] = useState(false)
  const { run, busy } = useCommand('start_loop', { affects: ['list_projects'], done: close })
  return (
    <FormDialog
      title="Start a loop"
      act="Start"
      busy={busy}
      ready={!!project && !!goal.trim()}
      close={close}
      submit={() =>
        run({
          project_id: project!,
          goal,
          agent,
          max_rounds: rounds ?? undefined,
          max_budget_usd: budget,
          scripts,
          unchecked,
        })
      }
    >
      <ProjectChooser value={project} set={setProject} to="start_loop" />
      <LongTextInput
        label="Goal"
        hint="Say how to tell that it is reached. The checks confirm it."
        value={goal}
        set={setGoal}
        required
      />
      <AgentChooser coding label="Planner" value={agent} set={setAgent} none="Project default" />
      <NumberInput label="Maximum rounds" value={rounds} set={setRounds} min={1} max={50} />
      <NumberInput
        label="Budget ($)"
        hint="For all its agents together. Then the loop stops."
        value={budget}
        set={setBudget}
        min={0}
        step="any"
        placeholder="No limit"
      />
      <ScriptsSwitch value={scripts} set={setScripts} />
      <SwitchInput
        label="Run without checks"
        hint="The planner alone decides that the goal is reached."
        value={unchecked}
        set={setUnchecked}
      />
    </FormDialog>
  )
}
