import { join } from 'node:path'
import type { Evidence, Mission } from '../../domain/records/mission.ts'
import type { Check, Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import { about } from '../../domain/rules/life.ts'
import type { Repository } from '../../git/index.ts'
import type { CommandResult } from '../../runner/commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { derivedId, put } from '../records.ts'
import { markOf } from '../sessions/environment.ts'
import { sandboxOf } from '../sessions/sandbox.ts'
import { checkAll, type Failure } from './checking.ts'

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

/** Runs the project's checks for a mission on exactly one commit, and stores what each printed as its evidence. */
export async function runChecks(fleet: Fleet, subject: Subject): Promise<Failure> {
  const { mission, project, repository, commit, since, signal } = subject
  if (project.checks.length === 0) return null
  const session = await sessionOf(fleet, mission)
  const isWalled = session !== undefined && (await sandboxOf(fleet, session, mission)) !== null
  return checkAll(fleet, {
    ...{ project, repository, commit, signal },
    checks: project.checks,
    scratch: isWalled ? 'fresh' : 'warm',
    ...(session && { left: { mission, session } }),
    directory: join(fleet.home.checks(project.id), derivedId(mission.id, commit, since)),
    mark: markOf(fleet, `check-${mission.id}`),
    known: await earlier(fleet, subject),
    note: (check, result) => noteEvidence(fleet, subject, check, result),
  })
}

const sessionOf = async (fleet: Fleet, { session_id }: Mission): Promise<Session | undefined> =>
  session_id ? (await fleet.store.get('sessions', session_id))?.value : undefined

/** One record per check, commit and landing, by a derived id, so that nothing is checked twice. */
const evidenceId = ({ mission, commit, since }: Subject, check: Check): string =>
  derivedId('evidence', mission.id, commit, since, check.name)

async function earlier(fleet: Fleet, subject: Subject): Promise<Map<string, boolean>> {
  const found = await Promise.all(
    subject.project.checks.map(check => fleet.store.get('evidence', evidenceId(subject, check))),
  )
  return new Map(found.flatMap(stored => (stored ? [[stored.value.name, stored.value.passed]] : [])))
}

export const secondsOf = ({ seconds }: CommandResult): number => Math.round(seconds * 1000) / 1000

async function noteEvidence(fleet: Fleet, subject: Subject, check: Check, result: CommandResult): Promise<void> {
  const { mission, commit, candidate = null, purpose } = subject
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
    seconds: secondsOf(result),
  }
  const event = about(mission, passed ? 'check_passed' : 'check_failed', now, {
    data: { name: check.name, commit, exit_code: result.code },
  })
  await retryOnConflict(async () => {
    if (!(await fleet.store.get('evidence', evidence.id)))
      await fleet.commit('commit.evidence', { changes: [put('evidence', evidence, 'absent')], events: [event] })
  })
  fleet.measurements.checkSeconds.add(result.seconds, passed ? 'passed' : 'failed')
}
