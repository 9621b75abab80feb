import { Button, Card, Flex, Text, TextField } from '@radix-ui/themes'
import { Activity as ActivityIcon, Search } from 'lucide-react'
import { Fragment, useMemo } from 'react'
import { Link } from 'wouter'
import { useAddress } from '../../kit/address.ts'
import { ProjectChooser, useProjectNames } from '../../kit/choosers.tsx'
import { sentenceOf } from '../../kit/event-words.ts'
import { Export } from '../../kit/export.tsx'
import { ChoiceInput } from '../../kit/fields.tsx'
import { Empty, Lines, Page, Problem } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Dot, StatusBadge } from '../../kit/status.tsx'
import { Time } from '../../kit/time.tsx'
import { plural } from '../../kit/words.ts'
import { useAsk, useMissions } from '../../live/data.ts'
import type { FleetEvent } from '../../live/fleet-events.ts'
import { useMay } from '../../live/me.ts'
import type { Mission } from '../../live/mending.ts'
import { useWho } from '../../live/names.ts'
import './activity.css'
import { ByWhom } from './by-whom.tsx'
import { everyEvent } from './every-event.ts'
import { grouped, type Happenings } from './grouped.ts'
import { useHappened } from './happened.ts'
import { GROUPS, type Group, toneOf } from './kinds.ts'

/** The server names at most this many missions in one answer. */
const MOST_MISSIONS = 200
/** More events of one group are behind a click. */
const SHOWN = 6

const dayNames = new Intl.DateTimeFormat('en', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const dayOf = (time: string): string => dayNames.format(new Date(time))

export default function ActivityPage() {
  const address = useAddress()
  const group = (Object.keys(GROUPS) as Group[]).find(each => each === address.get('about'))
  const mission = address.get('mission')
  const filter = {
    project_id: address.get('project') ?? undefined,
    mission_id: mission ?? undefined,
    kinds: group && [...GROUPS[group].kinds],
    actor: address.get('by') ?? undefined,
  }
  const { events, older, isPending, error, refetch } = useHappened(filter)
  const who = useWho()
  const maySeeAudit = useMay('list_audit')
  const ids = useMemo(
    () => [...new Set(events.flatMap(({ mission_id }) => mission_id ?? []))].slice(0, MOST_MISSIONS),
    [events],
  )
  const missions = useMissions({ ids }, { enabled: ids.length > 0 }).missions
  const known = new Map(missions.map(each => [each.id, each]))
  const agents = useAsk('list_agents', {}).data?.agents ?? []
  const titles = new Map(agents.map(({ name, title }) => [name, title]))
  const tell = (event: FleetEvent): string => {
    const agent = known.get(event.mission_id ?? '')?.agent
    return plain(sentenceOf(event, (agent && (titles.get(agent) ?? agent)) || 'The agent', who))
  }
  const text = address.get('text') ?? ''
  const wanted = text.toLowerCase()
  const fits = (event: FleetEvent): boolean =>
    [tell(event), event.cause ?? '', known.get(event.mission_id ?? '')?.title ?? ''].some(each =>
      each.toLowerCase().includes(wanted),
    )
  const groups = grouped(wanted ? events.filter(fits) : events, dayOf)
  return (
    <Page
      title="Activity"
      about={
        mission ? (
          <>
            Everything that happened to one mission. <Link href="/activity">Show all</Link>
          </>
        ) : (
          'Everything that happened, newest first'
        )
      }
      actions={
        <>
          {maySeeAudit && (
            <Button variant="soft" color="gray" highContrast asChild>
              <Link href="/audit">Audit log</Link>
            </Button>
          )}
          <Export file="activity.jsonl" what="events" read={() => everyEvent(filter)} />
        </>
      }
    >
      <div className="activity-filters">
        <ProjectChooser value={address.get('project')} set={project => address.set({ project })} none="All projects" />
        <ChoiceInput
          label="Show"
          value={group ?? null}
          set={about => address.set({ about })}
          options={Object.entries(GROUPS).map(([value, { title }]) => ({ value, label: title }))}
          none="Everything"
        />
        <ByWhom value={filter.actor ?? null} set={by => address.set({ by })} />
        <TextField.Root
          aria-label="Filter by words"
          placeholder="Filter by words"
          value={text}
          onChange={event => address.set({ text: event.target.value })}
        >
          <TextField.Slot>
            <Search size={14} />
          </TextField.Slot>
        </TextField.Root>
      </div>
      {error && <Problem error={error} retry={refetch} />}
      {isPending && <Lines rows={8} height={28} />}
      {!isPending && !error && groups.length === 0 && (
        <Empty
          icon={ActivityIcon}
          title={wanted || group || mission || filter.actor ? 'No results' : 'No activity yet'}
        >
          Everything that you, an agent or the fleet does appears here at once.
        </Empty>
      )}
      {groups.map((each, at) => (
        <Fragment key={each.key}>
          {each.day !== groups[at - 1]?.day && (
            <Text as="div" size="2" weight="medium" className="activity-day">
              {each.day}
            </Text>
          )}
          {each.mission_id ? (
            <MissionGroup happened={each} mission={known.get(each.mission_id)} tell={tell} />
          ) : (
            <ol className="activity activity-alone">
              {each.events.map(event => (
                <Row key={event.cursor} event={event} words={tell(event)} />
              ))}
            </ol>
          )}
        </Fragment>
      ))}
      {older && (
        <Flex justify="center" mt="3">
          <Button variant="soft" color="gray" highContrast loading={older.busy} onClick={older.read}>
            Show older
          </Button>
        </Flex>
      )}
    </Page>
  )
}

interface GroupProps {
  happened: Happenings
  /** Undefined: it was deleted. */
  mission: Mission | undefined
  tell(event: FleetEvent): string
}

function MissionGroup({ happened: { mission_id, events }, mission, tell }: GroupProps) {
  const projectName = useProjectNames()
  const [first, rest] = [events.slice(0, SHOWN), events.slice(SHOWN)]
  const rows = (some: readonly FleetEvent[]) => (
    <ol className="activity">
      {some.map(event => (
        <Row key={event.cursor} event={event} words={tell(event)} />
      ))}
    </ol>
  )
  return (
    <Card className="activity-group">
      <Flex gap="2" align="center" wrap="wrap" mb="1">
        {mission ? (
          <>
            <Link href={`/missions/${mission_id}`} className="activity-title">
              {plain(mission.title)}
            </Link>
            <StatusBadge mission={mission} />
          </>
        ) : (
          <Text size="2" weight="medium" color="gray">
            A deleted mission
          </Text>
        )}
        <Text size="1" color="gray" ml="auto">
          {plain(projectName(events[0]?.project_id ?? null))}
        </Text>
      </Flex>
      {rows(first)}
      {rest.length > 0 && (
        <details className="fold">
          <summary>
            <Text size="1">{plural(rest.length, 'earlier event')}</Text>
          </summary>
          {rows(rest)}
        </details>
      )}
    </Card>
  )
}

function Row({ event, words }: { event: FleetEvent; words: string }) {
  const { kind, time, session_id, project_id, cause } = event
  const mayRead = useMay('read_transcript', project_id)
  return (
    <li>
      <Dot tone={toneOf(kind)} />
      <div className="activity-words">
        <Text size="2">{session_id && mayRead ? <Link href={`/sessions/${session_id}`}>{words}</Link> : words}</Text>
        {cause && (
          <Text as="div" size="1" color="gray" className="activity-more">
            {plain(cause)}
          </Text>
        )}
      </div>
      <Text size="1" color="gray" className="activity-time">
        <Time at={time} />
      </Text>
    </li>
  )
}
