import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { MissionSettings } from '../domain/records/mission.ts'
import { NewProject, ProjectSettings } from '../domain/records/project.ts'
import { Template, TemplateName, TemplateVariable } from '../domain/records/template.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { isScriptAfter } from '../fleet/missions/agents.ts'
import { createMission } from '../fleet/missions/missions.ts'
import { createProject } from '../fleet/projects/projects.ts'
import {
  deleteTemplate,
  type Model,
  missionFrom,
  projectFrom,
  saveTemplate,
  templateNamed,
} from '../fleet/projects/templates.ts'
import { lookUp } from '../fleet/records.ts'
import { requireMay } from './authorize.ts'
import { ask, edits, Paging, ProjectRef, Ref } from './inputs.ts'
import { neededFor } from './needed.ts'
import { command, query } from './operation.ts'
import { ProjectView } from './projects.ts'
import { MissionView, missionView } from './views.ts'

const TemplateView = Template.omit({ prompt: true }).extend({
  prompt: z.string().nullable().describe('the prompt of a mission, with its variables'),
})
const templateView = async (
  fleet: Fleet,
  { prompt, ...template }: Template,
): Promise<z.infer<typeof TemplateView>> => ({
  ...template,
  prompt: prompt && (await fleet.blobs.read(prompt)),
})

async function modelOf(
  fleet: Fleet,
  { mission_id, project_id }: { mission_id?: string; project_id?: string },
): Promise<Model> {
  if (mission_id && !project_id) return { mission: (await lookUp(fleet, 'missions', mission_id)).value }
  if (project_id && !mission_id) return { project: (await lookUp(fleet, 'projects', project_id)).value }
  throw new InvalidInput('mission_id', 'name either a mission or a project to save')
}

/** Only the fields that a person gave; they override the template. */
const said = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>

const Named = z.object({ template: TemplateName })

export const templates = [
  command({
    name: 'save_template',
    may: 'templates.write',
    touches: 'fleet',
    mcp: 'planning',
    summary: 'Save the settings of a mission, with its prompt, or of a project, under a name',
    http: 'POST /api/templates',
    input: z.object({
      name: TemplateName,
      mission_id: Ref.optional(),
      project_id: ProjectRef.optional(),
      variables: z.array(TemplateVariable).max(30).default([]),
      replace: z.boolean().default(false).describe('overwrite a template of this name'),
    }),
    output: TemplateView,
    run: async (context, { mission_id, project_id, ...wanted }) => {
      const model = await modelOf(context.fleet, { mission_id, project_id })
      const { value } = await saveTemplate(context.fleet, ask(context, 'save_template'), { ...wanted, model })
      return templateView(context.fleet, value)
    },
  }),
  query({
    name: 'list_templates',
    may: 'missions.read',
    mcp: 'planning',
    summary: 'List the templates of missions and projects',
    http: 'GET /api/templates',
    input: z.object(Paging),
    output: z.object({ templates: z.array(TemplateView.omit({ prompt: true })), cursor: z.string().optional() }),
    run: async ({ fleet }, { limit, cursor }) => {
      const page = await fleet.store.find('templates', { index: 'name', limit, cursor })
      return { templates: page.items.map(({ value: { prompt, ...rest } }) => rest), cursor: page.cursor }
    },
  }),
  query({
    name: 'get_template',
    may: 'missions.read',
    mcp: 'planning',
    summary: 'Show a template',
    http: 'GET /api/templates/:template',
    input: Named,
    output: TemplateView,
    run: async ({ fleet }, { template }) => templateView(fleet, (await templateNamed(fleet, template)).value),
  }),
  command({
    name: 'delete_template',
    may: 'templates.write',
    mcp: 'planning',
    summary: 'Delete a template; what was made from it stays',
    http: 'DELETE /api/templates/:template',
    input: Named,
    output: z.object({ deleted: z.string() }),
    run: async (context, { template }) => ({
      deleted: await deleteTemplate(context.fleet, ask(context, 'delete_template'), template),
    }),
  }),
  command({
    name: 'create_mission_from_template',
    may: 'missions.create',
    mcp: 'planning',
    summary: 'Create a mission from a template; fields given here override the template',
    http: 'POST /api/templates/:template/missions',
    input: edits(MissionSettings).extend({
      ...Named.shape,
      project_id: ProjectRef,
      values: z.record(z.string(), z.string().max(20_000)).default({}).describe('the values of its variables'),
      auto_dispatch: z.boolean().default(false).describe('queue it at once'),
    }),
    output: MissionView,
    mayAlso: input => [...neededFor(input), ...(input.auto_dispatch ? (['missions.run'] as const) : [])],
    run: async (context, { template, project_id, values, auto_dispatch, ...settings }) => {
      const asked = ask(context, 'create_mission_from_template')
      const saved = await missionFrom(context.fleet, template, values)
      const { detailed_prompt, ...fields } = saved.fields
      const made = MissionSettings.parse({ ...fields, ...said(settings) })
      // What the template says, whoever saved it.
      const { id } = (await lookUp(context.fleet, 'projects', project_id)).value
      for (const permission of neededFor(made)) requireMay(context.caller, permission, id)
      const script = isScriptAfter(context.fleet, asked, saved, { agent: settings.agent, text: false })
      const { value } = await createMission(
        context.fleet,
        asked,
        project_id,
        { ...made, detailed_prompt },
        auto_dispatch,
        { script, variables: saved.variables },
      )
      return missionView(context.fleet, value, { whole: true })
    },
  }),
  command({
    name: 'create_project_from_template',
    may: 'projects.write',
    mcp: 'planning',
    summary: 'Create a project from a repository with the settings of a template; fields given here override it',
    http: 'POST /api/templates/:template/projects',
    input: edits(ProjectSettings).extend({
      ...Named.shape,
      name: NewProject.shape.name,
      path: z.string().min(1).max(4000).describe('the absolute path of the repository'),
      worktree: z.enum(['git', 'none']).optional().describe('none: a folder that is not a repository'),
    }),
    output: ProjectView,
    run: async (context, { template, path, worktree, ...settings }) => {
      const fields = NewProject.parse({ ...(await projectFrom(context.fleet, template)), ...said(settings) })
      const asked = ask(context, 'create_project_from_template')
      return (await createProject(context.fleet, asked, { ...fields, path, worktree })).value
    },
  }),
]
