import { statSync } from 'node:fs'
import { join } from 'node:path'
import { InvalidInput, Refusal } from '../domain/errors.ts'
import { textOf } from '../platform/whole-files.ts'
import { valueInWords } from './kinds.ts'
import { type Given, SECTIONS, SETTINGS, type SettingName, type Settings } from './settings.ts'
import { checked, givenIn, keyOf, type Layers, type Resolved, resolve, settingNamed, unitOf } from './sources.ts'
import { printedValue, readToml, withKey } from './toml.ts'

/** The settings file in the home. */
export const CONFIGURATION_FILE = 'fleet.toml'
const MOST_CHARS = 64 * 1024
const TOO_LONG = `is longer than ${MOST_CHARS} characters`

export const configurationFile = (home: string): string => join(home, CONFIGURATION_FILE)

/** The settings in the text of the file. One invalid value makes the whole file invalid: nobody wants half an edit. */
export function parseConfiguration(text: string): Given {
  if (text.length > MOST_CHARS) throw wrong(TOO_LONG)
  try {
    return givenFrom(readToml(text) as Record<string, unknown>)
  } catch (error) {
    const { message, line } = error as Error & { line?: number }
    throw wrong(`${line === undefined ? '' : `line ${line}: `}${message.split('\n')[0]!.trim()}`)
  }
}

/** Settings by their keys, ours or another tool's. */
export function givenFrom(table: Record<string, unknown>): Given {
  const given: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(table)) {
    const name = settingNamed(key)
    if (Object.hasOwn(given, name)) throw new InvalidInput(key, `sets the same as another key: ${keyOf(name)}`)
    given[name] = checked(name, value, key)
  }
  return given as Given
}

const wrong = (problem: string): InvalidInput =>
  new InvalidInput(CONFIGURATION_FILE, problem, {
    try: `Fix ${CONFIGURATION_FILE} in the home of the fleet; until then the previous settings apply.`,
  })

export type Read = { given: Given; fault: null } | { given: null; fault: Refusal }

/** A missing file has no settings. */
export function readConfiguration(home: string): Read {
  const file = configurationFile(home)
  try {
    const found = statSync(file, { throwIfNoEntry: false })
    if (found && !found.isFile()) throw wrong('is not a file')
    if (found && found.size > 4 * MOST_CHARS) throw wrong(TOO_LONG)
    return { given: parseConfiguration(textOf(file) ?? ''), fault: null }
  } catch (error) {
    return { given: null, fault: error instanceof Refusal ? error : wrong((error as Error).message) }
  }
}

/** The text with these settings changed, under the names it uses for them; undefined removes a setting. */
export function editConfiguration(
  text: string,
  changes: ReadonlyMap<SettingName, Settings[SettingName] | undefined>,
): string {
  parseConfiguration(text)
  let edited = text
  for (const [name, value] of changes) {
    const present = Object.keys(readToml(edited) as object).find(key => settingNamed(key) === name)
    edited = withKey(edited, present ?? keyOf(name), value ?? undefined)
  }
  parseConfiguration(edited)
  return edited
}

/** A file with no settings yet and a commented line for each possible one. */
export function configurationTemplate(): string {
  const names = Object.keys(SETTINGS) as SettingName[]
  const lines = SECTIONS.flatMap(section => [
    '',
    `# ${section}`,
    ...names.filter(name => SETTINGS[name].section === section).flatMap(templateLines),
  ])
  return `# The settings of the fleet. Remove the # before a line to change its value. See: fleet config show\n${lines.join('\n')}\n`
}

function templateLines(name: SettingName): string[] {
  const { summary, fallback, form } = SETTINGS[name]
  const unit = unitOf(name)
  const choices = form.kind === 'choice' && form.choices.map(({ value, label }) => `${value} (${label})`).join(', ')
  return [
    '',
    `# ${summary}`,
    ...(choices ? [`# One of: ${choices}.`] : []),
    ...(unit ? [`# In ${unit}${fallback === null ? '' : `: ${fallback} is ${valueInWords(fallback, form)}`}.`] : []),
    `# ${keyOf(name)} = ${fallback === null ? '' : printedValue(fallback)}`.trimEnd(),
  ]
}

/** The settings that apply now. Those of the file can change at any time. */
export class Configuration {
  readonly #layers: Layers
  #resolved: Resolved
  /** Why the current file is ignored; null if it is used. */
  fault: Refusal | null

  constructor(layers: Layers, fault: Refusal | null = null) {
    this.#layers = layers
    this.#resolved = resolve(layers)
    this.fault = fault
  }

  get settings(): Settings {
    return this.#resolved.settings
  }

  get origins(): Resolved['origins'] {
    return this.#resolved.origins
  }

  /** The settings that would apply with these values in the file. */
  settingsWith(file: Given): Settings {
    return resolve({ ...this.#layers, file }).settings
  }

  take(file: Given): void {
    this.#resolved = resolve({ ...this.#layers, file })
    this.fault = null
  }
}

/** The settings of a process that reads the file itself. */
export function configurationOf(home: string, env: NodeJS.ProcessEnv, flags: Given = {}): Configuration {
  const { given, fault } = readConfiguration(home)
  return new Configuration({ file: given ?? {}, environment: givenIn(env), flag: flags }, fault)
}
