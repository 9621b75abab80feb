import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { ENGINES, LANDING_POLICIES } from '../domain/records/project.ts'
import { SETTING_ALIASES } from './known-names/index.ts'

/** The values a setting may have, and how a variable or a command line writes them. */
interface Kind<T> {
  schema: z.ZodType<T>
  /** Parses the text; the schema decides whether the value is valid. */
  read(text: string): unknown
}

interface Setting<T> extends Kind<T> {
  variable: string
  summary: string
  fallback: T
  /** The field of a project that sets the same for its missions. */
  project?: (typeof PROJECT_FIELDS)[number]
  /** When an edit of the file takes effect, if not at once: for new sessions, or when plugins are reloaded. */
  takes?: 'next session' | 'plugin reload'
}
type More<T> = Pick<Setting<T>, 'project' | 'takes'>

const PROJECT_FIELDS = [
  ...(['agent', 'model', 'engine', 'timeout_seconds', 'max_retries', 'context_limit_percent'] as const),
  ...(['disk_limit_gb', 'keep_worktrees_days'] as const),
] as const

const setting = <T>(
  variable: `FLEET_${string}`,
  { schema, read }: Kind<T>,
  fallback: NoInfer<T>,
  summary: string,
  more: More<T> = {},
): Setting<T> => ({ variable, schema, read, fallback, summary, ...more })

const number = (schema: z.ZodNumber): Kind<number> => ({ schema, read: text => (text.trim() ? Number(text) : text) })
const whole = (min: number, max: number): Kind<number> => number(z.number().int().min(min).max(max))
const word: Kind<string> = { schema: z.string().min(1).max(1000), read: text => text }
/** Text runs as a script only if somebody says so for that text. */
const codingAgent: Kind<string> = {
  ...word,
  schema: word.schema.refine(name => name !== 'shell', {
    message:
      'cannot be shell, which runs text as a script. Choose a coding agent such as claude, and name shell on each mission that is a script',
  }),
}
const oneOf = <const T extends string>(choices: readonly T[]): Kind<T> => ({
  schema: z.enum(choices),
  read: text => text,
})
const orNothing = <T>({ schema, read }: Kind<T>): Kind<T | null> => ({ schema: schema.nullable(), read })
const folders: Kind<string[]> = {
  schema: z.array(z.string().min(1).max(4000)).max(1000),
  read: text => text.split(':').filter(Boolean),
}
const names: Kind<string[]> = {
  schema: z.array(z.string().min(1).max(4000)).max(100),
  read: text =>
    text
      .split(',')
      .map(name => name.trim())
      .filter(Boolean),
}
const perAgent: Kind<Record<string, number>> = {
  schema: z.record(z.string().min(1).max(40), z.number().int().min(1).max(500)),
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
}

const SESSION_TIME =
  'seconds a session may take; the time in which no server watched it, or the machine slept, does not count'

/** Every setting of the fleet. The file, the variables, the command and the reference page are made from this table. */
export const SETTINGS = {
  maxConcurrent: setting(
    'FLEET_MAX_CONCURRENT',
    whole(1, 500),
    4,
    'how many agents run at once in the whole fleet; lowering it stops no running agent',
    {},
  ),
  maxPerAgent: setting(
    'FLEET_MAX_PER_AGENT',
    perAgent,
    {},
    'how many agents of one kind run at once, such as claude=2,shell=8',
  ),
  defaultAgent: setting(
    'FLEET_DEFAULT_AGENT',
    orNothing(codingAgent),
    null,
    'the agent of missions that name none, in projects that name none; empty: each project gets one when it is created or first used. It cannot be shell',
    { project: 'agent', takes: 'next session' },
  ),
  landing: setting(
    'FLEET_LANDING',
    oneOf(LANDING_POLICIES),
    'review',
    'the landing policy of new projects, unless they set their own',
  ),
  defaultModel: setting('FLEET_DEFAULT_MODEL', orNothing(word), null, 'the model of missions that name none', {
    project: 'model',
    takes: 'next session',
  }),
  claudeEngine: setting(
    'FLEET_CLAUDE_ENGINE',
    oneOf(ENGINES),
    'cli',
    'how Claude Code is driven: cli (through its command line), or sdk (the Claude Agent SDK, which must be installed; such sessions do not survive a server restart and are resumed)',
    { project: 'engine', takes: 'next session' },
  ),
  claudeSdk: setting(
    'FLEET_CLAUDE_SDK',
    orNothing(word),
    null,
    'the folder of the Claude Agent SDK, if it is not installed beside fleet',
  ),
  defaultTimeout: setting('FLEET_DEFAULT_TIMEOUT', whole(1, 604_800), 7200, SESSION_TIME, {
    project: 'timeout_seconds',
    takes: 'next session',
  }),
  maxRetries: setting('FLEET_MAX_RETRIES', whole(0, 10), 0, 'how often a failed mission is retried automatically', {
    project: 'max_retries',
  }),
  dailyBudget: setting(
    'FLEET_DAILY_BUDGET',
    orNothing(number(z.number().positive())),
    null,
    'dollars the whole fleet may spend in a day (in UTC); empty: no limit',
  ),
  contextLimit: setting(
    'FLEET_CONTEXT_LIMIT',
    whole(1, 100),
    90,
    'percent of its context window an agent may fill before it continues in a new conversation, at most twice; 100: all of it',
    { project: 'context_limit_percent', takes: 'next session' },
  ),
  windowLimit: setting(
    'FLEET_WINDOW_LIMIT',
    whole(1, 100),
    95,
    "percent of a provider's window from which on nothing new of that provider starts until the window is reset",
  ),
  allowedRepos: setting(
    'FLEET_ALLOWED_REPOS',
    folders,
    [],
    'folders that must contain all projects, separated by colons in a variable; empty: anywhere',
  ),
  plugins: setting(
    'FLEET_PLUGINS',
    names,
    [],
    'plugins besides those in plugins/ of the home: shipped ones by name, npm packages installed in plugins/, or full paths; separated by commas in a variable; applied at a start and by fleet plugin reload',
    { takes: 'plugin reload' },
  ),
  pluginTimeout: setting(
    'FLEET_PLUGIN_TIMEOUT',
    whole(1, 600),
    10,
    'seconds a plugin has to decide; three times as long to start, six times for events and tools',
  ),
  projectsDir: setting(
    'FLEET_PROJECTS_DIR',
    orNothing(word),
    null,
    'where repositories are created for plans that name none; empty: projects in the home',
    {},
  ),
  beadsBridges: setting(
    'FLEET_BEADS_BRIDGES',
    folders,
    [],
    'folders whose beads the server claims when they are ready and closes when their missions are done, separated by colons in a variable; home means the one of fleet bd',
  ),
  beadsEvery: setting(
    'FLEET_BEADS_EVERY',
    whole(5, 86_400),
    30,
    'seconds between two looks at the beads of beads_bridges',
  ),
  beadsAtOnce: setting('FLEET_BEADS_AT_ONCE', whole(1, 500), 5, 'how many beads of one database are claimed at a time'),
  pullRequestEvery: setting(
    'FLEET_PULL_REQUEST_EVERY',
    whole(5, 86_400),
    120,
    'seconds between two questions to GitHub whether a pull request was merged (landing policy pull-request)',
  ),
  maxSpawnDepth: setting(
    'FLEET_MAX_SPAWN_DEPTH',
    whole(0, 20),
    2,
    'how deep agents may delegate: 1 is sub-missions, 2 is their sub-missions; 0: not at all',
  ),
  maxSubMissions: setting(
    'FLEET_MAX_SUB_MISSIONS',
    whole(0, 60),
    20,
    'how many sub-missions the agents of one mission may create',
  ),
  contextModeCommand: setting(
    'FLEET_CONTEXT_MODE_CMD',
    word,
    'context-mode',
    'the program and arguments that start the context-mode server, separated by spaces',
    { takes: 'next session' },
  ),
  graceSeconds: setting(
    'FLEET_STOP_GRACE',
    whole(0, 600),
    5,
    'seconds an agent has to end by itself when it is stopped',
  ),
  parkAfter: setting(
    'FLEET_PARK_AFTER',
    whole(1, 604_800),
    300,
    'seconds an agent waits for an answer, or for its provider, before it is parked and its slot is free',
  ),
  stallAfter: setting(
    'FLEET_STALL_AFTER',
    whole(1, 604_800),
    900,
    'seconds without a sign of life after which an agent counts as stuck: its conversation while it waits for its model, otherwise its output, processor use, processes and files',
    {},
  ),
  stallPolicy: setting(
    'FLEET_STALL_POLICY',
    oneOf(['warn', 'nudge', 'restart', 'stop']),
    'warn',
    'what happens to a stuck agent: warn, nudge (send it a message), restart (and resume, at most twice) or stop',
  ),
  takeoverWait: setting(
    'FLEET_TAKEOVER_WAIT',
    whole(0, 3600),
    30,
    'seconds an agent has to finish its current tool when it is taken over; then it is stopped in the middle',
  ),
  previewHours: setting(
    'FLEET_PREVIEW_HOURS',
    number(z.number().positive().max(8760)),
    8,
    'hours after which a preview is ended if nobody stopped it',
  ),
  previewWait: setting('FLEET_PREVIEW_WAIT', whole(1, 3600), 120, 'seconds a preview has to answer at its port'),
  transcriptLimit: setting(
    'FLEET_TRANSCRIPT_LIMIT',
    whole(1024, 1e12),
    512 * 1024 * 1024,
    'bytes an agent may print before it is stopped',
    { takes: 'next session' },
  ),
  minFreeDisk: setting(
    'FLEET_MIN_FREE_DISK',
    whole(0, 1e13),
    256 * 1024 * 1024,
    'bytes that must be free on the disk before anything starts',
  ),
  warmDisk: setting(
    'FLEET_WARM_DISK',
    whole(0, 1e13),
    20 * 1024 ** 3,
    'bytes that worktrees may use while they wait for their next mission; the longest unused are removed first; 0: each worktree is used once',
  ),
  warmFrom: setting(
    'FLEET_WARM_FROM',
    whole(1, 1e9),
    1000,
    'how many files a worktree must have to be kept for the next mission; a smaller one is made anew, which is quicker',
  ),
  diskLimitGb: setting(
    'FLEET_DISK_LIMIT_GB',
    orNothing(number(z.number().positive().max(1_000_000))),
    null,
    'gigabytes that the worktrees of one project may use; beyond that, its new missions wait',
    { project: 'disk_limit_gb' },
  ),
  keepWorktreesDays: setting(
    'FLEET_KEEP_WORKTREES_DAYS',
    orNothing(number(z.number().min(0).max(36_500))),
    null,
    'days after which the worktrees of failed and cancelled missions are removed; their work stays under a ref',
    { project: 'keep_worktrees_days' },
  ),
} as const

export type SettingName = keyof typeof SETTINGS
export type Settings = { [K in SettingName]: (typeof SETTINGS)[K]['fallback'] }
/** The settings of one source, by name; absent if the source does not set them. */
export type Given = Partial<Settings>

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

const BY_KEY = new Map(NAMES.map(name => [keyOf(name), name]))
const BY_VARIABLE = new Map<string, SettingName>(NAMES.map(name => [SETTINGS[name].variable, name]))
// Names from other tools come after our own names, so ours win.
for (const { kind, name, ours } of SETTING_ALIASES) (kind === 'key' ? BY_KEY : BY_VARIABLE).set(name, BY_KEY.get(ours)!)

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
  throw new InvalidInput(called, parsed.error.issues[0]?.message ?? 'is not valid')
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
