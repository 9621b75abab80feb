import { Button, Table, Text } from '@radix-ui/themes'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Output } from '../../api/client.ts'
import { Answer, Section } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { ago, bytes, plural, shortId } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'

type Use = Output<'disk_use'>

/** What the home uses on its disk, in total and by project. */
export function Disk() {
  const [now, setNow] = useState(false)
  const use = useAsk('disk_use', { now }, { keep: true })
  const projects = useAsk('list_projects', { limit: 500 }).data?.projects ?? []
  const names = new Map(projects.map(({ id, name }) => [id, name]))
  const measure = () => (now ? void use.refetch() : setNow(true))
  return (
    <Section
      title="Disk use"
      actions={
        <Button size="1" variant="soft" loading={use.isFetching} onClick={measure}>
          Measure now
        </Button>
      }
    >
      <Answer of={use}>
        {answer => (
          <>
            <Text as="p" size="2" mb="2">
              {bytes(answer.total_bytes)} used, {bytes(answer.free_bytes)} free, {ago(answer.measured_at)}.{' '}
              {inWords(answer)}
            </Text>
            {answer.projects.length > 0 && <ByProject use={answer} names={names} />}
          </>
        )}
      </Answer>
    </Section>
  )
}

function inWords({ transcripts, blobs, store, logs, other, trash }: Use): string {
  const kinds: [string, number][] = [
    [plural(transcripts.count, 'transcript'), transcripts.bytes],
    ['long texts', blobs],
    ['store', store],
    ['logs', logs],
    ['notes and checks', other],
    ['trash', trash.bytes],
  ]
  const parts = kinds.filter(([, size]) => size).map(([kind, size]) => `${kind} ${bytes(size)}`)
  return `Beside worktrees: ${parts.join(', ')}.`
}

const folders = ({ count, bytes: size }: Use['worktrees']): string => (count ? `${count} (${bytes(size)})` : '–')

function ByProject({ use, names }: { use: Use; names: ReadonlyMap<string, string> }) {
  return (
    <Table.Root variant="surface" size="1">
      <Table.Header>
        <Table.Row>
          {['Project', 'Worktrees', 'Warm worktrees', 'Repositories', 'Refs'].map((title, column) => (
            <Table.ColumnHeaderCell key={title} justify={column ? 'end' : 'start'}>
              {title}
            </Table.ColumnHeaderCell>
          ))}
        </Table.Row>
      </Table.Header>
      <Table.Body>
        {use.projects.map(({ project_id, worktrees, warm, repositories, refs }) => (
          <Table.Row key={project_id}>
            <Table.RowHeaderCell>
              <Link href={`/projects/${project_id}`}>{plain(names.get(project_id) ?? shortId(project_id))}</Link>
            </Table.RowHeaderCell>
            <Table.Cell justify="end">{folders(worktrees)}</Table.Cell>
            <Table.Cell justify="end">{folders(warm)}</Table.Cell>
            <Table.Cell justify="end">{folders(repositories)}</Table.Cell>
            <Table.Cell justify="end">{refs ?? '–'}</Table.Cell>
          </Table.Row>
        ))}
      </Table.Body>
    </Table.Root>
  )
}
