import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import { InvalidInput } from '../../domain/errors.ts'
import { newId, shortId } from '../../domain/ids.ts'
import { type LandingPolicy, NewProject, type Project } from '../../domain/records/project.ts'
import { makeRepository, removeUntouched, slug } from '../../git/index.ts'
import type { Ask } from '../commands.ts'
import { defaultsOf } from '../dispatch/capacity.ts'
import type { Fleet } from '../fleet.ts'
import { firstInstalled, noAgent, requireNoScripts } from '../missions/agents.ts'
import { requirePlanner } from '../planning/plans.ts'
import { derivedId } from '../records.ts'
import { createProject, deleteProject, type ProjectFields, realFolder, requireAllowed } from './projects.ts'

interface NewProjectWish {
  planner?: string
  /** Only for a project that is made. */
  landing?: LandingPolicy
}

export interface FoundProject {
  project: Project
  /** Whether the repository was made now. */
  made: boolean
}

/**
 * The project of a repository, made if there is none. Where the folder does not exist, the repository is made too, if
 * an agent can plan in it.
 */
export async function projectAt(
  fleet: Fleet,
  ask: Ask,
  path: string,
  { planner, landing }: NewProjectWish = {},
): Promise<FoundProject> {
  if (!isAbsolute(path)) throw new InvalidInput('project_path', 'must be absolute, such as /home/me/my-repository')
  const made = !existsSync(path)
  if (made) {
    requireAllowed(fleet, realFolder(dirname(path)))
    await requirePlanner(fleet, planner ?? (await someAgent(fleet)))
    await makeRepository(path)
  }
  const fields = { ...NewProject.parse({ landing }), path }
  const asked = { ...ask, operation: `${ask.operation}: project` }
  return orTakenBack(path, made, async () => ({
    project: (await createProject(fleet, asked, fields, 'return')).value,
    made,
  }))
}

/**
 * Removes the repository and project that were made for a refused plan, unless somebody has put something into them.
 */
export async function takeBack(fleet: Fleet, ask: Ask, { project, made }: FoundProject): Promise<void> {
  if (!made || !(await removeUntouched(project.path))) return
  await deleteProject(fleet, ask, project.id)
}

async function someAgent(fleet: Fleet): Promise<string> {
  const agent = defaultsOf(fleet).agent ?? (await firstInstalled(fleet))
  if (agent === null) throw noAgent(fleet, null)
  return agent
}

/** A project in a new repository. The same key again gives the same one. */
export async function newProject(fleet: Fleet, ask: Ask, name: string, wish: NewProjectWish): Promise<FoundProject> {
  return projectAt(fleet, ask, await newFolder(fleet, ask, name), wish)
}

/** The same for a caller with missions of its own, so no planner is needed. */
export async function projectInNewRepository(
  fleet: Fleet,
  ask: Ask,
  fields: Omit<ProjectFields, 'path'> & { name: string },
): Promise<Project> {
  requireNoScripts(fleet, fields.agent)
  const path = await newFolder(fleet, ask, fields.name)
  requireAllowed(fleet, realFolder(dirname(path)))
  const made = !existsSync(path)
  await makeRepository(path)
  return orTakenBack(path, made, async () => (await createProject(fleet, ask, { ...fields, path }, 'return')).value)
}

/** Removes a repository that was made for something that was then refused. */
async function orTakenBack<T>(path: string, made: boolean, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (made) await removeUntouched(path)
    throw error
  }
}

/** Where repositories are made, if nobody names a place. */
export async function newRepositories(fleet: Fleet): Promise<string> {
  const folder = fleet.settings.projectsDir ?? join(fleet.home.path, 'projects')
  await mkdir(folder, { recursive: true })
  return folder
}

async function newFolder(fleet: Fleet, ask: Ask, name: string): Promise<string> {
  const folder = await newRepositories(fleet)
  const suffix = shortId(ask.key ? derivedId('new project', ask.actor, ask.key) : newId())
  return join(folder, `${slug(name, 'project')}-${suffix}`)
}
