import { type Agent, type Capabilities, enginesOf, toolPresets } from '../src/agents/index.ts'
import { drivenName, type Engine } from '../src/domain/records/project.ts'
import { cell, code, table } from './markdown.ts'

const MEANINGS: Record<keyof Capabilities, string> = {
  resume: 'continues an earlier conversation',
  fork: 'continues a copy of a conversation, and leaves the first as it was',
  liveMessages: 'when it receives a message from `fleet say`',
  interrupt: 'stops at `fleet interrupt` and waits for an answer, without ending its session',
  turnLimit:
    'who enforces a limit of turns. client: the client itself; outside: the fleet, after one more turn; no: it does not report its turns, and such a limit is refused (a script has none)',
  budgetLimit: 'stops by itself at a budget; if not, the fleet stops it once it reports that it spent more',
  cost: 'how its cost is known. money: it reports it; priced: from its tokens and the [table of prices](guides/agents.md#prices); tokens: only tokens are known; none: it reports nothing; free: it costs nothing',
  usage: 'when it reports its usage; a budget needs a cost in money that is reported while it works',
  contextWindow: 'reports while it works how full its context window is, and is stopped before it is full',
  approvals: 'waits for a person if its preset does not allow something (`--approvals ask`)',
  presets: 'which presets its client enforces itself',
  sandboxed:
    'which other presets the sandbox of the operating system enforces, if there is one; any other preset is refused',
  questions: 'asks a person questions and continues with the answer (`--approvals ask`)',
  customTools: 'can be limited to a list of tools (`--tools`)',
  effort: 'the levels of effort it supports (`--effort`)',
  mcp: "how it connects to MCP servers, including the fleet's own tools: http, without an extra process; stdio, through a bridge (`fleet mcp --agent`)",
  adopted: 'keeps running when the server dies, and the next server picks it up',
  takeOver: 'you can continue its conversation in your own terminal (`fleet takeover`)',
  life: 'how the fleet notices that it is stuck. conversation: by its conversation alone while none of its tools is running; processes: also by what its processes do',
  scripts: 'runs the text of a mission as a script, and only if that mission names it',
  images: 'takes the images of a mission (`fleet run --image`); others refuse a mission that has one',
  remoteControl: 'you can work in its worktree from elsewhere (`fleet remote`)',
}

/** Rows are abilities, columns are agents: what `fleet agents --json` says under `can`. */
export function abilityTable(agents: readonly { name: string; engine: Engine; can: Capabilities }[]): string {
  const abilities = Object.keys(MEANINGS) as (keyof Capabilities)[]
  return table(
    ['ability', 'meaning', ...agents.map(({ name, engine }) => drivenName(name, engine))],
    abilities.map(ability => [code(ability), MEANINGS[ability], ...agents.map(({ can }) => inWords(can[ability]))]),
  )
}

function inWords(value: Capabilities[keyof Capabilities]): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'string' ? value : value.join(', ') || 'none'
}

function presetTable(agents: readonly Agent[]): string {
  return table(
    ['preset', 'what it allows', 'enforced by the client', 'enforced by the sandbox', 'refused by'],
    toolPresets(agents).map(({ name, summary, agents: holding, sandboxed }) => [
      code(name),
      cell(summary),
      holding.join(', '),
      sandboxed.join(', ') || 'none',
      agents.flatMap(({ name }) => (holding.includes(name) || sandboxed.includes(name) ? [] : name)).join(', ') ||
        'none',
    ]),
  )
}

const modelTable = (agents: readonly Agent[]): string =>
  table(
    ['agent', 'models known by name'],
    agents
      .filter(({ models }) => models.length)
      .map(({ name, models }) => [
        name,
        models.map(model => code(model.name) + (model.alias ? ` (${code(model.alias)})` : '')).join(', '),
      ]),
  )

/**
 * Where a client enforces a preset differently from its description. test/agents/missions/clients-presets.test.ts tests
 * each.
 */
const HELD_OTHERWISE: readonly [string, string][] = [
  ['claude', 'if it has a shell, commands that it knows to be read-only (`ls`, `git log`) run under every preset'],
  ['codex', 'under `review` and `explore` it runs any command, in its sandbox, where nothing can be changed'],
  ['gemini', 'as the table says'],
  ['opencode', 'as the table says; `-/` and `/-` in a command are refused under `review` and `explore`'],
  ['Claude over ACP', 'as claude'],
  [
    'Gemini over ACP',
    'runs no command under `review`, `explore` and `test` except plain listings, has no tools of the fleet under a preset, and searches the web without asking',
  ],
]

/**
 * What a client reports while its provider refuses or does not answer. test/agents/missions/clients-retries.test.ts
 * tests each.
 */
const IN_TROUBLE: readonly (readonly string[])[] = [
  [
    'claude, claude (sdk), Claude over ACP',
    'each try with its status, its number out of ten and its time',
    'gives up at once if the wait is long, without saying until when: the fleet retries after a pause that grows',
    '529 three times, then it fails; 500 ten times in about three minutes',
    '401 ten times, so the fleet stops it at the second; 403 at once',
  ],
  [
    'codex',
    'each try with its status, its number and, in its log, its time; a 429 without `retry-after` is not retried',
    'waits silently as long as it is told, so the fleet parks it',
    'five times, each with five tries inside; the status of 500 is not reported',
    'five times, so the fleet stops it at the second or third',
  ],
  [
    'gemini',
    'each try with its status and number, and its time if the provider asked for a wait',
    'gives up at once and says until when',
    'ten times in some minutes',
    'at once',
  ],
  ['Gemini over ACP', 'nothing', 'gives up at once, without saying until when', 'nothing is reported', 'at once'],
  [
    'opencode',
    "each try in the provider's words, without status, number and time",
    'waits as long as it is told and does not say so: the fleet parks it after `FLEET_PARK_AFTER`',
    'retries without end, so the fleet parks it after `FLEET_PARK_AFTER`',
    '401 at once; 403 is retried without end',
  ],
]

/**
 * Tested with the real clients (memory and settings: clients-settings.test.ts), in a folder whose `.git` is a file that
 * names a separate repository.
 */
const IN_PRIVATE: readonly (readonly string[])[] = [
  [
    'claude',
    'asked once for each folder at a terminal, even if the project is trusted, with "No, exit" preselected; not asked in a mission',
    'separate for each folder; that of the project is not read',
    'those of the folder are read',
    'yes',
    'yes, also for a conversation from another repository',
    'opens, after the question of trust',
  ],
  [
    'codex',
    'not asked',
    '`AGENTS.md` is read',
    'those of the folder are not read, nor in a linked worktree: it would ask for trust first',
    'yes',
    'yes',
    'opens',
  ],
  [
    'gemini',
    'not asked in a mission',
    '`GEMINI.md` is read',
    'those of the folder are read',
    'yes',
    'not offered',
    'opens, with the conversation',
  ],
  [
    'opencode',
    'not asked',
    '`AGENTS.md` is read',
    'those of the folder are read; it writes `$schema` into `opencode.json`',
    'yes',
    'yes, for one from another repository',
    'not tested',
  ],
]

const YES = ['yes', 'yes', 'yes', 'yes'] as const
const NO_SCREEN = 'no: the fleet does not know its screen'

/**
 * Tested with the real clients and the scripted model: `test/agents/missions/*-teams.test.ts`, in tmux
 * `clients-terminals.test.ts`. Replies, takes a task, completes it and hands over a checkpoint are tools of the fleet.
 */
const AS_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  claude: [...YES, 'yes'],
  'claude (sdk)': [...YES, 'no: `claude` has a window'],
  'Claude over ACP': [...YES, NO_SCREEN],
  codex: [...YES, 'yes'],
  gemini: [...YES, NO_SCREEN],
  'Gemini over ACP': [...Array(4).fill('not tested, only as gemini'), NO_SCREEN],
  opencode: [...YES, 'yes'],
  'an agent you declare': ['yes, if it takes MCP servers', ...Array(3).fill('the same'), NO_SCREEN],
  shell: ['with `fleet mail reply`', ...Array(3).fill('with the command'), 'yes'],
  agy: [...Array(4).fill('no: it takes no MCP servers'), NO_SCREEN],
}

const TOLD: Record<Capabilities['liveMessages'], string> = {
  'mid-turn': 'yes',
  'next-turn': 'between two turns of its session: its protocol has no way in the middle of one',
  no: 'at the end of its turn, by the next wake: it takes no messages at work',
}
/** Of those that are no built-in agents. */
const TOLD_OTHERS: Readonly<Record<string, Capabilities['liveMessages']>> = {
  'Claude over ACP': 'next-turn',
  'Gemini over ACP': 'next-turn',
  'an agent you declare': 'no',
}

function memberTable(agents: readonly Agent[]): string {
  const live = new Map(
    enginesOf(agents).map(({ agent: { name, can }, engine }) => [drivenName(name, engine), can.liveMessages]),
  )
  const told = (name: string) => TOLD[live.get(name) ?? TOLD_OTHERS[name]!]
  const rows = Object.entries(AS_MEMBERS).map(([name, cells]) => [
    name,
    // Nobody has it to test with.
    name === 'agy' ? 'not tested as a member' : name === 'Gemini over ACP' ? 'not tested, only as gemini' : 'yes',
    told(name),
    ...cells,
  ])
  const columns = ['woken by mail', 'told mid-turn', 'replies by tool', 'takes a task', 'completes it']
  return table(['client', ...columns, 'hands over a checkpoint', 'in tmux'], rows)
}

export function agentsPage(agents: readonly Agent[]): string {
  const [able, unable] = [agents.filter(({ can }) => can.customTools), agents.filter(({ can }) => !can.customTools)]
  const names = (some: readonly Agent[]) => some.map(({ name }) => name).join(', ')
  return [
    'This table shows what `fleet agents --json` and the operation [list_agents](reference/operations.md#list_agents) say under `can`, for the built-in agents. The [guide](guides/agents.md) explains how to use them.',
    abilityTable(enginesOf(agents).map(({ agent: { name, can }, engine }) => ({ name, engine, can }))),
    '## Presets',
    `A mission is refused before it starts if its agent cannot be held to its preset or list of tools. These agents accept a list of tools: ${names(able)}; these refuse it: ${names(unable)}.`,
    presetTable(agents),
    'What a preset cannot stop: programs that the agent may run can do what any of your programs can do, and tests are programs. The sandbox decides what an agent can change, not which tools it uses; the guide explains [what that means](guides/agents.md#the-sandbox) for each preset.',
    table(
      ['client', 'how it enforces presets, tested with missions'],
      HELD_OTHERWISE.map(row => [...row]),
    ),
    '## As members of a team',
    'What a client does as a [member](guides/teams.md), tested with missions of the real client and a scripted model.',
    memberTable(agents),
    '## When a provider is in trouble',
    'What a client reports and does by itself. The [guide](guides/agents.md#when-a-provider-refuses) explains how the fleet reacts.',
    table(
      ['client', 'while it retries', 'a 429 for an hour', '500 and 529', '401 and 403'],
      IN_TROUBLE.map(row => [...row]),
    ),
    '## In a private repository',
    'How a client behaves in a folder whose `.git` is a file that points to a separate repository beside the project. In a linked worktree, Claude takes over the trust and the memory of the project.',
    table(
      ['client', 'trust', 'memory', 'settings', 'resume', 'fork', 'take-over'],
      IN_PRIVATE.map(row => [...row]),
    ),
    '## Models',
    'You can use the short name in brackets instead. Other names are passed on to the client unchanged, with a warning; `fleet agents --refresh` asks the clients for more.',
    modelTable(agents),
    '## Agents you declare',
    'What an agent in `agents.json` can do follows from its declaration: `fleet agents` shows it, and the [guide](guides/declared-agents.md) explains how to write one.',
  ].join('\n\n')
}
