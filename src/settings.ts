import * as z from 'zod'
import { InvalidInput } from './domain/errors.ts'
import { Engine } from './domain/project.ts'

interface Setting<S extends z.ZodType> {
  variable: string
  schema: S
  summary: string
}
const setting = <S extends z.ZodType>(variable: string, schema: S, summary: string): Setting<S> => ({
  variable,
  schema,
  summary,
})
const whole = (fallback: number, min: number, max: number) =>
  z.coerce.number().int().min(min).max(max).default(fallback)

/** Every setting of the fleet, once: the reference page is made from this table. */
export const SETTINGS = {
  maxConcurrent: setting('FLEET_MAX_CONCURRENT', whole(4, 1, 500), 'how many agents run at once in the whole fleet'),
  maxPerAgent: setting(
    'FLEET_MAX_PER_AGENT',
    z.string().default('').transform(perAgent),
    'how many of one kind, such as claude=2,shell=8',
  ),
  defaultAgent: setting(
    'FLEET_DEFAULT_AGENT',
    z.string().min(1).default('shell'),
    'the agent where neither mission nor project names one',
  ),
  defaultModel: setting(
    'FLEET_DEFAULT_MODEL',
    z.string().min(1).nullable().default(null),
    'the model where neither mission nor project names one',
  ),
  claudeEngine: setting(
    'FLEET_CLAUDE_ENGINE',
    Engine.default('cli'),
    'how Claude Code is driven where neither mission nor project says: cli (through its command line), or sdk (the Claude Agent SDK, which must be installed; such sessions do not survive a restart of the server and are resumed)',
  ),
  claudeSdk: setting(
    'FLEET_CLAUDE_SDK',
    z.string().min(1).nullable().default(null),
    'the folder of the Claude Agent SDK, where it is not installed beside fleet',
  ),
  defaultTimeout: setting('FLEET_DEFAULT_TIMEOUT', whole(7200, 1, 604_800), 'seconds a session may take'),
  maxRetries: setting('FLEET_MAX_RETRIES', whole(0, 0, 10), 'how often a failed mission is tried again by itself'),
  dailyBudget: setting(
    'FLEET_DAILY_BUDGET',
    z.coerce.number().positive().nullable().default(null),
    'dollars the whole fleet may spend in a day (of UTC); empty: no limit',
  ),
  contextLimit: setting(
    'FLEET_CONTEXT_LIMIT',
    whole(90, 1, 100),
    'percent of its context window an agent may fill before it goes on in a fresh conversation, at most twice; 100: all of it',
  ),
  windowLimit: setting(
    'FLEET_WINDOW_LIMIT',
    whole(95, 1, 100),
    "percent of a provider's window after which nothing new of that provider starts before the window is reset",
  ),
  allowedRepos: setting(
    'FLEET_ALLOWED_REPOS',
    z.string().default('').transform(list),
    'folders that projects must lie in, separated by colons; empty: anywhere',
  ),
  projectsDir: setting(
    'FLEET_PROJECTS_DIR',
    z.string().min(1).nullable().default(null),
    'where repositories are made for plans that name none; empty: projects in the home',
  ),
  maxSpawnDepth: setting(
    'FLEET_MAX_SPAWN_DEPTH',
    whole(2, 0, 20),
    'how deep agents may delegate: 1 is sub-missions, 2 is theirs; 0: not at all',
  ),
  maxSubMissions: setting(
    'FLEET_MAX_SUB_MISSIONS',
    whole(20, 0, 60),
    'how many sub-missions the agents of one mission may make',
  ),
  contextModeCommand: setting(
    'FLEET_CONTEXT_MODE_CMD',
    z.string().min(1).default('context-mode'),
    'the program and arguments that start the context-mode server, separated by spaces',
  ),
  graceSeconds: setting(
    'FLEET_STOP_GRACE',
    whole(5, 0, 600),
    'seconds an agent has to end by itself when it is stopped',
  ),
  parkAfter: setting(
    'FLEET_PARK_AFTER',
    whole(300, 1, 604_800),
    'seconds an agent waits for an answer before it is put aside and its slot is free',
  ),
  stallAfter: setting(
    'FLEET_STALL_AFTER',
    whole(900, 1, 604_800),
    'seconds without any sign of life (output, processor, processes, files) after which an agent counts as stuck',
  ),
  stallPolicy: setting(
    'FLEET_STALL_POLICY',
    z.enum(['warn', 'nudge', 'restart', 'stop']).default('warn'),
    'what becomes of a stuck agent: warn, nudge (say something to it), restart (and resume, at most twice) or stop',
  ),
  takeoverWait: setting(
    'FLEET_TAKEOVER_WAIT',
    whole(30, 0, 3600),
    'seconds an agent that is taken over has to finish the tool it is at; then it is stopped in the middle',
  ),
  previewHours: setting(
    'FLEET_PREVIEW_HOURS',
    z.coerce.number().positive().max(8760).default(8),
    'hours after which a preview that nobody stopped is ended',
  ),
  previewWait: setting('FLEET_PREVIEW_WAIT', whole(120, 1, 3600), 'seconds a preview has to answer at its port'),
  transcriptLimit: setting(
    'FLEET_TRANSCRIPT_LIMIT',
    whole(512 * 1024 * 1024, 1024, 1e12),
    'bytes an agent may print before it is stopped',
  ),
  minFreeDisk: setting(
    'FLEET_MIN_FREE_DISK',
    whole(256 * 1024 * 1024, 0, 1e13),
    'bytes that must be free before anything is started',
  ),
} as const

export type Settings = { [K in keyof typeof SETTINGS]: z.infer<(typeof SETTINGS)[K]['schema']> }

export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const entries = Object.entries(SETTINGS).map(([name, { variable, schema }]) => {
    const parsed = schema.safeParse(env[variable] || undefined)
    if (!parsed.success) throw new InvalidInput(variable, parsed.error.issues[0]?.message ?? 'is not valid')
    return [name, parsed.data]
  })
  return Object.fromEntries(entries) as Settings
}

const VARIABLES = Object.values(SETTINGS).map(each => each.variable)

/** What an environment says about settings, and nothing else of it. */
export const settingsIn = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(VARIABLES.flatMap(name => (env[name] ? [[name, env[name]]] : [])))

/** An environment with these settings, and none of its own. */
export const withSettings = (env: NodeJS.ProcessEnv, settings: Record<string, string>): NodeJS.ProcessEnv => ({
  ...env,
  ...Object.fromEntries(VARIABLES.map(name => [name, settings[name]])),
})

function list(text: string): string[] {
  return text.split(':').filter(Boolean)
}

function perAgent(text: string): Record<string, number> {
  const pairs = text
    .split(',')
    .filter(Boolean)
    .map(pair => pair.split('=') as [string, string])
  return Object.fromEntries(
    pairs.map(([agent, count]) => [agent.trim(), Math.max(1, Number.parseInt(count ?? '1', 10) || 1)]),
  )
}
