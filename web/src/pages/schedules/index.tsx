import { Button, Callout, Card, DropdownMenu, Flex, IconButton, Switch, Text } from '@radix-ui/themes'
import { CalendarClock, Ellipsis, Play, Plus } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { useProjectNames } from '../../kit/choosers.tsx'
import { May } from '../../kit/may.tsx'
import { Answer, Empty, Page } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { tell } from '../../kit/toasts.tsx'
import { plural, STATUS_WORDS, type Status } from '../../kit/words.ts'
import { useAsk, useCommand } from '../../live/data.ts'
import { useMay } from '../../live/me.ts'
import { ScheduleForm } from './form.tsx'
import { type Schedule, timeIn } from './schedule.ts'
import './schedules.css'

export default function Schedules() {
  const [editing, setEditing] = useState<Schedule | 'new'>()
  const schedules = useAsk('list_schedules', { limit: 200 })
  const add = (
    <May use="schedules.write">
      <Button onClick={() => setEditing('new')}>
        <Plus size={16} /> New schedule
      </Button>
    </May>
  )
  return (
    <Page title="Schedules" about="Missions and workflows that run at set times" actions={add}>
      <Answer of={schedules}>
        {({ schedules: list }) =>
          list.length === 0 ? (
            <Empty icon={CalendarClock} title="No schedules yet" action={add}>
              A schedule runs a copy of a mission or workflow at set times: update dependencies every Monday, triage new
              issues each morning. Each run happens exactly once, even after a restart.
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

const SHOWN_TIMES = 3

/** The status of a mission, or of a workflow. */
const copyWords = (status: string): string =>
  STATUS_WORDS[status as Status] ?? `${status[0]!.toUpperCase()}${status.slice(1)}`

function Row({ schedule, edit }: { schedule: Schedule; edit(): void }) {
  const { id, of, title, project_id, time_zone, enabled, in_words, next_times, history, made, skipped, problem } =
    schedule
  const where = of === 'mission' ? '/missions' : '/workflows'
  const projectName = useProjectNames()
  const update = useCommand('update_schedule')
  const runNow = useCommand('run_schedule', {
    done: () => tell({ text: 'Run requested. It starts once the previous run is over.' }),
  })
  const remove = useCommand('remove_schedule')
  const mayWrite = useMay('update_schedule', project_id)
  return (
    <Card>
      <div className="schedule">
        <Switch
          mt="1"
          aria-label={`${title} on schedule`}
          disabled={!mayWrite}
          checked={enabled}
          onCheckedChange={on => update.run({ schedule_id: id, enabled: on })}
        />
        <Flex direction="column" gap="1" className="schedule-words">
          <Text weight="medium">
            <Link href={`${where}/${id}`}>{plain(title)}</Link>
          </Text>
          <Text size="2">
            {in_words}, {time_zone}
          </Text>
          {next_times.length > 0 ? (
            <Text size="2" color="gray">
              Next: <Time at={next_times[0]!} /> ·{' '}
              {next_times
                .slice(0, SHOWN_TIMES)
                .map(time => timeIn(time, time_zone))
                .join(' · ')}
            </Text>
          ) : (
            <Text size="2" color="gray">
              {enabled ? 'No further runs' : 'Off'}
            </Text>
          )}
          <Text size="1" color="gray">
            {of === 'mission' ? 'Mission' : 'Workflow'} in {plain(projectName(project_id))} · {plural(made, 'run')}
            {skipped > 0 && `, ${skipped} skipped`}
          </Text>
          {problem && (
            <Callout.Root color="red" size="1" highContrast>
              <Callout.Text>{problem}</Callout.Text>
            </Callout.Root>
          )}
          {history.length > 0 && (
            <details className="schedule-history">
              <summary>Last runs</summary>
              <ul>
                {history.map(({ cron_time, copy_id, status }) => (
                  <li key={copy_id}>
                    <Link href={`${where}/${copy_id}`}>{timeIn(cron_time, time_zone)}</Link>
                    <Text size="2" color="gray">
                      {copyWords(status)}
                    </Text>
                  </li>
                ))}
              </ul>
            </details>
          )}
        </Flex>
        {mayWrite && (
          <>
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
                  onSelect={() => remove.runLater('Removing the schedule. What it started stays.', { schedule_id: id })}
                >
                  Remove
                </DropdownMenu.Item>
              </DropdownMenu.Content>
            </DropdownMenu.Root>
          </>
        )}
      </div>
    </Card>
  )
}
