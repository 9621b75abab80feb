import * as z from 'zod'
import { InvalidInput } from './errors.ts'
import { Id, Timestamp } from './ids.ts'
import { MissionSettings } from './mission.ts'
import { ProjectSettings } from './project.ts'
import { fillInNamed, namedIn } from './template.ts'
import { StoredText } from './text.ts'

export const TemplateName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,59}$/i, 'may have letters, digits and dashes')
  .describe('what people call it')

export const TemplateVariable = z.object({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, 'may have small letters, digits and _'),
  default: z.string().max(20_000).nullable().default(null).describe('empty: it must be given'),
})
export type TemplateVariable = z.infer<typeof TemplateVariable>

/** Settings to begin with, saved under a name: of a mission, with its prompt, or of a project. */
export const Template = z.object({
  id: Id.describe('follows from its name'),
  name: TemplateName,
  kind: z.enum(['mission', 'project']),
  settings: z.record(z.string(), z.unknown()),
  prompt: StoredText.nullable(),
  variables: z.array(TemplateVariable).max(30).describe('what {name} in its texts stands for; other braces stay'),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Template = z.infer<typeof Template>

/** What belongs to one mission or repository, and to no other. */
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

/** A variable that no text has a place for is a mistake in one of them. */
export function requirePlaces(variables: readonly TemplateVariable[], written: Written): void {
  const places = namedIn([written.detailed_prompt, ...TEXTS.map(field => written[field])].join('\n'))
  const [lost] = variables.filter(({ name }) => !places.has(name))
  if (lost)
    throw new InvalidInput('variables', `neither the prompt nor the title has a place for {${lost.name}}`, {
      try: `Write {${lost.name}} where its value belongs, then save it again.`,
    })
}

/** The same with every variable filled in. What a value says is never taken for a variable. */
export function filledIn(
  written: Written,
  variables: readonly TemplateVariable[],
  given: Readonly<Record<string, string>>,
): Written {
  const unknown = Object.keys(given).find(name => !variables.some(each => each.name === name))
  if (unknown !== undefined)
    throw new InvalidInput('values', `the template has no variable ${JSON.stringify(unknown)}`, {
      try: variables.length ? `It has ${variables.map(({ name }) => name).join(', ')}.` : 'It has none.',
    })
  const values = Object.fromEntries(
    variables.map(({ name, default: otherwise }) => [name, given[name] ?? otherwise ?? missing(name)]),
  )
  const fill = (text: string): string => fillInNamed(text, values)
  return {
    ...written,
    title: fill(written.title).slice(0, MAX_TITLE_CHARS),
    acceptance_criteria: fill(written.acceptance_criteria),
    append_system_prompt: fill(written.append_system_prompt),
    detailed_prompt: fill(written.detailed_prompt),
  }
}

function missing(name: string): never {
  throw new InvalidInput('values', `the template needs a value for ${name}`, { try: `--with ${name}=…` })
}
