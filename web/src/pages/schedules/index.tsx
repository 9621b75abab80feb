import { Badge, Button, Callout, Card, Code, DropdownMenu, Flex, IconButton, Switch, Text } from '@radix-ui/themes'
import { CalendarClock, Ellipsis, Play, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { useProjectNames } from '../../kit/choosers.tsx'
import { Answer, Empty, Page } from '../../kit/page.tsx'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { exactTime, plural } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { ScheduleForm } from './form.tsx'
import './schedules.css'

export type Schedule = Output<'list_schedules'>['schedules'][number]

export default function Schedules() {
  const [editing, setEditing] = useState<Schedule | 'new'>()
  const schedules = useAsk('list_schedules', { limit: 200 })
  const add = (
    <Button onClick={() => setEditing('new')}>
      <Plus size={16} /> New schedule
    </Button>
  )
  return (
    <Page title="Schedules" about="Missions and workflows that are copied again and again" actions={add}>
      <Answer of={schedules}>
        {({ schedules: list }) =>
          list.length === 0 ? (
            <Empty icon={CalendarClock} title="Nothing is scheduled" action={add}>
              A schedule copies a mission or a workflow at the times a rule says: update dependencies every Monday, look
              through new issues each morning. Each time is kept exactly once, also across restarts.
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

const OVERLAPS = { skip: 'skips a time', queue: 'queues behind it', replace: 'replaces it' }

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
          aria-label={`Keep to ${title}`}
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
              Not kept to at the moment
            </Text>
          )}
          <Text size="1" color="gray">
            {plural(made, 'copy', 'copies')} made, {skipped} skipped · while one is at work it {OVERLAPS[overlap]}
            {last && (
              <>
                {' '}
                · the last: <Time at={last.slot} />{' '}
                <Link href={of === 'mission' ? `/missions/${last.copy_id}` : `/workflows/${last.copy_id}`}>look</Link>
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
            <DropdownMenu.Item onSelect={edit}>Change…</DropdownMenu.Item>
            <DropdownMenu.Item
              color="red"
              onSelect={() => remove.runLater('Removing the schedule; its copies stay.', { schedule_id: id })}
            >
              Remove
            </DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Root>
      </div>
    </Card>
  )
}
