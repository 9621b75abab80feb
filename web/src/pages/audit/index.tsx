import { Badge, Button, Flex, Table, Text } from '@radix-ui/themes'
import { ScrollText } from 'lucide-react'
import { Link } from 'wouter'
import type { Input, Output } from '../../api/client.ts'
import { useAddress } from '../../kit/address.ts'
import { ProjectChooser, useProjectNames } from '../../kit/choosers.tsx'
import { DateInput } from '../../kit/date-input.tsx'
import { startOfDay } from '../../kit/days.ts'
import { Export } from '../../kit/export.tsx'
import { ChoiceInput } from '../../kit/fields.tsx'
import { Answer, Empty, Page } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { Time } from '../../kit/time.tsx'
import { plural, shortId } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import { useMe } from '../../live/me.ts'
import { ByWhom } from '../activity/by-whom.tsx'
import './audit.css'
import { asWords } from './entry-words.ts'
import { everyEntry } from './every-entry.ts'
import { WAYS } from './ways.ts'

type Entry = Output<'list_audit'>['entries'][number]
type Filter = Omit<Input<'list_audit'>, 'limit' | 'cursor'>

const SHOWN = 50
const OUTCOMES = [
  { value: 'done', label: 'Done' },
  { value: 'refused', label: 'Refused' },
]
/** Refusals have no event. */
const LOOK_MS = 10_000

/** Who asked for what, and what was refused. */
export default function Audit() {
  const address = useAddress()
  const [project, from, to] = [address.get('project'), address.get('from'), address.get('to')]
  const way = WAYS.find(({ value }) => value === address.get('way'))?.value
  const outcome = OUTCOMES.find(({ value }) => value === address.get('outcome'))?.value as Filter['outcome']
  const filter: Filter = {
    ...{ project_id: project ?? undefined, by: address.get('by') ?? undefined, way, outcome },
    ...{ operation: address.get('operation') ?? undefined, since: startOfDay(from), until: startOfDay(to, 1) },
  }
  const cursor = address.get('after') ?? undefined
  const entries = useAsk('list_audit', { ...filter, limit: SHOWN, cursor }, { keep: true, everyMs: () => LOOK_MS })
  const choose = (values: Record<string, string | null>) => address.set({ ...values, after: null })
  return (
    <Page
      title="Audit log"
      about="Who asked for what, from where, and what was refused"
      actions={<Export file="audit.jsonl" what="entries" read={() => everyEntry(filter)} />}
    >
      <div className="audit-filters">
        <ByWhom value={filter.by ?? null} set={by => choose({ by })} always />
        <ChoiceInput
          label="From"
          value={way ?? null}
          set={each => choose({ way: each })}
          options={WAYS}
          none="Anywhere"
        />
        <ChoiceInput
          label="Outcome"
          value={outcome ?? null}
          set={each => choose({ outcome: each })}
          options={OUTCOMES}
          none="Any outcome"
        />
        <ProjectChooser value={project} set={id => choose({ project: id })} none="All projects" />
        <DateInput label="Since" value={from} set={day => choose({ from: day })} />
        <DateInput label="Until" value={to} set={day => choose({ to: day })} />
      </div>
      {filter.operation && (
        <Text as="p" size="2">
          Only “{asWords(plain(filter.operation))}”.{' '}
          <Button variant="ghost" onClick={() => choose({ operation: null })}>
            Show all operations
          </Button>
        </Text>
      )}
      <Answer of={entries}>
        {({ entries: list, cursor: next, strangers }) => (
          <>
            {list.length > 0 ? (
              <Entries entries={list} only={operation => choose({ operation })} />
            ) : (
              <Empty icon={ScrollText} title="No entries">
                Every command is here, and what was refused to people, services and agents that the fleet knows.
              </Empty>
            )}
            <Flex gap="3" mt="3" justify="center">
              {cursor && (
                <Button variant="soft" color="gray" highContrast onClick={() => address.set({ after: null })}>
                  Newest entries
                </Button>
              )}
              {next && (
                <Button variant="soft" color="gray" highContrast onClick={() => address.set({ after: next })}>
                  Older entries
                </Button>
              )}
            </Flex>
            {strangers !== null && (
              <Text as="p" size="1" color="gray">
                {plural(strangers, 'request')} without a valid sign-in since the server started. Strangers are counted,
                not stored.
              </Text>
            )}
          </>
        )}
      </Answer>
    </Page>
  )
}

function Entries({ entries, only }: { entries: readonly Entry[]; only(operation: string): void }) {
  const projectName = useProjectNames()
  return (
    <Table.Root variant="surface">
      <Table.Header>
        <Table.Row>
          <Table.ColumnHeaderCell>When</Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell>Who</Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell>What</Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell className="audit-wide">From</Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell className="audit-wide">Project</Table.ColumnHeaderCell>
          <Table.ColumnHeaderCell>Outcome</Table.ColumnHeaderCell>
        </Table.Row>
      </Table.Header>
      <Table.Body>
        {entries.map(entry => (
          <Table.Row key={entry.id} align="center">
            <Table.Cell>
              <Time at={entry.last_at} />
            </Table.Cell>
            <Table.RowHeaderCell className="audit-name">
              <Who principal={entry.principal} />
            </Table.RowHeaderCell>
            <Table.Cell>
              <Button
                variant="ghost"
                color="gray"
                highContrast
                className="audit-what"
                title={entry.operation}
                onClick={() => only(entry.operation)}
              >
                {asWords(entry.operation)}
              </Button>
              {entry.mission_id && (
                <Text as="div" size="1">
                  <Link href={`/missions/${entry.mission_id}`}>Mission {shortId(entry.mission_id)}</Link>
                </Text>
              )}
            </Table.Cell>
            <Table.Cell className="audit-wide">
              {WAYS.find(({ value }) => value === entry.way)?.label}
              {entry.address && (
                <Text as="div" size="1" color="gray">
                  {entry.address}
                </Text>
              )}
            </Table.Cell>
            <Table.Cell className="audit-wide">{plain(projectName(entry.project_id))}</Table.Cell>
            <Table.Cell>
              <Outcome entry={entry} />
            </Table.Cell>
          </Table.Row>
        ))}
      </Table.Body>
    </Table.Root>
  )
}

const Outcome = ({ entry: { outcome, code, count } }: { entry: Entry }) =>
  outcome === 'done' ? (
    <>Done</>
  ) : (
    <Badge color="red" highContrast>
      Refused: {code?.replaceAll('_', ' ')}
      {count > 1 && ` × ${count}`}
    </Badge>
  )

function Who({ principal: { kind, id, name } }: Pick<Entry, 'principal'>) {
  const me = useMe()
  if (kind === 'session' && id) return <Link href={`/sessions/${id}`}>Session {shortId(id)}</Link>
  if (kind === 'owner') return <>{me?.kind === 'owner' ? 'You' : 'The owner'}</>
  return <>{plain(name)}</>
}
