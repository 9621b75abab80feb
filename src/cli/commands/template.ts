import type { Command } from 'commander'
import type { Project } from '../../domain/records/project.ts'
import type { Template } from '../../domain/records/template.ts'
import type { MissionView } from '../../operations/views.ts'
import { addFields, type Cli, does, inputFrom, pairFrom } from '../command.ts'
import { MISSION_FIELDS } from '../mission-fields.ts'
import { projectHere, projectRef } from '../project-here.ts'
import { tellMission } from '../show-mission.ts'

type TemplateView = Omit<Template, 'prompt'> & { prompt?: string | null }

export function addTemplate(program: Command): void {
  const template = program.command('template').description('save and use templates of missions and projects')

  const save = template
    .command('save')
    .description('save a mission with its prompt, or the settings of a project')
    .argument('<name>', 'name')
    .option('--mission <mission>', 'mission to save: id or first letters')
    .option('--project <project>', 'project to save: id, name or path')
    .option('--variable <name=default>', 'variable for {name} in the prompt; may be repeated', gathered)
    .option('--replace', 'replace an existing template')
  does(save, async (cli, [name], { mission, project, variable = [], replace }) => {
    const saved = await cli.ask<TemplateView>('save_template', {
      name,
      ...(mission !== undefined && { mission_id: mission }),
      ...(project !== undefined && { project_id: await projectRef(cli, String(project)) }),
      variables: (variable as string[]).map(variableFrom),
      replace: replace === true,
    })
    cli.terminal.tell(saved, () => cli.terminal.print(`Saved ${saved.kind} template ${saved.name}.`))
  })

  does(template.command('list').alias('ls').description('list templates'), async cli => {
    const answer = await cli.ask<{ templates: TemplateView[] }>('list_templates', { limit: 500 })
    if (cli.terminal.json) return void cli.terminal.data(answer)
    if (!answer.templates.length)
      return void cli.terminal.note('There are no templates yet. Save one: fleet template save')
    cli.terminal.table<TemplateView>(
      [
        { title: 'NAME', value: each => each.name },
        { title: 'KIND', value: each => each.kind },
        { title: 'VARIABLES', value: inWords, flexible: true },
      ],
      answer.templates,
    )
  })

  does(
    template.command('show').description('show a template').argument('<name>', 'name of the template'),
    async (cli, [name]) => {
      const found = await cli.ask<TemplateView>('get_template', { template: name })
      cli.terminal.tell(found, () => describe(cli, found))
    },
  )

  const use = template
    .command('use')
    .description('create a mission from a template; options override the template')
    .argument('<name>', 'name of the template')
    .option('--with <name=value>', 'value of a variable; may be repeated', gathered)
  addFields(use, MISSION_FIELDS)
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
    .option('--dispatch', 'queue it right away; it starts when its dependencies are done')
  does(use, async (cli, [name], options) => {
    const client = await cli.client()
    const here = options.project === undefined ? await projectHere(cli) : undefined
    const mission = await client.call<MissionView>('create_mission_from_template', {
      template: name,
      project_id: here?.project.id ?? (await projectRef(cli, String(options.project))),
      ...(here?.subdirectory && { subdirectory: here.subdirectory }),
      values: Object.fromEntries(((options.with ?? []) as string[]).map(each => pairFrom(each, 'name=value'))),
      ...inputFrom(MISSION_FIELDS, options),
      auto_dispatch: options.dispatch === true,
    })
    if (options.dispatch) await client.wake()
    await tellMission(cli, mission, 'Created')
  })

  does(
    template
      .command('delete')
      .description('delete a template; missions and projects made from it stay')
      .argument('<name>', 'name'),
    async (cli, [name]) => {
      const answer = await cli.ask<{ deleted: string }>('delete_template', { template: name })
      cli.terminal.tell(answer, () => cli.terminal.print(`Deleted template ${answer.deleted}.`))
    },
  )
}

/** May be repeated. Unlike in other lists, a comma is part of the value. */
const gathered = (value: string, before: string[] = []): string[] => [...before, value]

const variableFrom = (text: string): object => {
  if (!text.includes('=')) return { name: text }
  const [name, value] = pairFrom(text, 'name=value')
  return { name, default: value }
}

const inWords = ({ variables }: TemplateView): string =>
  variables.map(each => (each.default === null ? each.name : `${each.name}=${each.default}`)).join(', ')

function describe({ terminal }: Cli, template: TemplateView): void {
  const set = Object.entries(template.settings as Partial<Project>).filter(
    ([, value]) => value !== null && value !== '' && value !== false && !(Array.isArray(value) && !value.length),
  )
  terminal.facts([
    ['name', template.name],
    ['kind', template.kind],
    ['variables', inWords(template)],
    ...set.map(([field, value]) => [field, typeof value === 'string' ? value : JSON.stringify(value)] as const),
    ['prompt', template.prompt],
  ])
}
