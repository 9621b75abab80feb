import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { InvalidInput, Unfit } from '../../domain/errors.ts'
import { behindLinks, replaceText, textOf } from '../../platform/whole-files.ts'
import { type PluginField, SHIPPED_FIELDS } from '../../plugins/fields.ts'
import { pluginsFolder, type Source, settingsOf } from '../../plugins/finding.ts'
import type { Fleet } from '../fleet.ts'

export type Value = string | number | boolean | string[]
/** Null: back to the default. */
export type Values = Readonly<Record<string, Value | null>>

/** A field with what is filled in. Of a secret, only whether there is one. */
export type Filled = PluginField & { value: Value | null; is_set: boolean }

const MAX_TEXT_CHARS = 4000
const MAX_ITEMS = 200

/** The settings that a plugin declares. One of a person is asked once it runs. */
export const fieldsOf = (fleet: Fleet, { name, origin }: Source): readonly PluginField[] =>
  (origin === 'shipped' ? SHIPPED_FIELDS[name] : fleet.plugins.host?.seat(name)?.manifest?.settings) ?? []

export function filledIn(fields: readonly PluginField[], saved: Record<string, unknown>): Filled[] {
  return fields.map(field => {
    const found = saved[field.name]
    const is_set = found !== undefined && found !== null && found !== ''
    return { ...field, is_set, value: field.kind === 'secret' || !is_set ? null : shownAs(field, found) }
  })
}

/** A person may have written anything into the file. What does not fit its field counts as text. */
function shownAs({ kind }: PluginField, value: unknown): Value {
  if (kind === 'list' || kind === 'events') return Array.isArray(value) ? value.map(String) : [String(value)]
  return typeof value === 'number' || typeof value === 'boolean' ? value : String(value)
}

/** Writes what a person filled in. Everything else in the file stays. */
export function savePluginSettings(fleet: Fleet, source: Source, values: Values): void {
  const fields = fieldsOf(fleet, source)
  const home = fleet.home.path
  const next: Record<string, unknown> = { ...saved(home, source.name) }
  for (const [name, value] of Object.entries(values)) {
    const field = fields.find(each => each.name === name)
    if (!field) throw new InvalidInput(name, `is not a setting of the plugin ${source.name}`)
    if (value === null || value === '') delete next[name]
    else next[name] = checked(field, value)
  }
  for (const { name, label, required } of fields)
    if (required && (next[name] === undefined || (Array.isArray(next[name]) && !next[name].length)))
      throw new InvalidInput(name, `${label} is missing`)
  mkdirSync(pluginsFolder(home), { recursive: true, mode: 0o700 })
  const file = behindLinks(join(pluginsFolder(home), `${source.name}.json`))
  replaceText(file, textOf(file), `${JSON.stringify(next, null, 2)}\n`, 0o600)
}

function saved(home: string, name: string): Record<string, unknown> {
  try {
    return settingsOf(home, name)
  } catch (error) {
    throw new Unfit(`Its settings are left as they are. ${(error as Error).message}`, {
      try: 'Correct the file, or remove it.',
      cause: error,
    })
  }
}

function checked({ name, kind, min, max }: PluginField, value: Value): Value {
  const wrong = (problem: string) => new InvalidInput(name, problem)
  switch (kind) {
    case 'switch':
      if (typeof value !== 'boolean') throw wrong('must be true or false')
      return value
    case 'number':
      if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong('must be a number')
      if (value < (min ?? value) || value > (max ?? value)) throw wrong(`must be from ${min} to ${max}`)
      return value
    case 'list':
    case 'events':
      if (!Array.isArray(value)) throw wrong('must be a list')
      if (value.length > MAX_ITEMS || value.some(each => !each || each.length > MAX_TEXT_CHARS))
        throw wrong(`must have at most ${MAX_ITEMS} entries, none empty`)
      return value
    default:
      if (typeof value !== 'string' || value.length > MAX_TEXT_CHARS) throw wrong('must be a text')
      if (kind === 'url' && !/^https?:$/.test(URL.parse(value)?.protocol ?? '')) throw wrong('must be an http address')
      return value
  }
}
