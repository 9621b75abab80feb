import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, isAbsolute, sep } from 'node:path'
import { Forbidden, InvalidInput, NotAllowed } from '../../domain/errors.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import { isLoopOver } from '../../domain/records/loop.ts'
import type { Mission } from '../../domain/records/mission.ts'
import { type LandingPolicy, MAX_NAME_CHARS, Project, type ProjectSettings } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import type { By } from '../../domain/rules/life.ts'
import { branchTip, describe, openRepository, requireCommits, requireNameable } from '../../git/index.ts'
import type { Change, Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { firstInstalled, requireNoScripts } from '../missions/agents.ts'
import { requirePullRequests } from '../pull-requests/open-pull-request.ts'
import { all, current, derivedId, fleetState, projectsCalled, put } from '../records.ts'
import { discarded, forget, forgetMission, leftBehind, stillHolds } from '../worktrees/retiring.ts'
import { removeSample, sampleWork } from './sample-removal.ts'

export type ProjectFields = Omit<ProjectSettings, 'landing' | 'name'> & {
  /** Empty: the name of its folder, with a number if another project has it. */
  name?: string
  path: string
  worktree?: 'git' | 'none'
  /** Empty: the fleet's setting for new projects. */
  landing?: LandingPolicy
  sample?: Project['sample']
}

/** `existing` says what happens if the repository already is a project. */
export async function createProject(
  fleet: Fleet,
  ask: Ask,
  fields: ProjectFields,
  existing: 'refuse' | 'return' = 'refuse',
): Promise<Stored<Project>> {
  requireNoScripts(fleet, fields.agent)
  const repository = await repositoryFields(fleet, fields)
  // Derived from its path, so that one repository is one project however many ask at once.
  const id = derivedId('project', repository.path)
  const agent = fields.agent ?? (await defaultFor(fleet, id))
  const landing = fields.landing ?? fleet.settings.landing
  await oncePerKey(fleet, ask, async () => {
    const found = await fleet.store.get('projects', id)
    if (found && existing === 'return') return { subject: id, changes: [] }
    if (found)
      throw new NotAllowed(`${repository.path} already is the project ${found.value.name} (${id}).`, {
        try: `fleet project show ${id}`,
        facts: { id },
      })
    const { now, actor } = by(fleet, ask)
    const guard = await amongNames(fleet)
    if (fields.name !== undefined) await requireFreeName(fleet, fields.name)
    const name = fields.name ?? (await freeName(fleet, basename(repository.path) || 'project'))
    const project = Project.parse({
      ...fields,
      ...repository,
      name,
      agent,
      landing,
      id,
      created_at: now,
      updated_at: now,
    })
    if (landing === 'pull-request') await requirePullRequests(fleet, project)
    return {
      subject: id,
      changes: [put('projects', project, 'absent'), guard],
      events: [event(project, 'project_created', actor, now, { name: project.name, path: project.path })],
    }
  })
  return current(fleet, 'projects', id)
}

/** Read before the names, and written with the project: of two that choose a name at once, one chooses again. */
async function amongNames(fleet: Fleet): Promise<Change> {
  const { value, expects } = await fleetState(fleet)
  return put('fleet', { ...value, updated_at: fleet.now() }, expects)
}

async function requireFreeName(fleet: Fleet, name: string, own?: string): Promise<void> {
  const other = (await projectsCalled(fleet, name)).find(({ id }) => id !== own)
  if (other)
    throw new NotAllowed(`The project ${other.id} at ${other.path} is called ${other.name} already.`, {
      try: 'Choose another name.',
      facts: { id: other.id, path: other.path },
    })
}

export async function freeName(fleet: Fleet, wanted: string): Promise<string> {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `-${number}`
    const name = wanted.slice(0, MAX_NAME_CHARS - suffix.length) + suffix
    if (!(await projectsCalled(fleet, name)).length) return name
  }
}

/** The agent of a new project that names none: the fleet's setting, or the first that is installed now. */
async function defaultFor(fleet: Fleet, id: string): Promise<string | null> {
  if (fleet.settings.defaultAgent || (await fleet.store.get('projects', id))) return null
  return firstInstalled(fleet)
}

async function repositoryFields(
  fleet: Fleet,
  { path, worktree, base_branch }: Pick<ProjectFields, 'path' | 'worktree' | 'base_branch'>,
): Promise<Pick<Project, 'path' | 'worktree' | 'base_branch'>> {
  if (!isAbsolute(path)) throw new InvalidInput('path', 'must be absolute, such as /home/me/my-repository')
  const real = realFolder(path)
  requireAllowed(fleet, real)
  if (worktree === 'none') return { path: real, worktree, base_branch: '' }
  const repository = await openRepository(real)
  requireAllowed(fleet, repository.path)
  const description = await describe(repository)
  requireCommits(repository, description)
  const branch = base_branch ?? description.head
  if (!branch) throw new InvalidInput('base_branch', 'HEAD is detached here: name the branch that work should land on')
  if (!(await branchTip(repository, branch)))
    throw new InvalidInput('base_branch', `there is no branch ${JSON.stringify(branch)} in ${repository.path}`)
  return { path: repository.path, worktree: 'git', base_branch: branch }
}

export function realFolder(path: string): string {
  let real = path
  try {
    real = realpathSync.native(path)
    if (statSync(real).isDirectory()) return real
  } catch (cause) {
    requireNameable(real)
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new InvalidInput('path', `${path} does not exist.`)
    throw new InvalidInput('path', `${path} cannot be read by the user that runs Flotilla (${code}).`)
  }
  throw new InvalidInput('path', `${path} is not a folder.`)
}

/** An allowed folder that does not exist allows nothing. The others still count. */
export function existingFolder(path: string): string | undefined {
  try {
    return realFolder(path)
  } catch (error) {
    if (error instanceof InvalidInput) return undefined
    throw error
  }
}

/** Compared after links are followed, so that a link cannot lead out of the allowed folders. */
export function requireAllowed(fleet: Fleet, path: string): void {
  const roots = fleet.settings.allowedRepos
  if (roots.length === 0) return
  const inside = roots
    .flatMap(root => existingFolder(root) ?? [])
    .some(root => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep))
  if (!inside)
    throw new Forbidden(`${path} is outside the folders that FLEET_ALLOWED_REPOS allows.`, {
      try: 'Choose a repository inside them, or start the fleet with another FLEET_ALLOWED_REPOS.',
    })
}

export async function updateProject(
  fleet: Fleet,
  ask: Ask,
  id: string,
  fields: Partial<ProjectSettings>,
): Promise<Stored<Project>> {
  requireNoScripts(fleet, fields.agent)
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await current(fleet, 'projects', id)
    if (fields.base_branch) await repositoryFields(fleet, { ...value, ...fields, base_branch: fields.base_branch })
    const { now, actor } = by(fleet, ask)
    const isRenamed = fields.name !== undefined && fields.name !== value.name
    const guard = isRenamed ? [await amongNames(fleet)] : []
    if (isRenamed) await requireFreeName(fleet, fields.name!, id)
    const base_branch = fields.base_branch ?? value.base_branch
    const moved = base_branch === value.base_branch ? {} : { known_tip: null }
    const project = Project.parse({ ...value, ...fields, ...moved, base_branch, updated_at: now })
    if (fields.landing === 'pull-request') await requirePullRequests(fleet, project)
    return {
      subject: id,
      changes: [put('projects', project, version), ...guard],
      events: [event(project, 'project_updated', actor, now, { fields: Object.keys(fields) })],
    }
  })
  return current(fleet, 'projects', id)
}

/**
 * Removes records, never branches: the agents' work stays in the repository, except for the sample's. `discard` also
 * removes what no commit holds. Answers where the repository still is.
 */
export async function deleteProject(fleet: Fleet, ask: Ask, id: string, discard = false): Promise<string | null> {
  const live = await liveMissions(fleet, id)
  if (live.length)
    throw new NotAllowed(`Project ${id} has missions under way: ${live.join(', ')}.`, {
      try: `fleet cancel ${live[0]}`,
      facts: { missions: live },
    })
  const project = await retryOnConflict(async () => {
    const { value, version } = await current(fleet, 'projects', id)
    const loop = value.loop_id && (await fleet.store.get('loops', value.loop_id))?.value
    if (loop && !isLoopOver(loop))
      throw new NotAllowed(`Project ${id} has a loop, which is ${loop.status}.`, {
        try: `fleet loop stop --project ${id}`,
      })
    const checks = await fleet.store.find('check_runs', { index: 'project', equals: [id], limit: 1 })
    if (checks.items.some(({ value: run }) => run.status !== 'ended'))
      throw new NotAllowed(`The checks of project ${id} are running.`, { try: `fleet project check ${id} --stop` })
    const [team] = (await fleet.store.find('teams', { index: 'project', equals: [id], limit: 1 })).items
    if (team)
      throw new NotAllowed(`Project ${id} has the team ${team.value.name}.`, {
        try: `fleet team delete ${team.value.name} --dismiss`,
      })
    const left: Stored<Session>[] = []
    for await (const mission of missionsOf(fleet, id)) left.push(...(await leftBehind(fleet, mission.id)))
    if (left.length && !discard) throw stillHolds(left, `fleet project remove ${id} --discard`)
    await fleet.commit('commit.project-deleted', {
      changes: [put('projects', { ...value, deleting: true }, version), ...discarded(left)],
    })
    return value
  })
  await forgetProject(fleet, project, by(fleet, ask))
  return existsSync(project.path) ? project.path : null
}

/** What is left to do after a project's deletion is written down. Doing it again is free. */
export async function forgetProject(fleet: Fleet, project: Project, when: By): Promise<void> {
  const sample = project.sample ? await sampleWork(fleet, project) : undefined
  for await (const mission of missionsOf(fleet, project.id)) await forgetMission(fleet, mission.id, when)
  for await (const { value } of all(fleet, 'teams', 'ever', [project.id])) await forget(fleet, 'teams', value.id)
  for (const collection of OF_PROJECT) {
    for await (const { value } of all(fleet, collection, 'project', [project.id]))
      await forget(fleet, collection, value.id)
  }
  if (sample) await removeSample(fleet, project, sample)
  await retryOnConflict(async () => {
    const stored = await fleet.store.get('projects', project.id)
    const gone = event(project, 'project_deleted', when.actor, when.now, { name: project.name })
    if (stored)
      await fleet.commit('commit.project-deleted', {
        changes: [{ remove: 'projects', id: project.id, expects: stored.version }],
        events: [gone],
      })
  })
}

/** Records that go with their project. */
const OF_PROJECT = [
  'plans',
  'loops',
  'approval_rules',
  'check_runs',
  'deliveries',
  'mail',
  'swarms',
  'posts',
  'checkpoints',
  'reservations',
  'spawns',
  'members',
] as const

/** All missions of a project, also those of team members. */
async function* missionsOf(fleet: Fleet, projectId: string): AsyncGenerator<Mission> {
  for (const index of ['project', 'member'])
    for await (const { value } of all(fleet, 'missions', index, [projectId])) yield value
}

async function liveMissions(fleet: Fleet, id: string): Promise<string[]> {
  const pages = await Promise.all(
    ['running', 'landing', 'queued', 'waiting'].map(status =>
      fleet.store.find('missions', { index: 'project_status', equals: [id, status], limit: 5 }),
    ),
  )
  const asking = await fleet.store.find('missions', {
    index: 'project_status',
    equals: [id, 'needs_input'],
    limit: 200,
  })
  const waiting = asking.items.filter(item => item.value.asking || item.value.taken_over)
  const ofMembers = await Array.fromAsync(all(fleet, 'missions', 'member', [id]))
  const atWork = ofMembers.filter(({ value }) => value.status === 'running' || value.status === 'queued')
  return [...pages.flatMap(page => page.items), ...waiting, ...atWork].map(item => item.value.id)
}

/** Pausing keeps new sessions from starting; running ones go on. Without a project it pauses the whole fleet. */
export async function setPaused(fleet: Fleet, ask: Ask, projectId: string | undefined, paused: boolean): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const { now, actor } = by(fleet, ask)
    const kind = paused ? 'paused' : 'unpaused'
    if (projectId) {
      const { value, version } = await current(fleet, 'projects', projectId)
      return {
        subject: projectId,
        changes: [put('projects', { ...value, paused, updated_at: now }, version)],
        events: [event(value, kind, actor, now)],
      }
    }
    const { value, expects } = await fleetState(fleet)
    return {
      subject: 'fleet',
      changes: [put('fleet', { ...value, paused, updated_at: now }, expects)],
      events: [{ kind, time: now, actor }],
    }
  })
}

const event = (
  project: Project,
  kind: NewEvent['kind'],
  actor: string,
  time: string,
  data: Record<string, unknown> = {},
): NewEvent => ({ kind, time, actor, project_id: project.id, data })
