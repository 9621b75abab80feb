import { type Mission, STATUSES } from '../../domain/records/mission.ts'
import { isOver } from '../../domain/rules/delegation.ts'
import type { KeyPart } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { readable } from '../records.ts'
import { planOf } from '../workflows/stages.ts'

export type Scope = { of: 'fleet' } | { of: 'project' | 'mission' | 'workflow'; id: string }

export interface Edge {
  from: string
  to: string
  kind: 'depends_on' | 'parent'
}

export interface Graph {
  missions: Mission[]
  /** The requested missions. The others are what they are linked to. */
  asked: Set<string>
  edges: Edge[]
  more: boolean
}

const UNFINISHED = STATUSES.filter(status => !isOver({ status }))

/**
 * Unfinished missions and what they are linked to; for one mission, everything it is linked to. At most `limit`
 * missions.
 */
export async function graphOf(fleet: Fleet, scope: Scope, limit: number): Promise<Graph> {
  const found = new Map<string, Mission>()
  let more = false
  const take = (missions: readonly Mission[]): Mission[] => {
    const fresh = missions.filter(({ id }) => !found.has(id))
    const fitting = fresh.slice(0, limit - found.size)
    for (const mission of fitting) found.set(mission.id, mission)
    more ||= fitting.length < fresh.length
    return fitting
  }
  const listed = async (index: string, equals: readonly KeyPart[]): Promise<Mission[]> => {
    const page = await fleet.store.find('missions', { index, equals, limit: limit + 1 })
    return page.items.map(({ value }) => value)
  }
  const named = async (ids: readonly string[]): Promise<Mission[]> =>
    (await Promise.all(ids.map(id => readable(fleet, 'missions', id)))).flatMap(stored => stored?.value ?? [])
  const upwards = ({ depends_on, parent_mission_id }: Mission): Promise<Mission[]> =>
    named([...depends_on, ...(parent_mission_id ? [parent_mission_id] : [])].filter(id => !found.has(id)))
  const downwards = async ({ id }: Mission): Promise<Mission[]> =>
    (await Promise.all([listed('dependency', [id]), listed('parent', [id])])).flat()

  for (const [index, equals] of rangesOf(scope)) take(await listed(index, equals))
  if (scope.of === 'mission') take(await named([scope.id]))
  const asked = new Set(found.keys())
  let edge = [...found.values()]
  // All links of one mission, otherwise only the next ones, because all would include a project's whole history.
  do {
    const next: Mission[] = []
    for (const mission of edge) {
      if (more) break
      next.push(...take(await upwards(mission)))
      if (scope.of !== 'project' && scope.of !== 'fleet') next.push(...take(await downwards(mission)))
    }
    edge = next
  } while (scope.of === 'mission' && edge.length)
  const missions = [...found.values()]
  return { missions, asked, edges: missions.flatMap(mission => edgesInto(mission, found)), more }
}

function rangesOf(scope: Scope): [index: string, equals: string[]][] {
  switch (scope.of) {
    case 'fleet':
      return UNFINISHED.map(status => ['status', [status]])
    case 'project':
      return UNFINISHED.map(status => ['project_status', [scope.id, status]])
    case 'workflow':
      return [['workflow', [scope.id]]]
    case 'mission':
      return []
  }
}

function edgesInto({ id, depends_on, parent_mission_id }: Mission, found: ReadonlyMap<string, Mission>): Edge[] {
  const edges: Edge[] = depends_on.map(from => ({ from, to: id, kind: 'depends_on' }))
  if (parent_mission_id) edges.push({ from: parent_mission_id, to: id, kind: 'parent' })
  return edges.filter(({ from }) => found.has(from))
}

/** The names of a mission's workflow and stage. */
export async function stageNames(
  fleet: Fleet,
  missions: readonly Mission[],
): Promise<Map<string, { name: string; stages: string[] }>> {
  const ids = new Set(missions.flatMap(({ workflow }) => workflow?.id ?? []))
  const names = await Promise.all(
    [...ids].map(async id => {
      const plan = (await readable(fleet, 'workflows', id)) && (await planOf(fleet, id))
      return [id, plan && { name: plan.workflow.name, stages: plan.stages.map(({ name }) => name) }] as const
    }),
  )
  return new Map(names.flatMap(([id, known]) => (known ? [[id, known] as const] : [])))
}
