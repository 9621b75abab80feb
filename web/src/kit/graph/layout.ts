import { Graph, layout } from '@dagrejs/dagre'

export const NODE_WIDTH = 220
export const NODE_HEIGHT = 76

export interface Edge {
  from: string
  to: string
  /** A mission and one it handed work to, rather than one that waits for another. */
  kind?: 'parent'
}

/** Where each node goes: what comes first is left (or above), and lines cross as little as may be. */
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
