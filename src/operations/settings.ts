import * as z from 'zod'
import {
  CONFIGURATION_FILE,
  configurationFile,
  editConfiguration,
  parseConfiguration,
} from '../config/configuration.ts'
import { Form, valueInWords } from '../config/kinds.ts'
import { SECTIONS, SETTINGS, type SettingName, type Settings } from '../config/settings.ts'
import { checked, fromText, isInsisted, keyOf, ORIGINS, settingNamed } from '../config/sources.ts'
import { InvalidInput } from '../domain/errors.ts'
import type { Project } from '../domain/records/project.ts'
import type { Fleet } from '../fleet/fleet.ts'
import { requireAgents, takeConfiguration } from '../fleet/projects/configuration.ts'
import { lookUp } from '../fleet/records.ts'
import { behindLinks, replaceText, textOf } from '../platform/whole-files.ts'
import { isPrincipal, reachFor } from './authorize.ts'
import { actorOf, ProjectRef } from './inputs.ts'
import { type Caller, type Context, command, query } from './operation.ts'

const SettingView = z.object({
  key: z.string(),
  section: z.enum(SECTIONS),
  title: z.string(),
  summary: z.string(),
  value: z.unknown(),
  in_words: z.string().describe('the value with its unit, such as 15 min; empty: none'),
  origin: z.enum([...ORIGINS, 'project']).describe('where the value comes from'),
  default: z.unknown(),
  default_in_words: z.string(),
  variable: z.string(),
  form: Form.describe('how it is filled in; a number is in the unit named here'),
  expects: z.string().nullable().describe('what is wrong with any other value'),
  takes_effect: z.enum(['at once', 'next session', 'plugin reload']),
})
const SettingsView = z.object({
  file: z.string(),
  problem: z.string().nullable().describe('why the current file is ignored; the settings before it apply'),
  settings: z.array(SettingView),
})

const NAMES = Object.keys(SETTINGS) as SettingName[]

/** Folders of the machine are for those who may change settings. */
const FOLDER = /^(~|\/|[A-Za-z]:\\)/
const HIDDEN = '…'

function withoutFolders(value: unknown): unknown {
  if (typeof value === 'string') return FOLDER.test(value) ? HIDDEN : value
  return Array.isArray(value) ? value.map(withoutFolders) : value
}

/** It names projects, and groups of people. */
const withoutNames = (name: SettingName, value: unknown): unknown =>
  name === 'oidcGroups' ? (value as string[]).slice(0, 1).map(() => HIDDEN) : withoutFolders(value)

const maySeeAll = (caller: Caller): boolean => !isPrincipal(caller) || reachFor(caller, 'settings.write') === 'fleet'

/** Why the configuration file is ignored. The reason may repeat what is in it. */
export function settingsProblem({ configuration: { fault } }: Fleet, caller: Caller): string | null {
  if (!fault) return null
  return maySeeAll(caller) ? fault.message : 'The file cannot be used.'
}

function settingsView(fleet: Fleet, caller: Caller, project?: Project): z.infer<typeof SettingsView> {
  const isOpen = maySeeAll(caller)
  const { settings, origins } = fleet.configuration
  return {
    file: isOpen ? configurationFile(fleet.home.path) : CONFIGURATION_FILE,
    problem: settingsProblem(fleet, caller),
    settings: NAMES.map(name => {
      const {
        section,
        title,
        summary,
        variable,
        form,
        fallback,
        none = '',
        takes,
        refusal,
        project: field,
      } = SETTINGS[name]
      const said = project && field && !isInsisted(origins[name]) ? project[field] : null
      const inForce = said ?? settings[name]
      const value = isOpen ? inForce : withoutNames(name, inForce)
      return {
        key: keyOf(name),
        section,
        title,
        summary,
        value,
        in_words: valueInWords(value as typeof inForce, form) || none,
        origin: said === null ? origins[name] : 'project',
        default: fallback,
        default_in_words: valueInWords(fallback, form) || none,
        variable,
        form,
        expects: refusal ?? null,
        takes_effect: takes ?? 'at once',
      }
    }),
  }
}

type Changes = ReadonlyMap<SettingName, Settings[SettingName] | undefined>

/**
 * Computes changes from the file as it is, and writes them. There is no `await` between reading and writing, so two
 * changes of the same setting on a running server are both applied. Returns the keys that something overrules.
 */
export async function changeSettings(
  context: Context,
  decide: (file: Partial<Settings>) => Changes,
): Promise<string[]> {
  const { fleet } = context
  const file = behindLinks(configurationFile(fleet.home.path))
  const before = textOf(file)
  const changes = decide(parseConfiguration(before ?? ''))
  const after = editConfiguration(before ?? '', changes)
  requireAgents(parseConfiguration(after), fleet)
  if (after !== (before ?? '')) replaceText(file, before, after)
  await takeConfiguration(fleet, actorOf(context))
  return [...changes.keys()].filter(name => isInsisted(fleet.configuration.origins[name])).map(keyOf)
}

export const settings = [
  query({
    name: 'get_settings',
    may: 'system.read',
    mcp: 'system',
    summary: 'List all settings with their values and where they come from',
    http: 'GET /api/settings',
    input: z.object({ project_id: ProjectRef.optional().describe('the values for missions of this project') }),
    output: SettingsView,
    run: async ({ fleet, caller }, { project_id }) =>
      settingsView(fleet, caller, project_id ? (await lookUp(fleet, 'projects', project_id)).value : undefined),
  }),
  command({
    name: 'set_settings',
    may: 'settings.write',
    mcp: 'system',
    summary: `Change settings in ${CONFIGURATION_FILE}, keeping its comments and order; they apply at once`,
    http: 'PUT /api/settings',
    inServer: true,
    input: z.object({
      settings: z
        .record(z.string(), z.unknown())
        .describe(
          'by key; a text is read like an environment variable, such as 15 min; null or an empty text resets the setting',
        ),
    }),
    output: SettingsView.extend({
      overruled: z.array(z.string()).describe('changed keys that the environment or a flag overrides'),
    }),
    run: async (context, input) => {
      const changes = new Map(Object.entries(input.settings).map(([key, value]) => change(key, value)))
      const overruled = await changeSettings(context, () => changes)
      return { ...settingsView(context.fleet, context.caller), overruled }
    },
  }),
]

function change(key: string, value: unknown): [SettingName, Settings[SettingName] | undefined] {
  const name = settingNamed(key)
  if (value === null || value === '') return [name, undefined]
  if (typeof value === 'string') return [name, fromText(name, value, key)]
  if (value === undefined) throw new InvalidInput(key, 'has no value')
  return [name, checked(name, value, key)]
}
