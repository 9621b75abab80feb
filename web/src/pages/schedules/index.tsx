import { Badge, Button, Callout, Card, Code, DropdownMenu, Flex, IconButton, Switch, Text } from '@radix-ui/themes'
import { CalendarClock, Ellipsis, Play, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { useProjectNames } from '../../kit/choosers.tsx'
import { Answer, Empty, Page } from '../../kit/page.tsx'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { exactTime, plural } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { ScheduleForm } from './form.tsx'
import type { Schedule } from './schedule.ts'
import './schedules.css'

export default function Schedules() {
  const [editing, setEditing] = useState<Schedule | 'new'>()
  const schedules = useAsk('list_schedules', { limit: 200 })
  const add = (
    <Button onClick={() => setEditing('new')}>
      <Plus size={16} /> New schedule
    </Button>
  )
  return (
    <Page title="Schedules" about="Missions and workflows that run at set times" actions={add}>
      <Answer of={schedules}>
        {({ schedules: list }) =>
          list.length === 0 ? (
            <Empty icon={CalendarClock} title="No schedules yet" action={add}>
              A schedule runs a copy of a mission or workflow at set times: update dependencies every Monday, triage new
              issues each morning. Each time runs exactly once, also across restarts.
            </Empty>
          ) : (
            <Flex direction="column" gap="3">
              {list.map(schedule => (
                <Row key={schedule.id} schedule={schedule} edit={() => setEditing(schedule)} />
              ))}
            </Flex>
          )
        }
      </Answer>
      {editing && (
        <ScheduleForm schedule={editing === 'new' ? undefined : editing} close={() => setEditing(undefined)} />
      )}
    </Page>
  )
}

const OVERLAPS = { skip: 'skip', queue: 'queue', replace: 'replace it' }

function Row({ schedule, edit }: { schedule: Schedule; edit(): void }) {
  const { id, of, title, project_id, cron, time_zone, enabled, overlap, next_times, made, skipped, last, problem } =
    schedule
  const projectName = useProjectNames()
  const update = useCommand('update_schedule')
  const runNow = useCommand('run_schedule', { done: () => tell({ text: 'A copy is on its way.' }) })
  const remove = useCommand('remove_schedule')
  return (
    <Card>
      <div className="schedule">
        <Switch
          mt="1"
          aria-label={`Enable ${title}`}
          checked={enabled}
          onCheckedChange={on => update.run({ schedule_id: id, enabled: on })}
        />
        <Flex direction="column" gap="1" className="schedule-words">
          <Flex gap="2" align="center" wrap="wrap">
            <Text weight="medium">
              <Link href={of === 'mission' ? `/missions/${id}` : `/workflows/${id}`}>{title}</Link>
            </Text>
            <Badge color="gray" highContrast>
              {of}
            </Badge>
            <Code size="2">{cron}</Code>
            <Text size="2" color="gray">
              {time_zone} · {projectName(project_id)}
            </Text>
          </Flex>
          {next_times.length > 0 ? (
            <ol className="next-times" aria-label="Next times">
              {next_times.map((time, at) => (
                <li key={time}>{at === 0 ? <Time at={time} /> : exactTime(time)}</li>
              ))}
            </ol>
          ) : (
            <Text size="2" color="gray">
              Disabled
            </Text>
          )}
          <Text size="1" color="gray">
            {plural(made, 'run')}, {skipped} skipped · if the last one still runs: {OVERLAPS[overlap]}
            {last && (
              <>
                {' '}
                · last run <Time at={last.cron_time} />{' '}
                <Link href={of === 'mission' ? `/missions/${last.copy_id}` : `/workflows/${last.copy_id}`}>open</Link>
              </>
            )}
          </Text>
          {problem && (
            <Callout.Root color="red" size="1" highContrast>
              <Callout.Text>{problem}</Callout.Text>
            </Callout.Root>
          )}
        </Flex>
        <Button variant="soft" highContrast loading={runNow.busy} onClick={() => runNow.run({ schedule_id: id })}>
          <Play size={14} /> Run now
        </Button>
        <DropdownMenu.Root>
          <DropdownMenu.Trigger>
            <IconButton variant="soft" color="gray" highContrast aria-label={`More for ${title}`}>
              <Ellipsis size={16} />
            </IconButton>
          </DropdownMenu.Trigger>
          <DropdownMenu.Content>
            <DropdownMenu.Item onSelect={edit}>Edit…</DropdownMenu.Item>
            <DropdownMenu.Item
              color="red"
              onSelect={() => remove.runLater('Deleting the schedule. What it started stays.', { schedule_id: id })}
            >
              Remove
            </DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Root>
      </div>
    </Card>
  )
}
