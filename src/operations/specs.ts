import * as z from 'zod'
import { SPEC_STATUSES, specMeant } from '../domain/rules/spec.ts'
import { SPEC_FLOWS } from '../domain/rules/spec-flows.ts'
import { lookUp } from '../fleet/records.ts'
import { approveSpec, specsOf, startFlow } from '../fleet/specs/specs.ts'
import { ask, ProjectRef } from './inputs.ts'
import { command, query } from './operation.ts'
import { requirePerson } from './person.ts'
import { MissionView, missionView } from './views.ts'
import { WorkflowView, workflowView } from './workflows.ts'

const SpecRef = z.string().min(1).max(120).describe('its name, its number, or letters of its name')

const SpecRow = z.object({
  name: z.string().describe('four digits and a slug'),
  path: z.string(),
  title: z.string(),
  status: z.enum(SPEC_STATUSES).nullable().describe('empty: its head says none that is known'),
  comments: z.array(z.object({ line: z.number().int(), name: z.string(), text: z.string() })),
  criteria: z.object({ done: z.number().int(), all: z.number().int() }),
})

export const specs = [
  query({
    name: 'list_specs',
    may: 'missions.read',
    mcp: 'planning',
    summary: 'List the specifications on the base branch of a project, with their status, comments and criteria',
    http: 'GET /api/projects/:project_id/specs',
    input: z.object({ project_id: ProjectRef }),
    output: z.object({ specs: z.array(SpecRow) }),
    run: async ({ fleet }, { project_id }) => {
      const { value } = await lookUp(fleet, 'projects', project_id)
      return { specs: (await specsOf(value)).map(({ text: _, ...spec }) => spec) }
    },
  }),
  query({
    name: 'get_spec',
    may: 'missions.read',
    mcp: 'planning',
    summary: 'Show a specification as it is on the base branch',
    http: 'GET /api/projects/:project_id/specs/:spec',
    input: z.object({ project_id: ProjectRef, spec: SpecRef }),
    output: SpecRow.extend({ text: z.string() }),
    run: async ({ fleet }, { project_id, spec }) =>
      specMeant(await specsOf((await lookUp(fleet, 'projects', project_id)).value), spec),
  }),
  command({
    name: 'start_spec_flow',
    may: 'workflows.run',
    mcp: 'planning',
    summary:
      'Start a flow about a specification as a workflow: create it, interview a person about it, work off its comments, or build it once it is approved',
    http: 'POST /api/projects/:project_id/specs',
    needsFleet: true,
    input: z.object({
      project_id: ProjectRef,
      flow: z.enum(SPEC_FLOWS),
      spec: SpecRef.optional().describe(
        'which one; for create: words for its name; for execute the default is the first that is approved',
      ),
      task: z.string().max(100_000).default('').describe('what is wanted, or what else the agents should know'),
      agents: z.array(z.string().min(1).max(40)).max(5).default([]).describe('the agents of its roles, in order'),
    }),
    output: WorkflowView,
    run: async (context, wanted) => {
      const { value } = await startFlow(context.fleet, ask(context, 'start_spec_flow'), wanted)
      return workflowView(context.fleet, value.id)
    },
  }),
  command({
    name: 'approve_spec',
    may: 'missions.land',
    mcp: 'planning',
    summary: 'Approve a draft of a specification: a mission changes its status, if it is still what you approved',
    http: 'POST /api/projects/:project_id/specs/:spec/approve',
    needsFleet: true,
    input: z.object({ project_id: ProjectRef, spec: SpecRef }),
    output: MissionView,
    run: async (context, { project_id, spec }) => {
      requirePerson(context.caller, 'approve a specification')
      const { value } = await approveSpec(context.fleet, ask(context, 'approve_spec'), project_id, spec)
      return missionView(context.fleet, value)
    },
  }),
]
