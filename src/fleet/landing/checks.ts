import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Evidence, Mission } from '../../domain/records/mission.ts'
import type { Check, Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { about } from '../../domain/rules/life.ts'
import {
  checkoutPlace,
  checkoutScratch,
  folderOf,
  placeAt,
  type Repository,
  removePlace,
  removeWorktree,
  scratchWorktree,
} from '../../git/index.ts'
import { type CommandResult, runCommand } from '../../runner/commands.ts'
import { sweep } from '../../runner/stopping.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { derivedId, put } from '../records.ts'
import { commandEnvironment, markOf } from '../sessions/environment.ts'
import { copyFiles, givenTo } from '../sessions/prepare.ts'
import { commandWithin, gitWithin, sandboxOf } from '../sessions/sandbox.ts'

/**
 * In the sandbox the checks of each landing get a new worktree, so that nothing they leave reaches the next ones, not
 * even in ignored folders. Elsewhere ignored files such as installed packages stay for the next checks.
 */
const FRESH = 'checks'
const WARM = 'checks-warm'
export const isForChecks = (name: string): boolean => name === FRESH || name === WARM

/** The first check that failed, or null when all passed. */
export type Failure = { name: string; text: string } | null

interface Subject {
  mission: Mission
  project: Project
  repository: Repository
  commit: string
  /** The candidate that the commit was made of, if it is about a landing. */
  candidate?: string
  purpose: Evidence['purpose']
  /** When the landing or undo was requested. A new request is checked again. */
  since: string
  signal: AbortSignal
}

/**
 * Runs the project's checks on exactly one commit, in a worktree for checks, and stores what each printed. A check that
 * an earlier server finished on this commit is not run again, and one that still runs is followed to its end.
 */
export async function runChecks(fleet: Fleet, subject: Subject): Promise<Failure> {
  const { mission, project, commit, since } = subject
  if (project.checks.length === 0) return null
  const directory = join(fleet.home.checks(project.id), derivedId(mission.id, commit, since))
  const failure = await checkAll(fleet, subject, directory)
  await rm(directory, { recursive: true, force: true })
  return failure
}

async function checkAll(fleet: Fleet, subject: Subject, directory: string): Promise<Failure> {
  const { mission, project, signal } = subject
  const session = await sessionOf(fleet, mission)
  const isWalled = session !== undefined && (await sandboxOf(fleet, session, mission)) !== null
  const scratch = join(fleet.home.worktrees, project.id, isWalled ? FRESH : WARM)
  const mark = markOf(fleet, `check-${mission.id}`)
  const done = await earlier(fleet, subject)
  // A check that was launched already has its worktree, and may still work in it.
  if (done.size === 0 && !existsSync(directory)) await prepareScratch(fleet, subject, session, scratch, mark)
  // A check runs what the agent left, so it runs in the agent's sandbox.
  const within = session && (await commandWithin(fleet, session, mission, project, scratch))
  const base = { cwd: scratch, env: commandEnvironment(fleet, project), mark, signal, within }
  if (project.setup_command && done.size === 0) {
    const setup = await runCommand({
      ...base,
      directory,
      kind: 'setup',
      line: project.setup_command,
      timeoutSeconds: 1800,
    })
    if (setup.code !== 0)
      return {
        name: 'setup',
        text: `The setup command failed in the worktree for checks (${ending(setup)}):\n${setup.output.slice(-2000)}`,
      }
  }
  for (const [index, check] of project.checks.entries()) {
    const known = done.get(check.name)
    const passed = known
      ? known.passed
      : await runOne(fleet, subject, check, { ...base, directory: join(directory, String(index)) })
    if (!passed) return { name: check.name, text: `The check ${check.name} failed on the merged tree.` }
  }
  return null
}

const sessionOf = async (fleet: Fleet, { session_id }: Mission): Promise<Session | undefined> =>
  session_id ? (await fleet.store.get('sessions', session_id))?.value : undefined

async function prepareScratch(
  fleet: Fleet,
  { mission, project, repository, commit }: Subject,
  session: Session | undefined,
  scratch: string,
  mark: string,
): Promise<void> {
  // An earlier server may have started a check on an outdated commit. Nobody waits for it any more, so it is ended.
  await sweep(() => ({ mark, root: null, worktree: scratch, known: new Map() }))
  const fresh = join(dirname(scratch), FRESH)
  // An earlier version had one folder for all checks. It is removed where no sandbox will use it.
  if (scratch === fresh || !existsSync(scratch)) await removeScratch(repository, fresh)
  if (project.isolation === 'linked') {
    await scratchWorktree(repository, scratch, commit)
    await checkoutScratch(scratch, commit)
  } else {
    // A worktree that is registered in the person's repository holds nothing that cannot be made again.
    if (!placeAt(scratch)) await removeScratch(repository, scratch)
    const within = session && (await gitWithin(fleet, session, mission, project, scratch))
    await checkoutPlace(repository, scratch, commit, { ...givenTo(project, 'checks'), within })
  }
  await copyFiles(project, scratch)
}

async function removeScratch(repository: Repository, scratch: string): Promise<void> {
  if (existsSync(folderOf(scratch))) await removePlace(scratch, repository)
  else await removeWorktree(repository, scratch)
}

/** One record per check, commit and landing, by a derived id, so that nothing is checked twice. */
const evidenceId = ({ mission, commit, since }: Subject, check: Check): string =>
  derivedId('evidence', mission.id, commit, since, check.name)

async function earlier(fleet: Fleet, subject: Subject): Promise<Map<string, Evidence>> {
  const found = await Promise.all(
    subject.project.checks.map(check => fleet.store.get('evidence', evidenceId(subject, check))),
  )
  return new Map(found.flatMap(stored => (stored ? [[stored.value.name, stored.value]] : [])))
}

type Where = Omit<Parameters<typeof runCommand>[0], 'kind' | 'line' | 'timeoutSeconds'>

async function runOne(fleet: Fleet, subject: Subject, check: Check, where: Where): Promise<boolean> {
  const { mission, commit, candidate = null, purpose, signal } = subject
  const result = await runCommand({
    ...where,
    kind: 'check',
    line: check.command,
    timeoutSeconds: check.timeout_seconds,
  })
  if (signal.aborted) return false
  const passed = result.code === 0
  const now = { actor: 'fleet', now: fleet.now() }
  const evidence: Evidence = {
    id: evidenceId(subject, check),
    mission_id: mission.id,
    project_id: mission.project_id,
    commit,
    candidate,
    purpose,
    name: check.name,
    command: check.command,
    exit_code: result.code,
    passed,
    output: await fleet.blobs.keep(result.output),
    created_at: now.now,
    seconds: Math.round(result.seconds * 1000) / 1000,
  }
  const event = about(mission, passed ? 'check_passed' : 'check_failed', now, {
    data: { name: check.name, commit, exit_code: result.code },
  })
  await retryOnConflict(async () => {
    if (!(await fleet.store.get('evidence', evidence.id)))
      await fleet.commit('commit.evidence', { changes: [put('evidence', evidence, 'absent')], events: [event] })
  })
  fleet.measurements.checkSeconds.add(result.seconds, passed ? 'passed' : 'failed')
  return passed
}

const ending = ({ stopped, code }: CommandResult): string =>
  stopped === 'time' ? 'it took too long' : stopped === 'size' ? 'it printed too much' : `exit code ${code}`
