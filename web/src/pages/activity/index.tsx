import { Button, Flex, Text, TextField } from '@radix-ui/themes'
import { Activity as ActivityIcon, Search } from 'lucide-react'
import { Link, useSearchParams } from 'wouter'
import { ProjectChooser, useProjectNames } from '../../kit/choosers.tsx'
import { ChoiceInput } from '../../kit/fields.tsx'
import { Empty, Lines, Page, Problem } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Dot } from '../../kit/status.tsx'
import { Time } from '../../kit/time.tsx'
import { shortId } from '../../kit/words.ts'
import type { FleetEvent } from '../../live/fleet-events.ts'
import './activity.css'
import { useHappened } from './happened.ts'
import { GROUPS, type Group, toneOf } from './kinds.ts'

export default function ActivityPage() {
  const [search, setSearch] = useSearchParams()
  const said = (field: string): string | undefined => search.get(field) ?? undefined
  const set = (field: string) => (value: string | null) =>
    setSearch(
      before => {
        const { [field]: _, ...rest } = Object.fromEntries(before)
        return value ? { ...rest, [field]: value } : rest
      },
      { replace: true },
    )
  const group = (Object.keys(GROUPS) as Group[]).find(each => each === said('about'))
  const { events, older, isPending, error, refetch } = useHappened({
    project_id: said('project'),
    mission_id: said('mission'),
    kinds: group && [...GROUPS[group].kinds],
  })
  const text = said('text')?.toLowerCase() ?? ''
  const shown = text ? events.filter(event => JSON.stringify(event).toLowerCase().includes(text)) : events
  return (
    <Page title="Activity" about="Everything that happened, newest first, as it happens">
      <div className="activity-filters">
        <ProjectChooser value={said('project') ?? null} set={set('project')} none="All projects" />
        <ChoiceInput
          label="About"
          value={group ?? null}
          set={set('about')}
          options={Object.entries(GROUPS).map(([value, { title }]) => ({ value, label: title }))}
          none="Everything"
        />
        <TextField.Root
          aria-label="Filter events"
          placeholder="Filter events"
          value={text}
          onChange={event => set('text')(event.target.value)}
        >
          <TextField.Slot>
            <Search size={14} />
          </TextField.Slot>
        </TextField.Root>
      </div>
      {error && <Problem error={error} retry={refetch} />}
      {isPending && <Lines rows={8} height={28} />}
      {!isPending && shown.length === 0 && (
        <Empty icon={ActivityIcon} title="No matching events">
          Everything that a person, an agent or the fleet itself does appears here at once.
        </Empty>
      )}
      <ol className="activity">
        {shown.map(event => (
          <Row key={event.cursor} event={event} />
        ))}
      </ol>
      {older && (
        <Flex justify="center" mt="3">
          <Button variant="soft" color="gray" highContrast loading={older.busy} onClick={older.read}>
            Older
          </Button>
        </Flex>
      )}
    </Page>
  )
}

function Row({ event }: { event: FleetEvent }) {
  const { kind, time, actor, project_id, mission_id, session_id, cause, data } = event
  const projectName = useProjectNames()
  const details = Object.entries(data)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
  return (
    <li>
      <Text size="1" color="gray" className="activity-time">
        <Time at={time} />
      </Text>
      <Dot tone={toneOf(kind)} />
      <div className="activity-words">
        <Text size="2" weight="medium">
          {kind.replaceAll('_', ' ')}
        </Text>{' '}
        {mission_id && (
          <Text size="2">
            <Link href={`/missions/${mission_id}`}>mission {shortId(mission_id)}</Link>{' '}
          </Text>
        )}
        {session_id && (
          <Text size="2">
            <Link href={`/sessions/${session_id}`}>session {shortId(session_id)}</Link>{' '}
          </Text>
        )}
        <Text size="2" color="gray">
          {plain(projectName(project_id))} by {plain(actor)}
        </Text>
        {(cause || details) && (
          <Text as="div" size="1" color="gray" className="activity-more">
            {plain([cause, details].filter(Boolean).join(' · '))}
          </Text>
        )}
      </div>
    </li>
  )
}
