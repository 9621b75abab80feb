import { Graph, layout } from '@dagrejs/dagre'

export const NODE_WIDTH = 220
export const NODE_HEIGHT = 76

export interface Edge {
  from: string
  to: string
  /** An edge from a mission to its sub-mission, not a dependency. */
  kind?: 'parent'
}

/** The position of each node: earlier ones are left (or above), with few crossing edges. */
export function placesOf(
  ids: readonly string[],
  edges: readonly Edge[],
  direction: 'LR' | 'TB',
): Map<string, { x: number; y: number }> {
  const graph = new Graph()
  graph.setGraph({ rankdir: direction, nodesep: 24, ranksep: 64 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const id of ids) graph.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT })
  const known = new Set(ids)
  for (const { from, to } of edges) if (known.has(from) && known.has(to)) graph.setEdge(from, to)
  layout(graph)
  return new Map(
    ids.map(id => {
      const { x, y } = graph.node(id) as { x: number; y: number }
      return [id, { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }]
    }),
  )
}
