import type { CheckRunView } from '../operations/check-runs.ts'
import type { Cli } from './command.ts'
import { checkLines } from './show-checks.ts'
import { untilThereIs } from './until.ts'

/** The work of `fleet project check`. Exits with 1 if a check failed. */
export async function checkProject(cli: Cli, project_id: string, options: Record<string, unknown>): Promise<number> {
  const { terminal } = cli
  const client = await cli.client()
  const asked = options.stop
    ? await cli.ask<CheckRunView>('stop_checks', { project_id })
    : await cli.ask<CheckRunView>('run_checks', {
        project_id,
        ...(options.only !== undefined && { check: options.only }),
      })
  if (!options.stop && !terminal.json)
    terminal.note(`Checking ${terminal.foreign(asked.branch)} at ${asked.commit.slice(0, 10)}.`)
  const run = await untilThereIs(client, asked.project_id, async () => {
    const found = (await client.call<{ run: CheckRunView | null }>('get_check_run', { project_id })).run
    return !found || found.number !== asked.number || found.status === 'ended' ? (found ?? asked) : undefined
  })
  const failed = run.outcome !== 'passed' && !options.stop
  if (terminal.json) terminal.data(run)
  else {
    const results = run.results.map(each => ({ ...each, commit: run.commit }))
    for (const line of checkLines('', results, true)) terminal.print(terminal.foreign(line))
    if (run.reason) terminal.print(terminal.foreign(run.reason))
    terminal.print(run.outcome === 'passed' ? 'All checks passed.' : `The checks ${ENDED[run.outcome ?? 'stopped']}.`)
  }
  return failed ? 1 : 0
}

const ENDED = { passed: 'passed', failed: 'failed', stopped: 'were stopped' }
