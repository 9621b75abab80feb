import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aFleetWith, aMission, aProject, at } from '../../kit/records.ts'
import { aScene } from '../../kit/scene.ts'

interface Graph {
  nodes: {
    id: string
    agent: string
    waits_for: string[]
    workflow: { name: string; stage_name: string } | null
    asked: boolean
  }[]
  edges: { from: string; to: string; kind: string }[]
  more: boolean
}

const drawn = ({ nodes, edges }: Graph) => ({
  nodes: nodes
    .map(({ id, asked }) => (asked ? id : `(${id})`))
    .toSorted()
    .join(' '),
  edges: edges
    .map(({ from, to, kind }) => `${from}${kind === 'parent' ? '⇒' : '→'}${to}`)
    .toSorted()
    .join(' '),
})

const over = { status: 'done', result: 'landed', ended_at: at(9) } as const
const MISSIONS = [
  aMission('older', 1, over),
  aMission('base', 2, { ...over, depends_on: ['older'] }),
  aMission('alone', 3, over),
  aMission('work', 4, { status: 'queued', depends_on: ['base', 'broken'], agent: 'codex' }),
  aMission('broken', 5, { status: 'failed', ended_at: at(8) }),
  aMission('next', 6, { status: 'queued', depends_on: ['work'] }),
  aMission('part', 7, { status: 'running', parent_mission_id: 'whole' }),
  aMission('whole', 8, { status: 'waiting' }),
  aMission('other', 9, { status: 'draft', project_id: 'p2' }),
]
const PROJECTS = [aProject({ id: 'p1' }), aProject({ id: 'p2' })]

test('what is unfinished is drawn with what it hangs on, and says why it waits', async () => {
  const fleet = await aFleetWith(MISSIONS, PROJECTS)
  const graph = await fleet.call<Graph>('get_graph', { project_id: 'p1' })
  expect(drawn(graph)).toEqual({
    nodes: '(base) (broken) next part whole work',
    edges: 'base→work broken→work whole⇒part work→next',
  })
  expect(graph.nodes.find(({ id }) => id === 'work')).toMatchObject({
    agent: 'codex',
    waits_for: ['blocked by mission broken (broken)'],
  })
  expect(drawn(await fleet.call('get_graph')).nodes).toBe('(base) (broken) next other part whole work')
})

test('of one mission everything is drawn that it hangs together with', async () => {
  const fleet = await aFleetWith(MISSIONS, PROJECTS)
  expect(drawn(await fleet.call('get_graph', { mission_id: 'base' }))).toEqual({
    nodes: '(broken) (next) (older) (work) base',
    edges: 'base→work broken→work older→base work→next',
  })
  await expect(fleet.call('get_graph', { mission_id: 'base', project_id: 'p1' })).rejects.toThrow(/cannot be combined/)
})

test('no more missions than asked for, and it says that there are more', async () => {
  const many = Array.from({ length: 40 }, (_, n) =>
    aMission(`m${n}`, n, { status: 'queued', depends_on: n ? [`m${n - 1}`] : [] }),
  )
  const fleet = await aFleetWith(many)
  for (const scope of [{}, { project_id: 'p1' }, { mission_id: 'm20' }]) {
    const { nodes, edges, more } = await fleet.call<Graph>('get_graph', { ...scope, limit: 10 })
    expect({ nodes: nodes.length, more }).toEqual({ nodes: 10, more: true })
    const ids = new Set(nodes.map(({ id }) => id))
    expect(edges.every(({ from, to }) => ids.has(from) && ids.has(to))).toBe(true)
  }
  expect(await fleet.call('get_graph', { limit: 40 })).toMatchObject({ more: false })
})

test('a workflow is drawn with the names of its stages', async () => {
  const { fleet, project } = await aScene({ start: false })
  const { id: workflow_id } = await fleet.call<{ id: string }>('create_workflow', {
    project_id: project.id,
    name: 'two steps',
    task_prompt: 'x',
    stages: [
      { name: 'write', prompt: 'echo a > a.txt' },
      { name: 'refine', prompt: 'echo b > b.txt', depends_on: ['write'] },
    ],
  })
  await fleet.start()
  const graph = await eventually('both stages', async () => {
    const found = await fleet.call<Graph>('get_graph', { workflow_id })
    return found.nodes.length === 2 ? found : undefined
  })
  expect(graph.nodes.map(({ workflow }) => workflow)).toMatchObject([
    { name: 'two steps', stage_name: 'write' },
    { name: 'two steps', stage_name: 'refine' },
  ])
  expect(graph.edges).toEqual([{ from: graph.nodes[0]!.id, to: graph.nodes[1]!.id, kind: 'depends_on' }])
})
