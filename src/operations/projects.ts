import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { NewProject, Project, ProjectSettings } from '../domain/records/project.ts'
import { projectInNewRepository } from '../fleet/projects/new-projects.ts'
import { createProject, deleteProject, setPaused, updateProject } from '../fleet/projects/projects.ts'
import { createSampleProject } from '../fleet/projects/sample.ts'
import { suggestFiles } from '../fleet/projects/tracked-files.ts'
import { lookUp } from '../fleet/records.ts'
import { warmProject } from '../fleet/worktrees/warming.ts'
import { ask, edits, Paging, ProjectRef } from './inputs.ts'
import { neededFor } from './needed.ts'
import { command, query } from './operation.ts'

export const ProjectView = Project.omit({ deleting: true, known_tip: true })
const WithProject = z.object({ project_id: ProjectRef })

export const projects = [
  command({
    name: 'create_project',
    may: 'projects.write',
    mcp: { set: 'projects', name: 'create_project_in_full' },
    summary: 'Create a project from a repository on this machine',
    http: 'POST /api/projects',
    input: NewProject.extend({
      path: z
        .string()
        .min(1)
        .max(4000)
        .optional()
        .describe('the absolute path of the repository; empty: a new one is created in projects_dir'),
      worktree: z.enum(['git', 'none']).optional().describe('none: a folder that is not a repository'),
      if_exists: z.enum(['refuse', 'return']).default('refuse').describe('what to do if it already is a project'),
    }),
    output: ProjectView,
    run: async (context, { if_exists, path, name, ...fields }) => {
      const asked = ask(context, 'create_project')
      if (path !== undefined)
        return (await createProject(context.fleet, asked, { ...fields, name, path }, if_exists)).value
      if (name === undefined)
        throw new InvalidInput('name', 'is missing: name the project, or give the path of its repository')
      if (fields.worktree === 'none') throw new InvalidInput('path', 'is missing: name the folder')
      return projectInNewRepository(context.fleet, asked, { ...fields, name })
    },
  }),
  command({
    name: 'create_sample_project',
    may: 'projects.write',
    mcp: 'projects',
    summary:
      'Create the sample project Demo, whose missions show a whole life: landed, retried, conflict resolved, in review',
    http: 'POST /api/projects/sample',
    needsFleet: true,
    input: z.object({
      team: z
        .boolean()
        .default(false)
        .describe('the other sample project, Demo team: four scripts that work as a team'),
    }),
    output: ProjectView.describe('the one that exists already, if there is one'),
    run: async (context, { team }) =>
      createSampleProject(context.fleet, ask(context, 'create_sample_project'), { team }),
  }),
  query({
    name: 'list_projects',
    may: 'projects.read',
    mcp: { set: 'projects', name: 'list_projects_in_full' },
    summary: 'List the projects, newest first',
    http: 'GET /api/projects',
    input: z.object({ path: z.string().optional().describe('only the project at this path'), ...Paging }),
    output: z.object({ projects: z.array(ProjectView), cursor: z.string().optional() }),
    run: async ({ fleet }, { path, limit, cursor }) => {
      const where = path === undefined ? { index: 'created' } : { index: 'path', equals: [path] }
      const page = await fleet.store.find('projects', { ...where, newestFirst: true, limit, cursor })
      return { projects: page.items.map(item => item.value), cursor: page.cursor }
    },
  }),
  query({
    name: 'get_project',
    may: 'projects.read',
    mcp: 'projects',
    summary: 'Show a project and its settings',
    http: 'GET /api/projects/:project_id',
    input: WithProject,
    output: ProjectView,
    agentMay: (caller, input) => caller.project_id === input.project_id,
    run: async ({ fleet }, { project_id }) => (await lookUp(fleet, 'projects', project_id)).value,
  }),
  query({
    name: 'suggest_files',
    may: 'projects.read',
    mcp: 'projects',
    summary: 'Find files on the base branch of a project by some letters of their path',
    http: 'GET /api/projects/:project_id/files',
    input: WithProject.extend({
      text: z.string().max(200).default('').describe('letters of the path, in order'),
      limit: z.number().int().min(1).max(50).default(10),
    }),
    output: z.object({ files: z.array(z.string()).describe('the best match first') }),
    run: async ({ fleet }, { project_id, text, limit }) => ({
      files: await suggestFiles((await lookUp(fleet, 'projects', project_id)).value, text, limit),
    }),
  }),
  command({
    name: 'update_project',
    may: 'projects.write',
    mcp: 'projects',
    summary: 'Change settings of a project; fields that are not sent stay as they are',
    http: 'PUT /api/projects/:project_id',
    input: edits(ProjectSettings).extend(WithProject.shape),
    mayAlso: neededFor,
    output: ProjectView,
    run: async (context, { project_id, ...fields }) => {
      const { value } = await lookUp(context.fleet, 'projects', project_id)
      return (await updateProject(context.fleet, ask(context, 'update_project'), value.id, fields)).value
    },
  }),
  command({
    name: 'delete_project',
    may: 'projects.write',
    mcp: 'projects',
    summary:
      'Delete a project and its missions; branches in the repository stay. The repository of the sample project goes too, unless it may hold work of yours',
    http: 'DELETE /api/projects/:project_id',
    inServer: true,
    input: WithProject.extend({
      discard: z.boolean().default(false).describe('also delete work that is in no commit'),
    }),
    output: z.object({
      deleted: z.string(),
      repository: z.string().nullable().describe('where its repository still is; empty: it is gone'),
    }),
    run: async (context, { project_id, discard }) => {
      const { value } = await lookUp(context.fleet, 'projects', project_id)
      const repository = await deleteProject(context.fleet, ask(context, 'delete_project'), value.id, discard)
      return { deleted: value.id, repository }
    },
  }),
  command({
    name: 'warm_project',
    may: 'projects.write',
    mcp: 'projects',
    summary: 'Prepare worktrees of a project ahead, so that its next missions start at once',
    http: 'POST /api/projects/:project_id/warm',
    inServer: true,
    needsFleet: true,
    input: WithProject.extend({
      count: z.number().int().min(1).max(20).default(1).describe('how many should wait for missions'),
    }),
    output: z.object({ ready: z.number(), preparing: z.number() }),
    run: async ({ fleet }, { project_id, count }) => {
      const { value } = await lookUp(fleet, 'projects', project_id)
      return warmProject(fleet, value, count)
    },
  }),
  pausing('pause', 'Pause a project or the whole fleet: nothing new starts, running sessions continue', true),
  pausing('unpause', 'Let a paused project, or the whole fleet, start missions again', false),
]

function pausing(name: 'pause' | 'unpause', summary: string, paused: boolean) {
  return command({
    may: 'system.operate',
    mcp: 'projects',
    name,
    summary,
    http: `POST /api/${name}`,
    input: z.object({ project_id: ProjectRef.optional() }),
    output: z.object({ paused: z.boolean(), project_id: z.string().nullable() }),
    run: async (context, input) => {
      const project = input.project_id && (await lookUp(context.fleet, 'projects', input.project_id)).value.id
      await setPaused(context.fleet, ask(context, name), project, paused)
      return { paused, project_id: project ?? null }
    },
  })
}
