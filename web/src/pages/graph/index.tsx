import { Callout, Flex, Text } from '@radix-ui/themes'
import { Share2 } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import type { Output } from '../../api/client.ts'
import { useAgentTitle } from '../../kit/agent-title.ts'
import { ProjectChooser } from '../../kit/choosers.tsx'
import { connected } from '../../kit/graph/connected.ts'
import { useNarrow } from '../../kit/narrow.ts'
import { Answer, Empty, Lines, Page } from '../../kit/page.tsx'
import { plain } from '../../kit/plain.ts'
import { StatusDot } from '../../kit/status.tsx'
import { asSentence, withoutIds } from '../../kit/without-ids.ts'
import { plural, STATUS_WORDS } from '../../kit/words.ts'
import { useAsk } from '../../live/data.ts'
import './graph.css'

const FlowGraph = lazy(() => import('../../kit/graph/graph.tsx'))
const SHOWN = 300

/** Open missions that are connected: all, of a project, or around one mission. */
export default function GraphPage() {
  const [search, setSearch] = useSearchParams()
  const [, go] = useLocation()
  const isNarrow = useNarrow()
  const project = search.get('project')
  const mission = search.get('mission')
  const graph = useAsk(
    'get_graph',
    { project_id: project ?? undefined, mission_id: mission ?? undefined, limit: SHOWN },
    { keep: true },
  )
  const titleOf = useAgentTitle()
  return (
    <Page
      title="Graph"
      filled
      about={
        mission ? (
          <>
            Everything related to one mission. <Link href="/graph">Show all</Link>
          </>
        ) : (
          'Open missions that are connected: what waits for what, and why'
        )
      }
      actions={<ProjectChooser value={project} set={id => setSearch(id ? { project: id } : {})} none="All projects" />}
    >
      <Answer of={graph}>
        {({ nodes: all, edges, more }) => {
          const ids = new Set(all.map(({ id }) => id))
          const nodes = (mission ? all : connected(all, edges)).map(node => ({
            ...node,
            waits_for: node.waits_for.map(text => asSentence(withoutIds(text, ids))),
          }))
          const alone = all.length - nodes.length
          if (nodes.length === 0)
            return (
              <Empty icon={Share2} title="No connected missions">
                Missions appear here when one waits for another, is a part of another, or belongs to a workflow.
                {alone > 0 &&
                  ` ${plural(alone, 'open mission')} without connections ${alone === 1 ? 'is' : 'are'} on the board.`}
              </Empty>
            )
          return (
            <Flex direction="column" flexGrow="1" minHeight="0" gap="2" pb="4">
              {more && (
                <Callout.Root size="1" color="gray" highContrast>
                  <Callout.Text>Only {all.length} missions are shown. Choose a project to see the rest.</Callout.Text>
                </Callout.Root>
              )}
              {alone > 0 && (
                <Text size="1" color="gray">
                  {plural(alone, 'open mission')} without connections {alone === 1 ? 'is' : 'are'} on the{' '}
                  <Link href="/missions">board</Link>.
                </Text>
              )}
              {isNarrow ? (
                <ConnectionList nodes={nodes} edges={edges} />
              ) : (
                <Suspense fallback={<Lines rows={6} />}>
                  <FlowGraph
                    label="Missions and dependencies"
                    nodes={nodes.map(({ id, title, status, agent, waits_for }) => ({
                      id,
                      title,
                      status,
                      about: agent ? plain(titleOf(agent)) : undefined,
                      why: waits_for[0],
                    }))}
                    edges={edges.map(({ from, to, kind }) => ({ from, to, ...(kind === 'parent' && { kind }) }))}
                    selected={mission ?? undefined}
                    open={id => go(`/missions/${id}`)}
                  />
                </Suspense>
              )}
            </Flex>
          )
        }}
      </Answer>
    </Page>
  )
}

type Graph = Output<'get_graph'>

/** The same as a list, for a narrow screen: each mission with what it waits for and what it is a part of. */
function ConnectionList({ nodes, edges }: Pick<Graph, 'nodes' | 'edges'>) {
  const titles = new Map(nodes.map(({ id, title }) => [id, title]))
  const before = (id: string, kind: Graph['edges'][number]['kind']) =>
    edges.filter(edge => edge.to === id && edge.kind === kind && titles.has(edge.from)).map(({ from }) => from)
  return (
    <ul className="graph-list" aria-label="Missions and dependencies">
      {nodes.map(({ id, title, status, waits_for }) => (
        <li key={id}>
          <Flex gap="2" align="center">
            <StatusDot status={status} />
            <Link href={`/missions/${id}`}>{plain(title)}</Link>
            <Text size="1" color="gray" ml="auto">
              {STATUS_WORDS[status]}
            </Text>
          </Flex>
          <Connections word="After" ids={before(id, 'depends_on')} titles={titles} />
          <Connections word="Part of" ids={before(id, 'parent')} titles={titles} />
          {waits_for[0] && (
            <Text as="div" size="1" color="gray">
              {plain(waits_for[0])}
            </Text>
          )}
        </li>
      ))}
    </ul>
  )
}

interface ConnectionsProps {
  word: string
  ids: readonly string[]
  titles: ReadonlyMap<string, string>
}

const Connections = ({ word, ids, titles }: ConnectionsProps) =>
  ids.length ? (
    <Text as="div" size="1" color="gray">
      {word} {ids.map(id => plain(titles.get(id) ?? '')).join(', ')}
    </Text>
  ) : null
