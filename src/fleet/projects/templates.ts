import { InvalidInput, NotAllowed, NotFound } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import {
  filledIn,
  MissionTemplate,
  ProjectTemplate,
  requirePlaces,
  Template,
  type TemplateVariable,
} from '../../domain/records/template.ts'
import type { StoredText } from '../../domain/text.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { runsScripts } from '../missions/agents.ts'
import type { MissionFields } from '../missions/missions.ts'
import { current, derivedId, put } from '../records.ts'

/** One template per name, of either kind. */
const idOf = (name: string): string => derivedId('template', name.toLowerCase())

export type Model = { mission: Mission } | { project: Project }

/** Saves the settings of a mission or a project as they are now. */
export async function saveTemplate(
  fleet: Fleet,
  ask: Ask,
  { name, model, variables, replace }: { name: string; model: Model; variables: TemplateVariable[]; replace: boolean },
): Promise<Stored<Template>> {
  const id = idOf(name)
  const content =
    'mission' in model ? await ofMission(fleet, model.mission, variables) : ofProject(model.project, variables)
  await oncePerKey(fleet, ask, async () => {
    const found = await fleet.store.get('templates', id)
    if (found && !replace)
      throw new NotAllowed(`There already is a template ${found.value.name}.`, {
        try: 'Choose another name, or --replace.',
      })
    const { now, actor } = by(fleet, ask)
    const created_at = found?.value.created_at ?? now
    const template = Template.parse({ id, name, variables, ...content, created_at, updated_at: now })
    return {
      subject: id,
      changes: [put('templates', template, found?.version ?? 'absent')],
      events: [{ kind: 'template_saved', time: now, actor, data: { name, kind: template.kind } }],
    }
  })
  return current(fleet, 'templates', id)
}

async function ofMission(fleet: Fleet, mission: Mission, variables: TemplateVariable[]) {
  const settings = MissionTemplate.parse(mission)
  const written = { ...settings, detailed_prompt: await fleet.blobs.read(mission.prompt) }
  requirePlaces(variables, written, mission.script)
  return { kind: 'mission' as const, settings, prompt: mission.prompt }
}

function ofProject(project: Project, variables: TemplateVariable[]) {
  if (variables.length) throw new InvalidInput('variables', 'only the template of a mission has variables')
  return { kind: 'project' as const, settings: ProjectTemplate.parse(project), prompt: null }
}

export async function templateNamed(fleet: Fleet, name: string, kind?: Template['kind']): Promise<Stored<Template>> {
  const found = await fleet.store.get('templates', idOf(name))
  if (!found || (kind && found.value.kind !== kind))
    throw new NotFound(kind ? `template of a ${kind} called` : 'template', name, { try: 'fleet template list' })
  return found
}

interface FromTemplate {
  fields: Omit<MissionFields, 'parent_mission_id' | 'depends_on' | 'base_ref' | 'metadata'>
  /** Whether its text is a script: it was saved from a mission that named an agent that runs scripts. */
  script: boolean
  variables: StoredText | null
}

/** The settings that a mission made from it starts with. */
export async function missionFrom(
  fleet: Fleet,
  name: string,
  given: Readonly<Record<string, string>>,
): Promise<FromTemplate> {
  const { value: template } = await templateNamed(fleet, name, 'mission')
  const written = {
    ...MissionTemplate.parse(template.settings),
    detailed_prompt: await fleet.blobs.read(template.prompt!),
  }
  const script = runsScripts(fleet, written.agent)
  const { written: fields, environment } = filledIn(written, template.variables, given, script)
  const hasValues = Object.keys(environment).length > 0
  return { fields, script, variables: hasValues ? await fleet.blobs.keep(JSON.stringify(environment)) : null }
}

export const projectFrom = async (fleet: Fleet, name: string) =>
  ProjectTemplate.parse((await templateNamed(fleet, name, 'project')).value.settings)

export async function deleteTemplate(fleet: Fleet, ask: Ask, name: string): Promise<string> {
  await oncePerKey(fleet, ask, async () => {
    const { value, version } = await templateNamed(fleet, name)
    const { now, actor } = by(fleet, ask)
    return {
      subject: value.id,
      changes: [{ remove: 'templates', id: value.id, expects: version }],
      events: [{ kind: 'template_deleted', time: now, actor, data: { name: value.name, kind: value.kind } }],
    }
  })
  return name
}
