import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Mission } from '../../domain/records/mission.ts'
import type { Check, Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
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
import type { Fleet } from '../fleet.ts'
import { commandEnvironment } from '../sessions/environment.ts'
import { copyFiles, givenTo } from '../sessions/prepare.ts'
import { commandWithin, gitWithin } from '../sessions/sandbox.ts'

/**
 * In the sandbox the checks of each landing get a new worktree, so that nothing they leave reaches the next ones, not
 * even in ignored folders. Elsewhere ignored files such as installed packages stay for the next checks. Checks that a
 * person runs have a worktree of their own, so that after a crash a landing does not end them.
 */
const SCRATCHES = { fresh: 'checks', warm: 'checks-warm', now: 'checks-now' } as const
export type Scratch = keyof typeof SCRATCHES
const isScratch = new Set<string>(Object.values(SCRATCHES))
export const isForChecks = (name: string): boolean => isScratch.has(name)

/** The first check that failed, or null when all passed. */
export type Failure = { name: string; text: string } | null

/** Checks to run on exactly one commit. */
export interface Checking {
  project: Project
  repository: Repository
  commit: string
  checks: readonly Check[]
  scratch: Scratch
  /** Checks run what this session left, so they run in its sandbox. */
  left?: { mission: Mission; session: Session }
  /** The folder of its launches. The same folder continues what an earlier server started. */
  directory: string
  mark: string
  signal: AbortSignal
  /** Whether each check that is already written down passed. */
  known: ReadonlyMap<string, boolean>
  /** Writes down how a check ended. */
  note(check: Check, result: CommandResult): Promise<void>
  /** The checks after one that failed are run too. */
  all?: boolean
}

/**
 * Runs the checks in a worktree for checks. One that an earlier server finished is not run again, and one that still
 * runs is followed to its end.
 */
export async function checkAll(fleet: Fleet, checking: Checking): Promise<Failure> {
  const failure = await runAll(fleet, checking)
  await rm(checking.directory, { recursive: true, force: true })
  return failure
}

/** The folder of the launches of one check. */
export const launchesOfCheck = (directory: string, index: number): string => join(directory, String(index))

async function runAll(fleet: Fleet, checking: Checking): Promise<Failure> {
  const { project, checks, left, directory, mark, signal, known, note } = checking
  const scratch = join(fleet.home.worktrees, project.id, SCRATCHES[checking.scratch])
  // A check that was launched already has its worktree, and may still work in it.
  if (known.size === 0 && !existsSync(directory)) await prepareScratch(fleet, checking, scratch)
  const within = left && (await commandWithin(fleet, left.session, left.mission, project, scratch))
  const base = { cwd: scratch, env: commandEnvironment(fleet, project), mark, signal, within }
  if (project.setup_command && known.size === 0) {
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
  let failure: Failure = null
  for (const [index, check] of checks.entries()) {
    let passed = known.get(check.name)
    if (passed === undefined) {
      const result = await runCommand({
        ...base,
        directory: launchesOfCheck(directory, index),
        kind: 'check',
        line: check.command,
        timeoutSeconds: check.timeout_seconds,
      })
      if (!signal.aborted) await note(check, result)
      passed = !signal.aborted && result.code === 0
    }
    if (passed) continue
    failure ??= { name: check.name, text: `The check ${check.name} failed on the merged tree.` }
    if (!checking.all || signal.aborted) break
  }
  return failure
}

async function prepareScratch(
  fleet: Fleet,
  { project, repository, commit, left, mark }: Checking,
  scratch: string,
): Promise<void> {
  // An earlier server may have started a check on an outdated commit. Nobody waits for it any more, so it is ended.
  await sweep(() => ({ mark, root: null, worktree: scratch, known: new Map() }))
  const fresh = join(dirname(scratch), SCRATCHES.fresh)
  // An earlier version had one folder for all checks. It is removed where no sandbox will use it.
  if (scratch === fresh || (basename(scratch) === SCRATCHES.warm && !existsSync(scratch)))
    await removeScratch(repository, fresh)
  if (project.isolation === 'linked') {
    await scratchWorktree(repository, scratch, commit)
    await checkoutScratch(scratch, commit)
  } else {
    // A worktree that is registered in the person's repository holds nothing that cannot be made again.
    if (!placeAt(scratch)) await removeScratch(repository, scratch)
    const within = left && (await gitWithin(fleet, left.session, left.mission, project, scratch))
    await checkoutPlace(repository, scratch, commit, { ...givenTo(project, 'checks'), within })
  }
  await copyFiles(project, scratch)
}

async function removeScratch(repository: Repository, scratch: string): Promise<void> {
  if (existsSync(folderOf(scratch))) await removePlace(scratch, repository)
  else await removeWorktree(repository, scratch)
}

const ending = ({ stopped, code }: CommandResult): string =>
  stopped === 'time' ? 'it took too long' : stopped === 'size' ? 'it printed too much' : `exit code ${code}`
