import { join } from 'node:path'
import { InvalidInput, NotAllowed } from '../../domain/errors.ts'
import type { CheckResult, CheckRun } from '../../domain/records/check-run.ts'
import type { EventKind, NewEvent } from '../../domain/records/event.ts'
import type { Check, Project } from '../../domain/records/project.ts'
import type { By } from '../../domain/rules/life.ts'
import { clipped, MAX_CAUSE_CHARS, MAX_REASON_CHARS } from '../../domain/text.ts'
import { branchTip } from '../../git/index.ts'
import { newestLaunch, outputOf } from '../../platform/launch-folder.ts'
import type { CommandResult } from '../../runner/commands.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { current, derivedId, put } from '../records.ts'
import { markOf } from '../sessions/environment.ts'
import { checkAll, launchesOfCheck } from './checking.ts'
import { secondsOf } from './checks.ts'

export const checkRunId = (projectId: string): string => derivedId('check-run', projectId)

/** Commits the wish that a project's checks, or one of them, run on the tip of its base branch. */
export async function requestChecks(
  fleet: Fleet,
  ask: Ask,
  projectId: string,
  only: string | undefined,
): Promise<Stored<CheckRun>> {
  const id = checkRunId(projectId)
  await oncePerKey(fleet, ask, async () => {
    const { value: project, version } = await current(fleet, 'projects', projectId)
    if (project.deleting) throw new NotAllowed(`Project ${project.name} is being deleted.`)
    const checks = chosen(project, only)
    const commit = await branchTip(await repositoryOf(project), project.base_branch)
    if (!commit) throw new NotAllowed(`The base branch ${project.base_branch} is gone.`)
    const before = await fleet.store.get('check_runs', id)
    if (before && before.value.status !== 'ended')
      throw new NotAllowed(`The checks of ${project.name} are running already.`, {
        try: 'Wait until they end, or stop them.',
      })
    const when = by(fleet, ask)
    const run: CheckRun = {
      id,
      project_id: project.id,
      number: (before?.value.number ?? 0) + 1,
      branch: project.base_branch,
      commit,
      checks,
      status: 'waiting',
      outcome: null,
      stopping: false,
      reason: null,
      results: [],
      requested_by: when.actor,
      created_at: when.now,
      started_at: null,
      ended_at: null,
    }
    return {
      subject: id,
      changes: [put('check_runs', run, before?.version ?? 'absent')],
      checks: [{ collection: 'projects', id: project.id, expects: version }],
      events: [runEvent(run, 'checks_requested', when)],
    }
  })
  return current(fleet, 'check_runs', id)
}

function chosen({ name, worktree, checks }: Project, only: string | undefined): Check[] {
  if (worktree === 'none') throw new NotAllowed(`${name} is not a repository, so there is no commit to check.`)
  if (checks.length === 0)
    throw new NotAllowed(`Project ${name} has no checks.`, { try: 'Add one to the project first.' })
  if (only === undefined) return checks
  const found = checks.filter(check => check.name === only)
  if (found.length) return found
  throw new InvalidInput('check', `must be one of ${checks.map(check => check.name).join(', ')}`)
}

/** Commits the wish that the run ends now. */
export async function requestStop(fleet: Fleet, ask: Ask, projectId: string): Promise<Stored<CheckRun>> {
  const id = checkRunId(projectId)
  await oncePerKey(fleet, ask, async () => {
    const found = await fleet.store.get('check_runs', id)
    if (!found || found.value.status === 'ended') throw new NotAllowed('No checks of this project are running.')
    const when = by(fleet, ask)
    // One that waits for its turn has no process to end.
    const over = { status: 'ended', outcome: 'stopped', ended_at: when.now } as const
    const run: CheckRun = { ...found.value, stopping: true, ...(found.value.status === 'waiting' && over) }
    return {
      subject: id,
      changes: [put('check_runs', run, found.version)],
      events: [runEvent(run, 'checks_stop_requested', when)],
    }
  })
  return current(fleet, 'check_runs', id)
}

const runEvent = (run: CheckRun, kind: EventKind, { actor, now }: By, extra: Partial<NewEvent> = {}): NewEvent => ({
  kind,
  time: now,
  actor,
  project_id: run.project_id,
  ...extra,
  data: { check_run: run.id, commit: run.commit, ...extra.data },
})

const directoryOf = (fleet: Fleet, { id, number, project_id }: CheckRun): string =>
  join(fleet.home.checks(project_id), `${id}-${number}`)

/** What the check that runs now has printed so far. */
export function printedSoFar(fleet: Fleet, run: CheckRun, maxBytes: number): string {
  const launch = newestLaunch(launchesOfCheck(directoryOf(fleet, run), run.results.length), 'check')
  return launch ? outputOf(launch, maxBytes) : ''
}

/** Runs what was requested to its end. A server that dies meanwhile leaves it to the next one. */
export async function carryOutChecks(fleet: Fleet, id: string, signal: AbortSignal): Promise<void> {
  const run = await change(fleet, id, (found, now) => ({ ...found, status: 'running', started_at: now }), 'waiting')
  if (!run) return
  const project = (await fleet.store.get('projects', run.project_id))?.value
  if (!project || project.deleting) return end(fleet, id, 'stopped', 'Its project is gone.')
  if (run.stopping) return end(fleet, id, 'stopped', null)
  const failure = await checkAll(fleet, {
    project,
    repository: await repositoryOf(project),
    commit: run.commit,
    checks: run.checks,
    scratch: 'now',
    directory: directoryOf(fleet, run),
    mark: markOf(fleet, `check-${id}`),
    signal,
    known: new Map(run.results.map(({ name, passed }) => [name, passed])),
    note: (check, result) => noteResult(fleet, id, check, result),
    all: true,
  })
  if (signal.aborted) return end(fleet, id, 'stopped', null)
  return end(fleet, id, failure ? 'failed' : 'passed', failure?.name === 'setup' ? failure.text : null)
}

async function noteResult(fleet: Fleet, id: string, check: Check, result: CommandResult): Promise<void> {
  const output = await fleet.blobs.keep(result.output)
  await change(
    fleet,
    id,
    (run, now) => {
      if (run.results.some(({ name }) => name === check.name)) return undefined
      const { name, command } = check
      const noted: CheckResult = {
        ...{ name, command, output, exit_code: result.code, passed: result.code === 0 },
        ...{ created_at: now, seconds: secondsOf(result) },
      }
      return { ...run, results: [...run.results, noted] }
    },
    undefined,
    run => {
      const { name, passed, exit_code } = run.results.at(-1)!
      return { kind: passed ? 'check_passed' : 'check_failed', data: { name, exit_code } }
    },
  )
}

async function end(
  fleet: Fleet,
  id: string,
  outcome: NonNullable<CheckRun['outcome']>,
  reason: string | null,
): Promise<void> {
  const words = reason && clipped(reason, MAX_REASON_CHARS)
  await change(
    fleet,
    id,
    (run, now) => ({ ...run, status: 'ended', outcome, reason: words, ended_at: now }),
    undefined,
    () => ({ kind: 'checks_ended', data: { outcome }, ...(words && { cause: clipped(words, MAX_CAUSE_CHARS) }) }),
  )
}

/** Changes a run that has not ended, and answers it as it is then. `from`: only in this status. */
function change(
  fleet: Fleet,
  id: string,
  decide: (run: CheckRun, now: string) => CheckRun | undefined,
  from?: CheckRun['status'],
  tell: (run: CheckRun) => Partial<NewEvent> & { kind: EventKind } = () => ({ kind: 'checks_started' }),
): Promise<CheckRun | undefined> {
  return retryOnConflict(async () => {
    const found = await fleet.store.get('check_runs', id)
    if (!found || found.value.status === 'ended') return undefined
    const when = { actor: 'fleet', now: fleet.now() }
    const next = from && found.value.status !== from ? undefined : decide(found.value, when.now)
    if (!next) return found.value
    const { kind, ...extra } = tell(next)
    await fleet.commit('commit.evidence', {
      changes: [put('check_runs', next, found.version)],
      events: [runEvent(next, kind, when, extra)],
    })
    return next
  })
}
