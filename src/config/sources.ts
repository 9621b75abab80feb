import { InvalidInput } from '../domain/errors.ts'
import { problemOf } from '../domain/rules/input-words.ts'
import type { Unit } from '../domain/units.ts'
import { OF_SETTINGS } from './known-names/of-settings.ts'
import { type Given, SETTINGS, type SettingName, type Settings } from './settings.ts'

/** The sources of settings, the weakest first. A project comes between the file and the environment. */
export const ORIGINS = ['default', 'file', 'environment', 'flag'] as const
export type Origin = (typeof ORIGINS)[number]
export type Layers = Partial<Record<Exclude<Origin, 'default'>, Given>>

/** Set for this run of the fleet, so it overrides the settings of a project. */
export const isInsisted = (origin: Origin): boolean => origin === 'environment' || origin === 'flag'

export interface Resolved {
  settings: Settings
  origins: Record<SettingName, Origin>
}

const NAMES = Object.keys(SETTINGS) as SettingName[]

export function resolve(layers: Layers): Resolved {
  const resolved = NAMES.map(name => {
    const origin = ORIGINS.findLast(each => each !== 'default' && layers[each]?.[name] !== undefined) ?? 'default'
    return { name, origin, value: origin === 'default' ? SETTINGS[name].fallback : layers[origin]?.[name] }
  })
  return {
    settings: Object.fromEntries(resolved.map(({ name, value }) => [name, value])) as Settings,
    origins: Object.fromEntries(resolved.map(({ name, origin }) => [name, origin])) as Resolved['origins'],
  }
}

/** The name of a setting in the file and on the command line. */
export const keyOf = (name: SettingName): string => SETTINGS[name].variable.slice('FLEET_'.length).toLowerCase()

/** The unit in which the file has it. */
export function unitOf(name: SettingName): Unit | null {
  const { form } = SETTINGS[name]
  return form.kind === 'number' ? form.unit : null
}

const BY_KEY = new Map(NAMES.map(name => [keyOf(name), name]))
const BY_VARIABLE = new Map<string, SettingName>(NAMES.map(name => [SETTINGS[name].variable, name]))
// Names from other tools come after our own names, so ours win.
for (const { kind, name, ours } of OF_SETTINGS) (kind === 'key' ? BY_KEY : BY_VARIABLE).set(name, BY_KEY.get(ours!)!)

/** The setting with this key, ours or another tool's. */
export function settingNamed(key: string): SettingName {
  const name = BY_KEY.get(key)
  if (name) return name
  throw new InvalidInput(key.slice(0, 80), 'is not a setting', { try: 'fleet config show' })
}

export const isSettingVariable = (variable: string): boolean => BY_VARIABLE.has(variable)

/** The value if it is valid; otherwise an error under the name it was given by. */
export function checked<K extends SettingName>(name: K, value: unknown, called: string = keyOf(name)): Settings[K] {
  const parsed = SETTINGS[name].schema.safeParse(value)
  if (parsed.success) return parsed.data as Settings[K]
  throw new InvalidInput(called, SETTINGS[name].refusal ?? problemOf(parsed.error.issues[0]!))
}

export const fromText = (name: SettingName, text: string, called?: string): Settings[SettingName] =>
  checked(name, SETTINGS[name].read(text), called)

/** The settings in an environment; our name wins over another tool's name for the same. */
export function givenIn(env: NodeJS.ProcessEnv): Given {
  return Object.fromEntries(
    Object.entries(settingsIn(env)).map(([variable, text]) => {
      const name = BY_VARIABLE.get(variable)!
      return [name, fromText(name, text, variable)]
    }),
  )
}

/** The settings in texts by key, as from a command line. */
export const givenBy = (texts: Record<string, string>): Given =>
  Object.fromEntries(
    Object.entries(texts).map(([key, text]) => {
      const name = settingNamed(key)
      return [name, fromText(name, text, key)]
    }),
  )

/** Only the settings of an environment, under our names. */
export function settingsIn(env: NodeJS.ProcessEnv): Record<string, string> {
  const said = [...BY_VARIABLE].filter(([variable]) => env[variable]).reverse()
  return Object.fromEntries(said.map(([variable, name]) => [SETTINGS[name].variable, env[variable]!]))
}

/** An environment with these settings instead of its own. */
export const withSettings = (env: NodeJS.ProcessEnv, settings: Record<string, string>): NodeJS.ProcessEnv => ({
  ...env,
  ...Object.fromEntries([...BY_VARIABLE.keys()].map(variable => [variable, settings[variable]])),
})
