import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { Result, Status } from '../domain/records/mission.ts'
import { effective } from '../domain/rules/effective.ts'
import { defaultsOf } from '../fleet/dispatch/capacity.ts'
import { circumstancesOf } from '../fleet/dispatch/circumstances.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { graphOf, type Scope, stageNames } from '../fleet/missions/graph.ts'
import { lookUp } from '../fleet/records.ts'
import { ProjectRef, Ref } from './inputs.ts'
import { query } from './operation.ts'
import { missionView } from './views.ts'

const Node = z.object({
  id: z.string(),
  title: z.string(),
  project_id: z.string(),
  status: Status,
  result: Result.nullable(),
  agent: z.string().nullable().describe('the agent that works on it, or would'),
  waits_for: z.array(z.string()),
  workflow: z.object({ id: z.string(), name: z.string(), stage: z.number().int(), stage_name: z.string() }).nullable(),
  parent_mission_id: z.string().nullable(),
  asked: z.boolean().describe('false: it is included because of another mission'),
})

export const graph = [
  query({
    name: 'get_graph',
    may: 'missions.read',
    mcp: 'history',
    summary:
      'Show a graph: unfinished missions and their dependencies, in the fleet or a project; one workflow; or everything related to one mission',
    http: 'GET /api/graph',
    input: z.object({
      project_id: ProjectRef.optional(),
      mission_id: Ref.optional(),
      workflow_id: Ref.optional(),
      limit: z.number().int().min(1).max(1000).default(200).describe('the most missions to return'),
    }),
    output: z.object({
      nodes: z.array(Node),
      edges: z.array(z.object({ from: z.string(), to: z.string(), kind: z.enum(['depends_on', 'parent']) })),
      more: z.boolean().describe('the limit left some out'),
    }),
    run: async ({ fleet }, { limit, ...refs }) => {
      const { missions, asked, edges, more } = await graphOf(fleet, await scopeOf(fleet, refs), limit)
      const [world, defaults, names] = [circumstancesOf(fleet), defaultsOf(fleet), await stageNames(fleet, missions)]
      const nodes = await Promise.all(
        missions.map(async mission => {
          const { id, title, project_id, status, result, workflow } = mission
          const [view, project] = await Promise.all([missionView(fleet, mission, { world }), world.project(project_id)])
          const known = workflow && names.get(workflow.id)
          return {
            ...{ id, title, project_id, status, result, parent_mission_id: view.parent_mission_id },
            agent: project ? effective(mission, project, defaults).agent : mission.agent,
            waits_for: view.waits_for.map(({ text }) => text),
            workflow: known
              ? {
                  id: workflow.id,
                  name: known.name,
                  stage: workflow.stage,
                  stage_name: known.stages[workflow.stage] ?? '',
                }
              : null,
            asked: asked.has(id),
          }
        }),
      )
      return { nodes, edges, more }
    },
  }),
]

async function scopeOf(
  fleet: Fleet,
  refs: { project_id?: string; mission_id?: string; workflow_id?: string },
): Promise<Scope> {
  const given = (['mission', 'workflow', 'project'] as const).filter(noun => refs[`${noun}_id`] !== undefined)
  if (given.length > 1) throw new InvalidInput(`${given[1]}_id`, `cannot be combined with ${given[0]}_id`)
  const [noun] = given
  if (!noun) return { of: 'fleet' }
  return { of: noun, id: (await lookUp(fleet, `${noun}s` as const, refs[`${noun}_id`]!)).value.id }
}
