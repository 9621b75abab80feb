import { type Agent, type Capabilities, enginesOf, toolPresets } from '../src/agents/index.ts'
import { drivenName, type Engine } from '../src/domain/records/project.ts'
import { cell, code, table } from './markdown.ts'

const MEANINGS: Record<keyof Capabilities, string> = {
  resume: 'goes on with an earlier conversation',
  fork: 'goes on with a copy of one, and leaves the first as it was',
  liveMessages: 'when it hears what `fleet say` tells it',
  interrupt: 'stops what it does at `fleet interrupt` and waits for words, without ending its session',
  turnLimit:
    'who stops it at a limit of turns. client: it does so itself; outside: the fleet, once it has taken one more; no: it does not tell its turns, and such a limit is refused (a script takes none)',
  budgetLimit: 'stops by itself at a budget; where not, it is stopped from outside once it says that it spent more',
  cost: 'how its cost is known. money: it says so; priced: from its tokens and the [table of prices](guides/agents.md#prices); tokens: it is not; none: it tells nothing; free: there is none',
  usage: 'when it tells what it used; only what costs money, and is told while it works, can be held to a budget',
  contextWindow: 'tells while it works how full its context window is, and is stopped before it is full',
  approvals: 'waits for a person where its preset does not allow something (`--approvals ask`)',
  presets: 'which presets its client holds to by itself',
  sandboxed:
    'which others the sandbox of the operating system holds it to, where there is one; a preset in neither is refused',
  questions: 'puts questions of its own to a person and goes on with the answer (`--approvals ask`)',
  customTools: 'can be held to a list of tools (`--tools`)',
  effort: 'how hard it can be told to think (`--effort`)',
  mcp: "how it takes MCP servers, and with them the fleet's own tools: http, without a process of ours; stdio, through a bridge (`fleet mcp --agent`)",
  adopted: 'keeps running when the server dies, and is taken up by the next',
  takeOver: 'you can go on with its conversation in your own terminal (`fleet takeover`)',
  life: 'by what it is judged to be stuck. conversation: while no tool of it is at work, by what it says alone; processes: by what its processes do as well',
  scripts: 'runs the text of a mission as a script, and only where that mission names it',
  remoteControl: 'you can work in its worktree from elsewhere (`fleet remote`)',
}

/** Rows are abilities, columns agents: what `fleet agents --json` says under `can`. */
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
    ['preset', 'what it allows', 'held by the client', 'held by the sandbox', 'refused by'],
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

/** Where a client holds to a preset in another way than its words say; each is tried in test/agents/missions/clients-presets.test.ts. */
const HELD_OTHERWISE: readonly [string, string][] = [
  ['claude', 'where it has a shell, commands that it knows to read only (`ls`, `git log`) run under every preset'],
  ['codex', 'under `review` and `explore` it runs any command, in its sandbox, where nothing can be changed'],
  ['gemini', 'as the table says'],
  ['opencode', 'as the table says; `-/` and `/-` in a command are refused under `review` and `explore`'],
  ['Claude over ACP', 'as claude'],
  [
    'Gemini over ACP',
    'runs no command under `review`, `explore` and `test` but plain listings, has no tools of the fleet under a preset, and searches the web unasked',
  ],
]

/** What a client tells while its provider refuses or does not answer; each is tried in test/agents/missions/clients-retries.test.ts. */
const IN_TROUBLE: readonly (readonly string[])[] = [
  [
    'claude, claude (sdk), Claude over ACP',
    'each try with its status, its number of ten and when it is',
    'gives up at once where the wait is long, without a word of when: it is tried again after a while that grows',
    '529 three times, then it fails; 500 ten times in about three minutes',
    '401 ten times, so that it is stopped at the second; 403 at once',
  ],
  [
    'codex',
    'each try with its status, its number and, in its log, when it is; a 429 without `retry-after` is not tried again',
    'waits in silence for as long as it is told, so that it is put aside',
    'five times, each after five tries within; the status of 500 is not told',
    'five times, so that it is stopped at the second or third',
  ],
  [
    'gemini',
    'each try with its status and number, and when it is where the provider asked for a wait',
    'gives up at once and says until when',
    'ten times in some minutes',
    'at once',
  ],
  ['Gemini over ACP', 'nothing', 'gives up at once, without a word of when', 'nothing is told', 'at once'],
  [
    'opencode',
    "each try in the provider's words, without status, number and time",
    'waits as long as it is told and does not say so: it is put aside after `FLEET_PARK_AFTER`',
    'tries again without end, so that it is put aside after `FLEET_PARK_AFTER`',
    '401 at once; 403 is tried again without end',
  ],
]

/** Tried with the real clients (memory and settings: clients-settings-mission.test.ts), in a folder whose `.git` is a file that names a repository of its own. */
const IN_PRIVATE: readonly (readonly string[])[] = [
  [
    'claude',
    'asked once for each folder at a terminal, also where the project is trusted, with "No, exit" preselected; not asked in a mission',
    'of its own in each folder; that of the project is not read',
    'those of the folder are read',
    'yes',
    'yes, also of a conversation held in another repository',
    'opens, after the question of trust',
  ],
  [
    'codex',
    'not asked',
    '`AGENTS.md` is read',
    'those of the folder are not read, in a linked worktree neither: it would ask for trust first',
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
    'yes, of one held in another repository',
    'not tried',
  ],
]

export function agentsPage(agents: readonly Agent[]): string {
  const [able, unable] = [agents.filter(({ can }) => can.customTools), agents.filter(({ can }) => !can.customTools)]
  const names = (some: readonly Agent[]) => some.map(({ name }) => name).join(', ')
  return [
    'The same as `fleet agents --json` and the operation [list_agents](reference/operations.md#list_agents) say under `can`, for the agents that are built in. How to use them is in the [guide](guides/agents.md).',
    abilityTable(enginesOf(agents).map(({ agent: { name, can }, engine }) => ({ name, engine, can }))),
    '## Presets',
    `A mission with a preset or a list of tools that its agent cannot be held to is refused before it starts. A list of tools can be given to ${names(able)}; it is refused by ${names(unable)}.`,
    presetTable(agents),
    'What a preset cannot stop: programs that the agent may run do what any program of yours can do, and tests are programs. The sandbox decides what an agent can change, not which tools it uses; [what that means](guides/agents.md#the-sandbox) for each preset is in the guide.',
    table(
      ['client', 'how it holds to presets, tried with missions'],
      HELD_OTHERWISE.map(row => [...row]),
    ),
    '## When a provider is in trouble',
    'What a client tells of it and does by itself. What the fleet makes of that is in the [guide](guides/agents.md#when-a-provider-refuses).',
    table(
      ['client', 'while it tries again', 'a 429 for an hour', '500 and 529', '401 and 403'],
      IN_TROUBLE.map(row => [...row]),
    ),
    '## In a private repository',
    'What a client makes of a folder whose `.git` is a file that points to a repository of its own, beside the project. In a linked worktree Claude takes over the trust and the memory of the project.',
    table(
      ['client', 'trust', 'memory', 'settings', 'resume', 'fork', 'take-over'],
      IN_PRIVATE.map(row => [...row]),
    ),
    '## Models',
    'A short name in brackets may be used instead. Other names are passed on to the client as they are, with a warning; `fleet agents --refresh` asks the clients for more.',
    modelTable(agents),
    '## Agents you declare',
    'What an agent in `agents.json` can do follows from its declaration: `fleet agents` shows it, and the [guide](guides/declared-agents.md) says how to write one.',
  ].join('\n\n')
}
