import { basename, resolve } from 'node:path'
import { NotAllowed } from '../domain/errors.ts'
import type { Project } from '../domain/records/project.ts'
import { type FolderLocation, locate } from '../git/locate.ts'
import { requireNameable } from '../git/repository.ts'
import type { Cli } from './command.ts'
import { isThisMachine } from './logins.ts'
import { namedServer } from './server.ts'

export const projectsAt = async (cli: Cli, path: string): Promise<Project[]> =>
  (await cli.ask<{ projects: Project[] }>('list_projects', { path })).projects

interface Here {
  project: Project
  subdirectory: string
}

/** The project of the repository or folder the person is in, if it is one already. */
export async function knownProjectHere(cli: Cli): Promise<Here | undefined> {
  return knownAt(cli, await locate(cli.terminal.streams.cwd))
}

async function knownAt(cli: Cli, location: FolderLocation | undefined): Promise<Here | undefined> {
  for (const path of location ? [location.top, location.main] : [cli.terminal.streams.cwd]) {
    const [project] = path ? await projectsAt(cli, path) : []
    if (project) return { project, subdirectory: location?.subdirectory ?? '' }
  }
  return undefined
}

/** The project of the repository the person is in, made if there is none. */
export async function projectHere(cli: Cli): Promise<Here> {
  const { cwd } = cli.terminal.streams
  const location = await locate(cwd)
  const known = await knownAt(cli, location)
  if (known) return known
  requireNameable(cwd)
  if (!location)
    throw new NotAllowed(`${cwd} is not inside a git repository.`, {
      try: 'Go to a repository, create one with git init, or choose a project: --project <name>',
    })
  const path = location.main ?? location.top
  const named = namedServer(cli.where)
  if (named && !isThisMachine(named))
    throw new NotAllowed(`${path} is no project of the fleet at ${named}, which works in folders of its own machine.`, {
      try: 'Choose one of its projects: --project <name>. See fleet project list',
    })
  try {
    const project = await cli.ask<Project>('create_project', { path })
    tellOtherName(cli, project)
    cli.terminal.note(`Added project ${project.name} for ${project.path}. ${howItWorks(project)}`)
    return { project, subdirectory: location.subdirectory }
  } catch (error) {
    // Another command may have made it in the same moment.
    const made = await knownAt(cli, location)
    if (made) return made
    throw error
  }
}

/** The settings of a new project, and how to change them. */
export function howItWorks({ name, agent, landing }: Project): string {
  const who = agent ? `Its agent is ${agent}` : 'No coding agent is installed and signed in'
  const lands = {
    auto: 'finished work lands automatically',
    review: 'finished work waits for your review',
    'pull-request': 'finished work becomes a pull request',
    never: 'finished work stays on its branch',
  }[landing]
  return `${who}; ${lands}. To change this: fleet project set ${name.includes(' ') ? JSON.stringify(name) : name} --agent … --landing …`
}

/** Says that the project is not called like its folder, because that name was taken. */
export function tellOtherName({ terminal }: Cli, { name, path }: Project): void {
  const folder = basename(path)
  if (name !== folder) terminal.note(`Another project is called ${folder}, so this one is called ${name}.`)
}

/** Turns a path into the id of the project there. Ids and names are returned as they are. */
export async function projectRef(cli: Cli, given: string): Promise<string> {
  const isPath = given.includes('/') || given === '.' || given === '..'
  const [project] = isPath ? await projectsAt(cli, resolve(cli.terminal.streams.cwd, given)) : []
  return project?.id ?? given
}
