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
  const template = program.command('template').description('missions and project settings to begin with, by name')

  const save = template
    .command('save')
    .description('save a mission with its prompt, or the settings of a project')
    .argument('<name>', 'what to call it')
    .option('--mission <mission>', 'the mission: its id, or the first letters of it')
    .option('--project <project>', 'or the project: id, name or path')
    .option('--variable <name=default>', 'what {name} in the prompt stands for; may be repeated', gathered)
    .option('--replace', 'also if there is one of this name')
  does(save, async (cli, [name], { mission, project, variable = [], replace }) => {
    const saved = await (await cli.client()).call<TemplateView>('save_template', {
      name,
      ...(mission !== undefined && { mission_id: mission }),
      ...(project !== undefined && { project_id: await projectRef(cli, String(project)) }),
      variables: (variable as string[]).map(variableFrom),
      replace: replace === true,
    })
    if (cli.terminal.json) cli.terminal.data(saved)
    else cli.terminal.print(`Saved ${saved.kind} template ${saved.name}.`)
  })

  does(template.command('list').alias('ls').description('list the templates'), async cli => {
    const answer = await (await cli.client()).call<{ templates: TemplateView[] }>('list_templates', { limit: 500 })
    if (cli.terminal.json) return void cli.terminal.data(answer)
    if (!answer.templates.length) return void cli.terminal.note('There is none yet. Save one: fleet template save')
    cli.terminal.table<TemplateView>(
      [
        { title: 'NAME', value: each => each.name },
        { title: 'OF A', value: each => each.kind },
        { title: 'VARIABLES', value: inWords, flexible: true },
      ],
      answer.templates,
    )
  })

  does(
    template.command('show').description('show a template').argument('<name>', 'what it is called'),
    async (cli, [name]) => {
      const found = await (await cli.client()).call<TemplateView>('get_template', { template: name })
      if (cli.terminal.json) cli.terminal.data(found)
      else describe(cli, found)
    },
  )

  const use = template
    .command('use')
    .description('make a mission from a template; options hold instead of what it says')
    .argument('<name>', 'what it is called')
    .option('--with <name=value>', 'what a variable stands for; may be repeated', gathered)
  addFields(use, MISSION_FIELDS)
    .option('--project <project>', 'id, name or path (default: the repository you are in)')
    .option('--dispatch', 'queue it at once; it starts when what it depends on is done')
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
    await tellMission(cli, mission, 'Made')
  })

  does(
    template
      .command('delete')
      .description('delete a template; what was made from it stays')
      .argument('<name>', 'its name'),
    async (cli, [name]) => {
      const answer = await (await cli.client()).call<{ deleted: string }>('delete_template', { template: name })
      if (cli.terminal.json) cli.terminal.data(answer)
      else cli.terminal.print(`Deleted template ${answer.deleted}.`)
    },
  )
}

/** May be repeated; unlike other lists a comma belongs to the value. */
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
    ['of a', template.kind],
    ['variables', inWords(template)],
    ...set.map(([field, value]) => [field, typeof value === 'string' ? value : JSON.stringify(value)] as const),
    ['prompt', template.prompt],
  ])
}
