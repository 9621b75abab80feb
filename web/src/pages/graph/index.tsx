import { Callout, Flex } from '@radix-ui/themes'
import { Share2 } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { ProjectChooser } from '../../kit/choosers.tsx'
import { Answer, Empty, Lines, Page } from '../../kit/page.tsx'
import { useAsk } from '../../live/data.ts'

const FlowGraph = lazy(() => import('../../kit/graph/graph.tsx'))
const SHOWN = 300

/** Unfinished missions and their dependencies: all, of a project, or around one mission. */
export default function GraphPage() {
  const [search, setSearch] = useSearchParams()
  const [, go] = useLocation()
  const project = search.get('project')
  const mission = search.get('mission')
  const graph = useAsk(
    'get_graph',
    { project_id: project ?? undefined, mission_id: mission ?? undefined, limit: SHOWN },
    { keep: true },
  )
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
          'What is unfinished, what waits for what, and why'
        )
      }
      actions={<ProjectChooser value={project} set={id => setSearch(id ? { project: id } : {})} none="All projects" />}
    >
      <Answer of={graph}>
        {({ nodes, edges, more }) =>
          nodes.length === 0 ? (
            <Empty icon={Share2} title="No open missions">
              Unfinished missions appear here with their dependencies, sub-missions and workflow stages.
            </Empty>
          ) : (
            <Flex direction="column" flexGrow="1" minHeight="0" gap="2" pb="4">
              {more && (
                <Callout.Root size="1" color="gray" highContrast>
                  <Callout.Text>Only {nodes.length} missions are shown; choose a project to see the rest.</Callout.Text>
                </Callout.Root>
              )}
              <Suspense fallback={<Lines rows={6} />}>
                <FlowGraph
                  label="Missions and dependencies"
                  nodes={nodes.map(({ id, title, status, agent, waits_for }) => ({
                    id,
                    title,
                    status,
                    about: agent ?? undefined,
                    why: waits_for[0],
                  }))}
                  edges={edges.map(({ from, to, kind }) => ({ from, to, ...(kind === 'parent' && { kind }) }))}
                  selected={mission ?? undefined}
                  open={id => go(`/missions/${id}`)}
                />
              </Suspense>
            </Flex>
          )
        }
      </Answer>
    </Page>
  )
}
