import { Text } from '@radix-ui/themes'
import {
  Background,
  Controls,
  type Edge as DrawnEdge,
  type Node as DrawnNode,
  Handle,
  MarkerType,
  type NodeProps,
  Position,
  ReactFlow,
} from '@xyflow/react'
import '@xyflow/react/dist/style.css'
import { createContext, memo, useContext, useMemo } from 'react'
import { useAppearance } from '../../shell/appearance.tsx'
import { useNarrow } from '../narrow.ts'
import { plain } from '../plain.ts'
import { StatusDot } from '../status.tsx'
import { STATUS_TONES, STATUS_WORDS, type Status } from '../words.ts'
import './graph.css'
import { type Edge, NODE_HEIGHT, NODE_WIDTH, placesOf } from './layout.ts'

// A type rather than an interface, because the library wants a record.
export type GraphNode = {
  id: string
  title: string
  /** Null: there is no mission yet. */
  status: Status | null
  /** Its agent, or its stage. */
  about?: string
  /** Why it waits. */
  why?: string
}

interface GraphProps {
  nodes: readonly GraphNode[]
  edges: readonly Edge[]
  selected?: string
  open(id: string): void
  /** If given, edges can be added and removed. */
  edit?: { connect(from: string, to: string): void; disconnect(from: string, to: string): void }
  label: string
}

const Editable = createContext(false)

/** Draws dependencies. Lists elsewhere show the same, for people who cannot see the drawing. */
export default function FlowGraph({ nodes, edges, selected, open, edit, label }: GraphProps) {
  const { shown } = useAppearance()
  const direction = useNarrow() ? 'TB' : 'LR'
  // The layout depends only on nodes and edges, so a change of status moves nothing.
  const shape = JSON.stringify([nodes.map(node => node.id), edges, direction])
  const places = useMemo(() => {
    const [ids, lines, towards] = JSON.parse(shape) as [string[], Edge[], 'LR' | 'TB']
    return placesOf(ids, lines, towards)
  }, [shape])
  const drawn = nodes.map(
    (node): MissionNode => ({
      id: node.id,
      type: 'mission',
      position: places.get(node.id) ?? { x: 0, y: 0 },
      width: NODE_WIDTH,
      height: NODE_HEIGHT,
      data: { ...node, direction },
      selected: node.id === selected,
      ariaLabel: `${node.title}, ${node.status ? STATUS_WORDS[node.status] : 'planned'}`,
    }),
  )
  const lines = edges.map(
    ({ from, to, kind }): DrawnEdge => ({
      id: `${from} ${to}`,
      source: from,
      target: to,
      markerEnd: { type: MarkerType.ArrowClosed },
      className: kind === 'parent' ? 'edge-parent' : undefined,
      animated: false,
    }),
  )
  return (
    <Editable value={edit !== undefined}>
      <section className="graph" aria-label={label}>
        <ReactFlow
          key={shape}
          nodes={drawn}
          edges={lines}
          nodeTypes={NODE_TYPES}
          colorMode={shown}
          fitView
          // A readable part is better than everything too small to read.
          fitViewOptions={{ maxZoom: 1, minZoom: 0.6, padding: 0.1 }}
          minZoom={0.3}
          nodesDraggable={false}
          nodesConnectable={edit !== undefined}
          edgesFocusable={edit !== undefined}
          deleteKeyCode={edit ? ['Delete', 'Backspace'] : null}
          onNodeClick={(_, node) => open(node.id)}
          onBeforeDelete={async ({ edges: gone }) => ({ nodes: [], edges: gone })}
          onEdgesDelete={gone => {
            for (const { source, target } of gone) edit?.disconnect(source, target)
          }}
          onConnect={({ source, target }) => edit?.connect(source, target)}
          proOptions={{ hideAttribution: true }}
        >
          <Background />
          <Controls showInteractive={false} />
        </ReactFlow>
      </section>
    </Editable>
  )
}

type MissionNode = DrawnNode<GraphNode & { direction: 'LR' | 'TB' }>

const Box = memo(({ data, selected }: NodeProps<MissionNode>) => {
  const connectable = useContext(Editable)
  const [into, out] = data.direction === 'LR' ? [Position.Left, Position.Right] : [Position.Top, Position.Bottom]
  return (
    <div className="graph-node" data-tone={data.status ? STATUS_TONES[data.status] : 'gray'} data-selected={selected}>
      <Handle type="target" position={into} isConnectable={connectable} />
      <Text size="2" weight="medium" truncate as="div" title={plain(data.title)}>
        {plain(data.title)}
      </Text>
      <Text size="1" as="div" truncate className="graph-status">
        {data.status ? (
          <>
            <StatusDot status={data.status} /> {STATUS_WORDS[data.status]}
          </>
        ) : (
          'Planned'
        )}
        {data.about && ` · ${plain(data.about)}`}
      </Text>
      {data.why && (
        <Text size="1" as="div" truncate color="gray" title={plain(data.why)}>
          {plain(data.why)}
        </Text>
      )}
      <Handle type="source" position={out} isConnectable={connectable} />
    </div>
  )
})
const NODE_TYPES = { mission: Box }
