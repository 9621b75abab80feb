import * as z from 'zod'
import { InvalidInput } from '../errors.ts'
import { Id, Timestamp } from '../ids.ts'
import { valueName } from '../rules/script-variables.ts'
import { fillInNamed, namedIn } from '../rules/template.ts'
import { StoredText } from '../text.ts'
import { MissionSettings } from './mission.ts'
import { ProjectSettings } from './project.ts'

export const TemplateName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,59}$/i, 'may have letters, digits and dashes')
  .describe('what people call it')

export const TemplateVariable = z.object({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, 'may have lower-case letters, digits and _'),
  default: z.string().max(20_000).nullable().default(null).describe('empty: it must be given'),
})
export type TemplateVariable = z.infer<typeof TemplateVariable>

/** Saved settings with a name: those of a mission with its prompt, or those of a project. */
export const Template = z.object({
  id: Id.describe('follows from its name'),
  name: TemplateName,
  kind: z.enum(['mission', 'project']),
  settings: z.record(z.string(), z.unknown()),
  prompt: StoredText.nullable(),
  variables: z
    .array(TemplateVariable)
    .max(30)
    .describe('what {name} in its texts stands for; other braces stay as they are'),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Template = z.infer<typeof Template>

/** Settings that belong to one mission or repository only. */
export const MissionTemplate = MissionSettings.omit({
  parent_mission_id: true,
  depends_on: true,
  base_ref: true,
  metadata: true,
})
export const ProjectTemplate = ProjectSettings.omit({ name: true, description: true, base_branch: true })

const TEXTS = ['title', 'acceptance_criteria', 'append_system_prompt'] as const
const MAX_TITLE_CHARS = MissionSettings.shape.title.maxLength ?? 300

type Written = z.infer<typeof MissionTemplate> & { detailed_prompt: string }

/** A variable that no text uses is a mistake. In a script it is used as an environment variable. */
export function requirePlaces(variables: readonly TemplateVariable[], written: Written, script: boolean): void {
  const places = namedIn([script ? '' : written.detailed_prompt, ...TEXTS.map(field => written[field])].join('\n'))
  const has = ({ name }: TemplateVariable): boolean =>
    places.has(name) || (script && written.detailed_prompt.includes(valueName(name)))
  if (script) requireUnspliced(variables, written.detailed_prompt)
  const [lost] = variables.filter(variable => !has(variable))
  if (lost) {
    const place = script ? `$${valueName(lost.name)}` : `{${lost.name}}`
    throw new InvalidInput('variables', `neither the prompt nor the title has a place for ${place}`, {
      try: `Write ${place} where its value belongs, then save it again.`,
    })
  }
}

/** A value is never put into the text of a script, where it would be run. */
function requireUnspliced(variables: readonly TemplateVariable[], script: string): void {
  const spliced = variables.find(({ name }) => script.replaceAll(`\${${name}}`, '').includes(`{${name}}`))
  if (spliced)
    throw new InvalidInput(
      'variables',
      `{${spliced.name}} cannot be used in a script: its value would run as a part of it`,
      {
        try: `Write "$${valueName(spliced.name)}" instead: the value is in that variable, and all of it in the file $${valueName(spliced.name)}_FILE.`,
      },
    )
}

/** The same with every variable filled in. A value is never read as a variable, nor as part of a script. */
export function filledIn(
  written: Written,
  variables: readonly TemplateVariable[],
  given: Readonly<Record<string, string>>,
  script: boolean,
): { written: Written; environment: Record<string, string> } {
  if (script) requireUnspliced(variables, written.detailed_prompt)
  const unknown = Object.keys(given).find(name => !variables.some(each => each.name === name))
  if (unknown !== undefined)
    throw new InvalidInput('values', `the template has no variable ${JSON.stringify(unknown)}`, {
      try: variables.length ? `It has ${variables.map(({ name }) => name).join(', ')}.` : 'It has none.',
    })
  const values = Object.fromEntries(
    variables.map(({ name, default: otherwise }) => [name, given[name] ?? otherwise ?? missing(name)]),
  )
  const fill = (text: string): string => fillInNamed(text, values)
  const environment = Object.entries(script ? values : {}).map(([name, value]) => [valueName(name), value])
  return {
    environment: Object.fromEntries(environment),
    written: {
      ...written,
      title: fill(written.title).slice(0, MAX_TITLE_CHARS),
      acceptance_criteria: fill(written.acceptance_criteria),
      append_system_prompt: fill(written.append_system_prompt),
      detailed_prompt: script ? written.detailed_prompt : fill(written.detailed_prompt),
    },
  }
}

function missing(name: string): never {
  throw new InvalidInput('values', `the template needs a value for ${name}`, { try: `--with ${name}=…` })
}
