/** The nodes that an edge leads to or from, in their order. */
export function connected<N extends { id: string }>(
  nodes: readonly N[],
  edges: readonly { from: string; to: string }[],
): N[] {
  const ends = new Set(edges.flatMap(({ from, to }) => (from === to ? [] : [from, to])))
  return nodes.filter(({ id }) => ends.has(id))
}
