import { ENGINE_WORDS, LANDING_WORDS } from '../domain/choices.ts'
import { MOST_JWT_SECONDS } from '../platform/keys.ts'
import {
  codingAgent,
  folders,
  groupRoles,
  type Kind,
  names,
  number,
  oneOf,
  orNothing,
  perAgent,
  whole,
  word,
} from './kinds.ts'

interface Setting<T> extends Kind<T>, About {
  variable: string
  fallback: T
}

/** What a person needs to fill a setting in. */
interface About {
  section: (typeof SECTIONS)[number]
  title: string
  /** What it does. Its unit is said by its kind. */
  summary: string
  /** What no value means, in a few words. */
  none?: string
  /** The field of a project that sets the same for its missions. */
  project?: (typeof PROJECT_FIELDS)[number]
  /** When an edit of the file takes effect, if not at once: for new sessions, or when plugins are reloaded. */
  takes?: 'next session' | 'plugin reload'
}

/** In the order in which they are shown. */
export const SECTIONS = [
  'Capacity',
  'Defaults for missions',
  'Budget and quota',
  'Sessions',
  'Teams',
  'Take-over and editor',
  'Claude Code',
  'Projects',
  'Disk and worktrees',
  'Previews',
  'Plugins',
  'GitHub and beads',
  'Signing in',
  'People',
] as const

const PROJECT_FIELDS = [
  ...(['agent', 'model', 'engine', 'timeout_seconds', 'max_retries', 'context_limit_percent'] as const),
  ...(['disk_limit_gb', 'keep_worktrees_days'] as const),
] as const

const setting = <T>(variable: `FLEET_${string}`, kind: Kind<T>, fallback: NoInfer<T>, about: About): Setting<T> => ({
  variable,
  ...kind,
  fallback,
  ...about,
})

const STALL_POLICIES = {
  warn: 'Warn me',
  nudge: 'Send it a message',
  restart: 'Restart and resume it, at most twice',
  stop: 'Stop it',
}

const TERMINALS = { computers: 'On computers', all: 'On computers and phones', off: 'Nowhere' }

const MONTH_SECONDS = 30 * 86_400
const YEAR_SECONDS = 365 * 86_400
const WAYS_IN = { any: 'A password, or the provider if there is one', provider: 'The provider only' }

const EDITORS = { vscode: 'VS Code', cursor: 'Cursor', zed: 'Zed', jetbrains: 'JetBrains IDE' }

/** Every setting of the fleet. The file, the variables, the command, the page and the reference are made from this table. */
export const SETTINGS = {
  maxConcurrent: setting('FLEET_MAX_CONCURRENT', whole(1, 500), 4, {
    section: 'Capacity',
    title: 'Agents at once',
    summary: 'How many agents may run at the same time in the whole fleet. Lowering it stops no running agent.',
  }),
  maxPerAgent: setting(
    'FLEET_MAX_PER_AGENT',
    perAgent,
    {},
    {
      section: 'Capacity',
      title: 'Agents at once, by kind',
      summary: 'How many agents of one kind may run at the same time, within the limit above.',
      none: 'No limit',
    },
  ),
  maxSpawnDepth: setting('FLEET_MAX_SPAWN_DEPTH', whole(0, 20), 2, {
    section: 'Capacity',
    title: 'Levels of delegation',
    summary:
      'How deep agents may delegate: 1 allows sub-missions, 2 allows those to have sub-missions too, 0 turns delegation off.',
  }),
  maxSubMissions: setting('FLEET_MAX_SUB_MISSIONS', whole(0, 60), 20, {
    section: 'Capacity',
    title: 'Sub-missions per mission',
    summary: 'How many sub-missions the agents of one mission may create.',
  }),
  defaultAgent: setting('FLEET_DEFAULT_AGENT', orNothing(codingAgent), null, {
    section: 'Defaults for missions',
    title: 'Agent',
    summary: 'The agent of missions and projects without their own. It cannot be shell, which runs text as a script.',
    none: 'Chosen for each project',
    project: 'agent',
    takes: 'next session',
  }),
  defaultModel: setting('FLEET_DEFAULT_MODEL', orNothing(word), null, {
    section: 'Defaults for missions',
    title: 'Model',
    summary: 'The model of missions without their own.',
    none: "The agent's default",
    project: 'model',
    takes: 'next session',
  }),
  landing: setting('FLEET_LANDING', oneOf(LANDING_WORDS), 'review', {
    section: 'Defaults for missions',
    title: 'Landing',
    summary: 'How finished work reaches the base branch in new projects. Each project can choose its own.',
  }),
  defaultTimeout: setting('FLEET_DEFAULT_TIMEOUT', whole(1, 604_800, 'seconds'), 7200, {
    section: 'Defaults for missions',
    title: 'Time limit',
    summary: 'How long a session may take. Time in which no server ran or the machine slept does not count.',
    project: 'timeout_seconds',
    takes: 'next session',
  }),
  maxRetries: setting('FLEET_MAX_RETRIES', whole(0, 10), 0, {
    section: 'Defaults for missions',
    title: 'Retries',
    summary: 'How often a failed mission is retried automatically.',
    project: 'max_retries',
  }),
  contextLimit: setting('FLEET_CONTEXT_LIMIT', whole(1, 100, 'percent'), 90, {
    section: 'Defaults for missions',
    title: 'Context limit',
    summary:
      'How much of its context window an agent may fill before it continues in a new conversation, at most twice.',
    project: 'context_limit_percent',
    takes: 'next session',
  }),
  dailyBudget: setting('FLEET_DAILY_BUDGET', orNothing(number({ min: 0, more: true }, 'dollars per day')), null, {
    section: 'Budget and quota',
    title: 'Daily budget',
    summary: 'What the whole fleet may spend in a day (UTC). Then nothing new starts, and running agents stop.',
    none: 'No limit',
  }),
  windowLimit: setting('FLEET_WINDOW_LIMIT', whole(1, 100, 'percent'), 95, {
    section: 'Budget and quota',
    title: 'Quota limit',
    summary:
      "How much of a provider's quota may be used. Beyond it, nothing new of that provider starts until the quota is reset.",
  }),
  mailHops: setting('FLEET_MAIL_HOPS', whole(1, 1_000_000), 8, {
    section: 'Teams',
    title: 'Messages in a row',
    summary: 'How many messages of agents may follow each other in one thread before a person must release the next.',
  }),
  mailPerMinute: setting('FLEET_MAIL_PER_MINUTE', whole(1, 1_000_000), 6, {
    section: 'Teams',
    title: 'Messages per minute',
    summary:
      'How many messages an agent may send to the same member in a minute before a person must release the next.',
  }),
  wakesPerHour: setting('FLEET_WAKES_PER_HOUR', whole(1, 1_000_000), 20, {
    section: 'Teams',
    title: 'Wakes per hour',
    summary: 'How often mail may wake a member within an hour. Further mail waits.',
  }),
  replyWithin: setting('FLEET_REPLY_WITHIN', whole(1, 2_592_000, 'seconds'), 3600, {
    section: 'Teams',
    title: 'Time to reply',
    summary:
      'After this time without a reply, a member is reminded; after the same time again its lead is told, and then you.',
  }),
  memberQuiet: setting('FLEET_MEMBER_QUIET', whole(1, 86_400, 'seconds'), 300, {
    section: 'Teams',
    title: 'Time without a sign of life',
    summary:
      'How long a member of a team may show no sign of life before it gets a message. Longer if its usual pauses are longer; set for a member with fleet monitor config.',
  }),
  memberRestarts: setting('FLEET_MEMBER_RESTARTS', whole(0, 10), 3, {
    section: 'Teams',
    title: 'Restarts after a crash',
    summary:
      'How often a member whose session fails is started again, with longer pauses each time. Then its lead is told, and then you.',
  }),
  terminalPatience: setting('FLEET_TERMINAL_PATIENCE', whole(1, 86_400, 'seconds'), 120, {
    section: 'Teams',
    title: 'Time before you are asked about a terminal',
    summary:
      'Mail for a member in tmux waits while its screen shows something that is not understood. After this time you are told.',
  }),
  graceSeconds: setting('FLEET_STOP_GRACE', whole(0, 600, 'seconds'), 5, {
    section: 'Sessions',
    title: 'Time to stop',
    summary: 'How long an agent has to end by itself when it is stopped.',
  }),
  parkAfter: setting('FLEET_PARK_AFTER', whole(1, 604_800, 'seconds'), 300, {
    section: 'Sessions',
    title: 'Park after',
    summary: 'How long an agent waits for an answer, or for its provider, before it is parked and its slot is free.',
  }),
  stallAfter: setting('FLEET_STALL_AFTER', whole(1, 604_800, 'seconds'), 900, {
    section: 'Sessions',
    title: 'Stuck after',
    summary:
      'How long an agent may show no sign of life before it counts as stuck. Signs are its conversation while it waits for its model, otherwise output, processor use, processes and files.',
  }),
  stallPolicy: setting('FLEET_STALL_POLICY', oneOf(STALL_POLICIES), 'warn', {
    section: 'Sessions',
    title: 'When an agent is stuck',
    summary: 'What happens to a stuck agent.',
  }),
  takeoverWait: setting('FLEET_TAKEOVER_WAIT', whole(0, 3600, 'seconds'), 30, {
    section: 'Take-over and editor',
    title: 'Time to hand over',
    summary: 'How long an agent has to finish its current tool when you take over. Then it is stopped in the middle.',
  }),
  terminalDevices: setting('FLEET_TERMINAL', oneOf(TERMINALS), 'computers', {
    section: 'Take-over and editor',
    title: 'Terminal in the browser',
    summary: 'Where you can take a mission over in the page. It gives full access to this machine.',
  }),
  terminalGrace: setting('FLEET_TERMINAL_GRACE', whole(0, 3600, 'seconds'), 30, {
    section: 'Take-over and editor',
    title: 'Keep a terminal without a page',
    summary:
      'How long the terminal of a closed page waits for the page to come back. Then the mission waits for review.',
  }),
  editor: setting('FLEET_EDITOR', oneOf(EDITORS), 'vscode', {
    section: 'Take-over and editor',
    title: 'Editor',
    summary: 'The editor in which the page opens a worktree.',
  }),
  transcriptLimit: setting('FLEET_TRANSCRIPT_LIMIT', whole(1024, 1e12, 'bytes'), 512e6, {
    section: 'Sessions',
    title: 'Transcript limit',
    summary: 'How much an agent may print before it is stopped.',
    takes: 'next session',
  }),
  claudeEngine: setting('FLEET_CLAUDE_ENGINE', oneOf(ENGINE_WORDS), 'cli', {
    section: 'Claude Code',
    title: 'Engine',
    summary: 'How Claude Code is driven. Sessions of the SDK do not survive a restart of the server and are resumed.',
    project: 'engine',
    takes: 'next session',
  }),
  claudeSdk: setting('FLEET_CLAUDE_SDK', orNothing(word), null, {
    section: 'Claude Code',
    title: 'Agent SDK folder',
    summary: 'The folder of the Claude Agent SDK, if it is not installed beside Flotilla.',
    none: 'Beside Flotilla',
  }),
  contextModeCommand: setting('FLEET_CONTEXT_MODE_CMD', word, 'context-mode', {
    section: 'Claude Code',
    title: 'Context mode command',
    summary: 'The program and arguments that start the context-mode server, separated by spaces.',
    takes: 'next session',
  }),
  allowedRepos: setting('FLEET_ALLOWED_REPOS', folders, [], {
    section: 'Projects',
    title: 'Allowed folders',
    summary: 'Folders that must contain all projects. In a variable they are separated by colons.',
    none: 'Anywhere',
  }),
  projectsDir: setting('FLEET_PROJECTS_DIR', orNothing(word), null, {
    section: 'Projects',
    title: 'Folder for new repositories',
    summary: 'Where repositories are created for plans that name none.',
    none: 'In the home',
  }),
  minFreeDisk: setting('FLEET_MIN_FREE_DISK', whole(0, 1e13, 'bytes'), 256e6, {
    section: 'Disk and worktrees',
    title: 'Free disk space',
    summary: 'How much of the disk must be free before anything starts.',
  }),
  diskLimitGb: setting(
    'FLEET_DISK_LIMIT_GB',
    orNothing(number({ min: 0, more: true, max: 1_000_000 }, 'gigabytes')),
    null,
    {
      section: 'Disk and worktrees',
      title: 'Disk limit per project',
      summary: 'How much the worktrees of one project may use. Beyond it, its new missions wait.',
      none: 'No limit',
      project: 'disk_limit_gb',
    },
  ),
  keepWorktreesDays: setting('FLEET_KEEP_WORKTREES_DAYS', orNothing(number({ min: 0, max: 36_500 }, 'days')), null, {
    section: 'Disk and worktrees',
    title: 'Keep worktrees',
    summary: 'How long the worktrees of failed and cancelled missions are kept. Their work stays under a ref.',
    none: 'Until you remove them',
    project: 'keep_worktrees_days',
  }),
  warmDisk: setting('FLEET_WARM_DISK', whole(0, 1e13, 'bytes'), 20e9, {
    section: 'Disk and worktrees',
    title: 'Warm worktrees',
    summary:
      'How much disk worktrees may use while they wait for their next mission. The longest unused are removed first; with 0, each worktree is used once.',
  }),
  warmFrom: setting('FLEET_WARM_FROM', whole(1, 1e9), 1000, {
    section: 'Disk and worktrees',
    title: 'Smallest warm worktree',
    summary:
      'How many files a worktree must have to be kept for the next mission. A smaller one is faster to create again.',
  }),
  previewHours: setting('FLEET_PREVIEW_HOURS', number({ min: 0, more: true, max: 8760 }, 'hours'), 8, {
    section: 'Previews',
    title: 'End after',
    summary: 'How long a preview runs if nobody stops it.',
  }),
  previewWait: setting('FLEET_PREVIEW_WAIT', whole(1, 3600, 'seconds'), 120, {
    section: 'Previews',
    title: 'Time to start',
    summary: 'How long a preview has to answer at its port.',
  }),
  plugins: setting('FLEET_PLUGINS', names, [], {
    section: 'Plugins',
    title: 'More plugins',
    summary:
      'Plugins besides those in the plugins folder of the home: built-in ones by name, npm packages installed in that folder, or full paths. In a variable they are separated by commas.',
    none: 'None',
    takes: 'plugin reload',
  }),
  pluginTimeout: setting('FLEET_PLUGIN_TIMEOUT', whole(1, 600, 'seconds'), 10, {
    section: 'Plugins',
    title: 'Time to decide',
    summary:
      'How long a plugin has to decide. It has three times as long to start, and six times for events and tools.',
  }),
  auditDays: setting('FLEET_AUDIT_DAYS', whole(1, 3650, 'days'), 90, {
    section: 'People',
    title: 'Keep the audit log',
    summary: 'How long it is kept who asked for what.',
  }),
  auditMost: setting('FLEET_AUDIT_MOST', whole(1000, 10_000_000), 100_000, {
    section: 'People',
    title: 'Most entries of the audit log',
    summary: 'How many entries are kept. Beyond that, the oldest of whoever has the most are dropped.',
  }),
  pullRequestEvery: setting('FLEET_PULL_REQUEST_EVERY', whole(5, 86_400, 'seconds'), 120, {
    section: 'GitHub and beads',
    title: 'Look at pull requests every',
    summary: 'How often GitHub is asked whether a pull request was merged.',
  }),
  beadsBridges: setting('FLEET_BEADS_BRIDGES', folders, [], {
    section: 'GitHub and beads',
    title: 'Folders with beads',
    summary:
      'Folders whose beads the server claims when they are ready and closes when their missions are done; "home" is the database of the fleet itself. In a variable they are separated by colons.',
    none: 'None',
  }),
  beadsEvery: setting('FLEET_BEADS_EVERY', whole(5, 86_400, 'seconds'), 30, {
    section: 'GitHub and beads',
    title: 'Look at beads every',
    summary: 'How often those folders are looked at.',
  }),
  beadsAtOnce: setting('FLEET_BEADS_AT_ONCE', whole(1, 500), 5, {
    section: 'GitHub and beads',
    title: 'Beads at once',
    summary: 'How many beads of one database are claimed at a time.',
  }),
  jwtExpiresIn: setting('FLEET_JWT_EXPIRES_IN', whole(60, MOST_JWT_SECONDS, 'seconds'), MOST_JWT_SECONDS, {
    section: 'Signing in',
    title: 'JWTs end after',
    summary: 'How long a JWT of POST /auth is valid. One that was given out before keeps its end.',
  }),
  oidcIssuer: setting('FLEET_OIDC_ISSUER', orNothing(word), null, {
    section: 'Signing in',
    title: 'OpenID Connect: issuer',
    summary: 'The https address of the provider with which people sign in.',
    none: 'No provider',
  }),
  oidcClientId: setting('FLEET_OIDC_CLIENT_ID', orNothing(word), null, {
    section: 'Signing in',
    title: 'OpenID Connect: client id',
    summary: 'Under which this fleet is registered there, with the redirect address <fleet>/sign-in/provider.',
    none: 'No provider',
  }),
  oidcClientSecretFile: setting('FLEET_OIDC_CLIENT_SECRET_FILE', orNothing(word), null, {
    section: 'Signing in',
    title: 'OpenID Connect: file with the client secret',
    summary: 'A file that only the server can read. Without it, the variable FLEET_OIDC_CLIENT_SECRET has the secret.',
    none: 'From the environment, or a public client',
  }),
  oidcName: setting('FLEET_OIDC_NAME', word, 'single sign-on', {
    section: 'Signing in',
    title: 'OpenID Connect: name',
    summary: 'What the button of the sign-in page calls the provider.',
  }),
  oidcAgain: setting('FLEET_OIDC_AGAIN', whole(3600, YEAR_SECONDS, 'seconds'), MONTH_SECONDS, {
    section: 'Signing in',
    title: 'OpenID Connect: sign in again after',
    summary: 'Whoever has not signed in with the provider for so long is out, with browsers and tokens, until they do.',
  }),
  oidcGroupsClaim: setting('FLEET_OIDC_GROUPS_CLAIM', word, 'groups', {
    section: 'Signing in',
    title: 'OpenID Connect: claim with groups',
    summary: 'Where the provider says in which groups somebody is.',
  }),
  oidcGroups: setting('FLEET_OIDC_GROUPS', groupRoles, [], {
    section: 'Signing in',
    title: 'OpenID Connect: groups',
    summary:
      'Which group gives which role: admins=owner, web=team-lead@website for one project, or red=worker@website:red for one team of it. Applied at each sign-in; a role whose group is gone is taken away. In a variable they are separated by commas.',
    none: 'Nobody gets a role',
  }),
  signInWith: setting('FLEET_SIGN_IN_WITH', oneOf(WAYS_IN), 'any', {
    section: 'Signing in',
    title: 'People sign in with',
    summary:
      'With a provider only, passwords and invitations are refused. The owner still signs in with fleet open on the machine.',
  }),
} as const

export type SettingName = keyof typeof SETTINGS
export type Settings = { [K in SettingName]: (typeof SETTINGS)[K]['fallback'] }
/** The settings of one source, by name; absent if the source does not set them. */
export type Given = Partial<Settings>
