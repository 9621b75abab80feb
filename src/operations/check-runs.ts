import * as z from 'zod'
import { CheckResult, CheckRun } from '../domain/records/check-run.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { checkRunId, printedSoFar, requestChecks, requestStop } from '../fleet/landing/check-runs.ts'
import { lookUp } from '../fleet/records.ts'
import { ask, ProjectRef } from './inputs.ts'
import { command, query } from './operation.ts'

/** What a running check printed last; all of it is in its result. */
const LIVE_BYTES = 16 * 1024

const CheckRunView = CheckRun.extend({
  results: z.array(CheckResult.extend({ output: z.string() })),
  running: z
    .object({ name: z.string(), command: z.string(), output: z.string() })
    .nullable()
    .describe('the check that runs now, and the end of what it printed so far'),
})
export type CheckRunView = z.infer<typeof CheckRunView>

async function view(fleet: Fleet, run: CheckRun): Promise<CheckRunView> {
  const at = run.status === 'running' ? run.checks[run.results.length] : undefined
  return {
    ...run,
    results: await Promise.all(
      run.results.map(async ({ output, ...rest }) => ({ ...rest, output: await fleet.blobs.read(output) })),
    ),
    running: at ? { name: at.name, command: at.command, output: printedSoFar(fleet, run, LIVE_BYTES) } : null,
  }
}

const WithProject = z.object({ project_id: ProjectRef })

export const checkRuns = [
  command({
    name: 'run_checks',
    may: 'missions.land',
    mcp: 'projects',
    summary: "Run a project's checks, or one of them, on the current commit of its base branch",
    http: 'POST /api/projects/:project_id/checks/run',
    needsFleet: true,
    input: WithProject.extend({ check: z.string().min(1).max(80).optional().describe('only this one, by name') }),
    output: CheckRunView,
    run: async (context, { project_id, check }) => {
      const { value } = await lookUp(context.fleet, 'projects', project_id)
      return view(
        context.fleet,
        (await requestChecks(context.fleet, ask(context, 'run_checks'), value.id, check)).value,
      )
    },
  }),
  command({
    name: 'stop_checks',
    may: 'missions.land',
    mcp: 'projects',
    summary: 'End the run of checks that somebody asked for',
    http: 'POST /api/projects/:project_id/checks/stop',
    needsFleet: true,
    input: WithProject,
    output: CheckRunView,
    run: async (context, { project_id }) => {
      const { value } = await lookUp(context.fleet, 'projects', project_id)
      return view(context.fleet, (await requestStop(context.fleet, ask(context, 'stop_checks'), value.id)).value)
    },
  }),
  query({
    name: 'get_check_run',
    may: 'projects.read',
    mcp: 'projects',
    summary: 'Show the last run of checks that somebody asked for: each command, its exit code, output and duration',
    http: 'GET /api/projects/:project_id/checks/run',
    input: WithProject,
    output: z.object({ run: CheckRunView.nullable().describe('empty: nobody has asked for one') }),
    run: async ({ fleet }, { project_id }) => {
      const { value } = await lookUp(fleet, 'projects', project_id)
      const found = await fleet.store.get('check_runs', checkRunId(value.id))
      return { run: found ? await view(fleet, found.value) : null }
    },
  }),
]
