import * as z from 'zod'
import { mappedGroup } from '../domain/rules/groups.ts'
import { inUnits, readUnits, UNITS, type Unit } from '../domain/units.ts'

/** How a person fills a setting in. */
export const Form = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('number'),
    unit: z.enum(Object.keys(UNITS) as [Unit, ...Unit[]]).nullable(),
    whole: z.boolean(),
    min: z.number().nullable(),
    max: z.number().nullable(),
  }),
  z.object({ kind: z.literal('text') }),
  z.object({ kind: z.literal('agent') }),
  z.object({ kind: z.literal('choice'), choices: z.array(z.object({ value: z.string(), label: z.string() })) }),
  z.object({ kind: z.literal('list') }),
  z.object({ kind: z.literal('counts') }).describe('a number for each agent'),
])
export type Form = z.infer<typeof Form>

/** The values a setting may have, how a person fills them in, and how a variable or a command line writes them. */
export interface Kind<T> {
  schema: z.ZodType<T>
  form: Form
  /** Parses the text; the schema decides whether the value is valid. */
  read(text: string): unknown
  /** What is wrong with any other value; without it, the schema says so. */
  refusal?: string
}

interface Bounds {
  min?: number
  /** `more`: any number above `min`, which itself is not allowed. */
  more?: boolean
  max?: number
}

function bounded({ min, more = false, max }: Bounds, whole: boolean, unit: Unit | null): Kind<number> {
  let schema = whole ? z.number().int() : z.number()
  if (min !== undefined) schema = more ? schema.gt(min) : schema.min(min)
  if (max !== undefined) schema = schema.max(max)
  const said = (value: number): string => (unit ? inUnits(value, unit) : String(value))
  const bounds =
    max === undefined
      ? `${more ? 'above' : 'from'} ${said(min ?? 0)}`
      : more
        ? `above ${said(min!)} and at most ${said(max)}`
        : `from ${said(min ?? 0)} to ${said(max)}`
  return {
    schema,
    form: { kind: 'number', unit, whole, min: min ?? null, max: max ?? null },
    read: text => (unit ? readUnits(text, unit) : text.trim() ? Number(text) : undefined) ?? text,
    refusal: `must be ${unit ? '' : whole ? 'a whole number ' : 'a number '}${bounds}`,
  }
}

export const whole = (min: number, max: number, unit: Unit | null = null): Kind<number> =>
  bounded({ min, max }, true, unit)
export const number = (bounds: Bounds, unit: Unit | null = null): Kind<number> => bounded(bounds, false, unit)

export const word: Kind<string> = { schema: z.string().min(1).max(1000), form: { kind: 'text' }, read: text => text }

/** Text runs as a script only if somebody says so for that text. */
export const codingAgent: Kind<string> = {
  ...word,
  form: { kind: 'agent' },
  schema: word.schema.refine(name => name !== 'shell', {
    message:
      'cannot be shell, which runs text as a script. Choose a coding agent such as claude, and name shell on each mission that is a script',
  }),
}

/** One of these values; each has the words that a person chooses by. */
export const oneOf = <const T extends string>(choices: Record<T, string>): Kind<T> => {
  const values = Object.keys(choices) as [T, ...T[]]
  return {
    schema: z.enum(values) as unknown as z.ZodType<T>,
    form: { kind: 'choice', choices: values.map(value => ({ value, label: choices[value] })) },
    read: text => text,
    refusal: `must be one of ${values.join(', ')}`,
  }
}

export const orNothing = <T>({ schema, ...rest }: Kind<T>): Kind<T | null> => ({ ...rest, schema: schema.nullable() })

const listOf = (most: number, separator: string): Kind<string[]> => ({
  schema: z.array(z.string().min(1).max(4000)).max(most),
  form: { kind: 'list' },
  read: text =>
    text
      .split(separator)
      .map(each => each.trim())
      .filter(Boolean),
})
export const folders = listOf(1000, ':')
export const names = listOf(100, ',')

/** Which groups of a provider stand for which roles. */
export const groupRoles: Kind<string[]> = {
  ...names,
  schema: z.array(z.string().refine(text => mappedGroup(text) !== undefined)).max(200),
  refusal: 'must be groups with their roles, such as admins=owner or web=team-lead@website',
}

export const perAgent: Kind<Record<string, number>> = {
  schema: z.record(z.string().min(1).max(40), z.number().int().min(1).max(500)),
  form: { kind: 'counts' },
  read: text =>
    Object.fromEntries(
      text
        .split(',')
        .filter(pair => pair.trim())
        .map(pair => {
          const [agent = '', count = ''] = pair.split('=')
          return [agent.trim(), count.trim() ? Number(count) : count]
        }),
    ),
  refusal: 'must be a whole number from 1 to 500 for each agent, such as claude=2,codex=4',
}

/** A value as a person would say it; empty for none. */
export function valueInWords(value: unknown, form: Form): string {
  if (value === null || value === undefined) return ''
  if (form.kind === 'choice') return form.choices.find(choice => choice.value === value)?.label ?? String(value)
  if (form.kind === 'number' && form.unit) return inUnits(value as number, form.unit)
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([agent, count]) => `${agent} ${count}`)
    .join(', ')
}
