import * as z from 'zod'
import { InvalidInput } from '../domain/errors.ts'
import { ENGINES, LANDING_POLICIES } from '../domain/records/project.ts'
import { SETTING_ALIASES } from './known-names/index.ts'

/** What a setting may be, and how a variable or a command line says it. */
interface Kind<T> {
  schema: z.ZodType<T>
  /** What the text means; whether that will do is for the schema to say. */
  read(text: string): unknown
}

interface Setting<T> extends Kind<T> {
  variable: string
  summary: string
  fallback: T
  /** The field of a project that says the same for its missions. */
  project?: (typeof PROJECT_FIELDS)[number]
  /** When an edit of the file takes effect, if not at once: for sessions that start then, or when plugins are reloaded. */
  takes?: 'next session' | 'plugin reload'
}
type More<T> = Pick<Setting<T>, 'project' | 'takes'>

const PROJECT_FIELDS = ['agent', 'model', 'engine', 'timeout_seconds', 'max_retries', 'context_limit_percent'] as const

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
/** Text is only run as a script where somebody says so for that very text. */
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

/** Every setting of the fleet, once: the file, the variables, the command and the reference page are made from this table. */
export const SETTINGS = {
  maxConcurrent: setting(
    'FLEET_MAX_CONCURRENT',
    whole(1, 500),
    4,
    'how many agents run at once in the whole fleet; those that run go on when it is lowered',
    {},
  ),
  maxPerAgent: setting('FLEET_MAX_PER_AGENT', perAgent, {}, 'how many of one kind, such as claude=2,shell=8'),
  defaultAgent: setting(
    'FLEET_DEFAULT_AGENT',
    orNothing(codingAgent),
    null,
    'the agent of missions that name none, in projects that name none; empty: each project gets one when it is made or first used. It cannot be shell',
    { project: 'agent', takes: 'next session' },
  ),
  landing: setting(
    'FLEET_LANDING',
    oneOf(LANDING_POLICIES),
    'review',
    'what becomes of finished work in projects that are made from now on, unless they say so themselves',
  ),
  defaultModel: setting('FLEET_DEFAULT_MODEL', orNothing(word), null, 'the model of missions that name none', {
    project: 'model',
    takes: 'next session',
  }),
  claudeEngine: setting(
    'FLEET_CLAUDE_ENGINE',
    oneOf(ENGINES),
    'cli',
    'how Claude Code is driven: cli (through its command line), or sdk (the Claude Agent SDK, which must be installed; such sessions do not survive a restart of the server and are resumed)',
    { project: 'engine', takes: 'next session' },
  ),
  claudeSdk: setting(
    'FLEET_CLAUDE_SDK',
    orNothing(word),
    null,
    'the folder of the Claude Agent SDK, where it is not installed beside fleet',
  ),
  defaultTimeout: setting('FLEET_DEFAULT_TIMEOUT', whole(1, 604_800), 7200, 'seconds a session may take', {
    project: 'timeout_seconds',
    takes: 'next session',
  }),
  maxRetries: setting('FLEET_MAX_RETRIES', whole(0, 10), 0, 'how often a failed mission is tried again by itself', {
    project: 'max_retries',
  }),
  dailyBudget: setting(
    'FLEET_DAILY_BUDGET',
    orNothing(number(z.number().positive())),
    null,
    'dollars the whole fleet may spend in a day (of UTC); empty: no limit',
  ),
  contextLimit: setting(
    'FLEET_CONTEXT_LIMIT',
    whole(1, 100),
    90,
    'percent of its context window an agent may fill before it goes on in a fresh conversation, at most twice; 100: all of it',
    { project: 'context_limit_percent', takes: 'next session' },
  ),
  windowLimit: setting(
    'FLEET_WINDOW_LIMIT',
    whole(1, 100),
    95,
    "percent of a provider's window after which nothing new of that provider starts before the window is reset",
  ),
  allowedRepos: setting(
    'FLEET_ALLOWED_REPOS',
    folders,
    [],
    'folders that projects must lie in, in a variable separated by colons; empty: anywhere',
  ),
  plugins: setting(
    'FLEET_PLUGINS',
    names,
    [],
    'plugins beside those in plugins/ of the home: shipped ones by name, npm packages installed in plugins/, or whole paths; in a variable separated by commas; taken at a start and by fleet plugin reload',
    { takes: 'plugin reload' },
  ),
  pluginTimeout: setting(
    'FLEET_PLUGIN_TIMEOUT',
    whole(1, 600),
    10,
    'seconds a plugin has to decide; to start three times as long, to be told something and for a tool six times',
  ),
  projectsDir: setting(
    'FLEET_PROJECTS_DIR',
    orNothing(word),
    null,
    'where repositories are made for plans that name none; empty: projects in the home',
    {},
  ),
  beadsBridges: setting(
    'FLEET_BEADS_BRIDGES',
    folders,
    [],
    'folders whose beads the server claims when they are ready and closes when their missions are done, in a variable separated by colons; home is that of fleet bd',
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
    'seconds after which GitHub is asked again whether a pull request was merged (landing policy pull-request)',
  ),
  maxSpawnDepth: setting(
    'FLEET_MAX_SPAWN_DEPTH',
    whole(0, 20),
    2,
    'how deep agents may delegate: 1 is sub-missions, 2 is theirs; 0: not at all',
  ),
  maxSubMissions: setting(
    'FLEET_MAX_SUB_MISSIONS',
    whole(0, 60),
    20,
    'how many sub-missions the agents of one mission may make',
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
    'seconds an agent waits for an answer, or for its provider, before it is put aside and its slot is free',
  ),
  stallAfter: setting(
    'FLEET_STALL_AFTER',
    whole(1, 604_800),
    900,
    'seconds without any sign of life after which an agent counts as stuck: of its conversation while it waits for its model, otherwise of its output, processor, processes and files',
    {},
  ),
  stallPolicy: setting(
    'FLEET_STALL_POLICY',
    oneOf(['warn', 'nudge', 'restart', 'stop']),
    'warn',
    'what becomes of a stuck agent: warn, nudge (say something to it), restart (and resume, at most twice) or stop',
  ),
  takeoverWait: setting(
    'FLEET_TAKEOVER_WAIT',
    whole(0, 3600),
    30,
    'seconds an agent that is taken over has to finish the tool it is at; then it is stopped in the middle',
  ),
  previewHours: setting(
    'FLEET_PREVIEW_HOURS',
    number(z.number().positive().max(8760)),
    8,
    'hours after which a preview that nobody stopped is ended',
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
    'bytes that must be free before anything is started',
  ),
} as const

export type SettingName = keyof typeof SETTINGS
export type Settings = { [K in SettingName]: (typeof SETTINGS)[K]['fallback'] }
/** What one place says, by the name of the setting; what it does not say is absent. */
export type Given = Partial<Settings>

/** Places that say what holds, the weakest first. What a project says stands between the file and the environment. */
export const ORIGINS = ['default', 'file', 'environment', 'flag'] as const
export type Origin = (typeof ORIGINS)[number]
export type Layers = Partial<Record<Exclude<Origin, 'default'>, Given>>

/** Said for this run of the fleet, and therefore before what a project has on record. */
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
// What other tools call them comes behind our own names, which therefore win.
for (const { kind, name, ours } of SETTING_ALIASES) (kind === 'key' ? BY_KEY : BY_VARIABLE).set(name, BY_KEY.get(ours)!)

/** The setting that a key means, ours or another tool's. */
export function settingNamed(key: string): SettingName {
  const name = BY_KEY.get(key)
  if (name) return name
  throw new InvalidInput(key.slice(0, 80), 'is no setting', { try: 'fleet config show' })
}

export const isSettingVariable = (variable: string): boolean => BY_VARIABLE.has(variable)

/** The value if it will do; otherwise what is wrong with it, under the name it was given by. */
export function checked<K extends SettingName>(name: K, value: unknown, called: string = keyOf(name)): Settings[K] {
  const parsed = SETTINGS[name].schema.safeParse(value)
  if (parsed.success) return parsed.data as Settings[K]
  throw new InvalidInput(called, parsed.error.issues[0]?.message ?? 'is not valid')
}

export const fromText = (name: SettingName, text: string, called?: string): Settings[SettingName] =>
  checked(name, SETTINGS[name].read(text), called)

/** What an environment says; ours comes before another tool's name for the same. */
export function givenIn(env: NodeJS.ProcessEnv): Given {
  return Object.fromEntries(
    Object.entries(settingsIn(env)).map(([variable, text]) => {
      const name = BY_VARIABLE.get(variable)!
      return [name, fromText(name, text, variable)]
    }),
  )
}

/** What texts by key say, as a command line gives them. */
export const givenBy = (texts: Record<string, string>): Given =>
  Object.fromEntries(
    Object.entries(texts).map(([key, text]) => {
      const name = settingNamed(key)
      return [name, fromText(name, text, key)]
    }),
  )

/** What an environment says about settings under our names, and nothing else of it. */
export function settingsIn(env: NodeJS.ProcessEnv): Record<string, string> {
  const said = [...BY_VARIABLE].filter(([variable]) => env[variable]).reverse()
  return Object.fromEntries(said.map(([variable, name]) => [SETTINGS[name].variable, env[variable]!]))
}

/** An environment with these settings, and none of its own. */
export const withSettings = (env: NodeJS.ProcessEnv, settings: Record<string, string>): NodeJS.ProcessEnv => ({
  ...env,
  ...Object.fromEntries([...BY_VARIABLE.keys()].map(variable => [variable, settings[variable]])),
})
