import { statSync } from 'node:fs'
import { join } from 'node:path'
import { InvalidInput, Refusal } from '../domain/errors.ts'
import { textOf } from '../platform/whole-files.ts'
import {
  checked,
  type Given,
  givenIn,
  keyOf,
  type Layers,
  type Resolved,
  resolve,
  SETTINGS,
  type SettingName,
  type Settings,
  settingNamed,
} from './settings.ts'
import { printedValue, readToml, withKey } from './toml.ts'

/** Where a person says how the fleet is to be, in the home. */
export const CONFIGURATION_FILE = 'fleet.toml'
const MOST_CHARS = 64 * 1024
const TOO_LONG = `is longer than ${MOST_CHARS} characters`

export const configurationFile = (home: string): string => join(home, CONFIGURATION_FILE)

/** What the text of the file says. One thing that will not do, and none of it holds: half an edit is nobody's wish. */
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
    if (Object.hasOwn(given, name)) throw new InvalidInput(key, `says the same as another key: ${keyOf(name)}`)
    given[name] = checked(name, value, key)
  }
  return given as Given
}

const wrong = (problem: string): InvalidInput =>
  new InvalidInput(CONFIGURATION_FILE, problem, {
    try: `Mend ${CONFIGURATION_FILE} in the home of the fleet; what it said before holds meanwhile.`,
  })

export type Read = { given: Given; fault: null } | { given: null; fault: Refusal }

/** A file that is not there says nothing. */
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

/** The text with these settings changed, under the names it has for them; undefined takes one back. */
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

/** A file that says nothing yet, with a line for everything it could say. */
export function configurationTemplate(): string {
  const lines = (Object.keys(SETTINGS) as SettingName[]).flatMap(name => {
    const { summary, fallback } = SETTINGS[name]
    return ['', `# ${summary}`, `# ${keyOf(name)} = ${fallback === null ? '' : printedValue(fallback)}`.trimEnd()]
  })
  return `# The settings of the fleet; take away the # before a line to change what it says. See: fleet config show\n${lines.join('\n')}\n`
}

/** The settings that hold now; the file's may be taken anew while everything else goes on. */
export class Configuration {
  readonly #layers: Layers
  #resolved: Resolved
  /** Why the file as it is now is not heeded; null: it is. */
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

  /** What would hold if the file said this. */
  settingsWith(file: Given): Settings {
    return resolve({ ...this.#layers, file }).settings
  }

  take(file: Given): void {
    this.#resolved = resolve({ ...this.#layers, file })
    this.fault = null
  }
}

/** What holds for a process that reads the file itself. */
export function configurationOf(home: string, env: NodeJS.ProcessEnv, flags: Given = {}): Configuration {
  const { given, fault } = readConfiguration(home)
  return new Configuration({ file: given ?? {}, environment: givenIn(env), flag: flags }, fault)
}
