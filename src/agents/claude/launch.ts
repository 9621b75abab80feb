import { InvalidInput } from '../../domain/errors.ts'
import type { Launch, LaunchRequest } from '../contract.ts'
import { pick } from '../environment.ts'
import type { Json } from '../json.ts'
import { asFile, serversOf } from '../mcp-servers.ts'
import { isRestricting, PRESETS } from '../presets.ts'
import { uuidOf } from './dialogue.ts'
import { NEVER } from './tools.ts'

/** The variables of the server that the client may see: where it is, how it signs in, how it reaches the network. */
export const CLAUDE_ENVIRONMENT = [
  ...['HOME', 'PATH', 'CLAUDE_CONFIG_DIR'],
  ...[
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
    'ANTHROPIC_CUSTOM_HEADERS',
    'CLAUDE_CODE_OAUTH_TOKEN',
  ],
  ...['ANTHROPIC_MODEL', 'ANTHROPIC_SMALL_FAST_MODEL', 'ANTHROPIC_BETAS'],
  ...['ANTHROPIC_DEFAULT_OPUS_MODEL', 'ANTHROPIC_DEFAULT_SONNET_MODEL', 'ANTHROPIC_DEFAULT_HAIKU_MODEL'],
  ...['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY', 'CLAUDE_CODE_SUBAGENT_MODEL'],
  ...['CLAUDE_CODE_MAX_RETRIES', 'CLAUDE_CODE_MAX_OUTPUT_TOKENS', 'API_TIMEOUT_MS', 'MAX_THINKING_TOKENS'],
  ...['CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC', 'DISABLE_TELEMETRY', 'DISABLE_ERROR_REPORTING'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'],
]

/** The tools that the preset `full` adds to the named ones for this client. */
const FULL_EXTRAS = ['NotebookEdit', 'Task', 'Skill', 'Workflow', 'Monitor']

/**
 * `git diff --output=file` writes a file, although `git diff` only reads. A wildcard could also match a file with the
 * name of that option.
 */
const NEVER_TO_FILE = ['Bash(git * --output*)', 'Bash(git *\\**)', 'Bash(git *?*)', 'Bash(git *[*)']

/** Reads the input of the tool and decides by its exit code. Input it cannot read is refused. */
const NO_NEW_FILES = `case "$(cat)" in
*'"old_string":""'*) echo 'Only files that are there may be changed; this would make a new one.' >&2; exit 2 ;;
*'"old_string":"'*) exit 0 ;;
*) exit 2 ;;
esac`

/** Replacing nothing by something creates a file. The client's rules cannot tell this from an edit, but a hook can. */
const CHANGES_ONLY = {
  hooks: { PreToolUse: [{ matcher: 'Edit', hooks: [{ type: 'command', command: NO_NEW_FILES }] }] },
}

// One rule per argument, because the client splits lists at commas and spaces outside brackets.
const TOOL_RULE = /^(mcp__[\w*-]+|[A-Za-z]\w*)(\([^()\n]+\))?$/

interface Rules {
  /** The built-in tools that exist; null: the client's own choice. */
  tools: readonly string[] | null
  allowed: readonly string[]
  denied: readonly string[]
  /** Our settings, besides or instead of the person's. */
  settings: object | null
  /** Whether the settings, hooks and memory of the repository and the person are read. */
  readsSettings: boolean
}

export function launchClaude(request: LaunchRequest): Launch {
  const rules = rulesFor(request)
  const servers = serversOf(request)
  const flags = [
    ...['-p', '--verbose', '--input-format=stream-json', '--output-format=stream-json', '--replay-user-messages'],
    // Only these events report the usage of each answer. Without them a stopped session would lose its usage.
    '--include-partial-messages',
    ...(request.approvals === 'ask'
      ? ['--permission-mode=default', '--permission-prompt-tool=stdio']
      : ['--permission-mode=dontAsk']),
    '--strict-mcp-config',
    request.resumes ? `--resume=${uuidOf(request.resumes)}` : `--session-id=${uuidOf(request.conversation)}`,
    ...(request.resumes && request.forks ? ['--fork-session'] : []),
    ...(request.model ? [`--model=${request.model}`] : []),
    ...(request.effort ? [`--effort=${request.effort}`] : []),
    ...(request.maxTurns ? [`--max-turns=${request.maxTurns}`] : []),
    ...(request.maxBudgetUsd ? [`--max-budget-usd=${request.maxBudgetUsd}`] : []),
    ...(request.systemPrompt ? [`--append-system-prompt-file=${request.directory}/system-prompt`] : []),
    ...(servers.length ? [`--mcp-config=${request.directory}/mcp.json`] : []),
    ...(rules.readsSettings ? [] : ['--setting-sources=']),
    ...(rules.settings ? [`--settings=${JSON.stringify(rules.settings)}`] : []),
    ...(rules.tools ? [`--tools=${rules.tools.join(',')}`] : []),
    ...[...rules.allowed, ...servers.map(([name]) => `mcp__${name}`)].map(rule => `--allowedTools=${rule}`),
    ...rules.denied.map(rule => `--disallowedTools=${rule}`),
  ]
  return {
    argv: ['claude', ...flags],
    // A client that updates itself would no longer be the one that was detected.
    env: { ...pick(request.environment, CLAUDE_ENVIRONMENT), DISABLE_AUTOUPDATER: '1' },
    files: {
      ...(request.systemPrompt ? { 'system-prompt': request.systemPrompt } : {}),
      ...(servers.length ? { 'mcp.json': asFile(servers) } : {}),
    },
    stdin: 'fifo',
  }
}

/** In a terminal it asks on its screen, and whoever looks answers there. */
export function claudeInTerminal(asked: LaunchRequest): Pick<Launch, 'argv' | 'env' | 'files'> {
  const request: LaunchRequest = { ...asked, approvals: 'ask' }
  const rules = rulesFor(request)
  const servers = serversOf(request)
  const flags = [
    '--permission-mode=default',
    '--strict-mcp-config',
    request.resumes ? `--resume=${uuidOf(request.resumes)}` : `--session-id=${uuidOf(request.conversation)}`,
    ...(request.model ? [`--model=${request.model}`] : []),
    ...(request.effort ? [`--effort=${request.effort}`] : []),
    ...(request.systemPrompt ? [`--append-system-prompt-file=${request.directory}/system-prompt`] : []),
    ...(servers.length ? [`--mcp-config=${request.directory}/mcp.json`] : []),
    ...(rules.readsSettings ? [] : ['--setting-sources=']),
    ...(rules.settings ? [`--settings=${JSON.stringify(rules.settings)}`] : []),
    ...servers.map(([name]) => `--allowedTools=mcp__${name}`),
    ...rules.denied.map(rule => `--disallowedTools=${rule}`),
  ]
  const { env, files } = launchClaude(request)
  return { argv: ['claude', ...flags], env, files }
}

/**
 * The same rules as options of its SDK. Servers are passed by file here too, because the SDK would put their tokens
 * into arguments.
 */
export function sdkOptions(request: LaunchRequest): Json {
  const rules = rulesFor(request)
  const servers = serversOf(request)
  return {
    permissionMode: request.approvals === 'ask' ? 'default' : 'dontAsk',
    strictMcpConfig: true,
    ...(request.resumes
      ? { resume: uuidOf(request.resumes), forkSession: request.forks }
      : { sessionId: uuidOf(request.conversation) }),
    ...(request.model && { model: request.model }),
    ...(request.effort && { effort: request.effort }),
    ...(request.maxTurns && { maxTurns: request.maxTurns }),
    ...(request.maxBudgetUsd && { maxBudgetUsd: request.maxBudgetUsd }),
    systemPrompt: {
      type: 'preset',
      preset: 'claude_code',
      ...(request.systemPrompt && { append: request.systemPrompt }),
    },
    includePartialMessages: true,
    settingSources: rules.readsSettings ? ['user', 'project', 'local'] : [],
    ...(rules.tools && { tools: rules.tools }),
    allowedTools: [...rules.allowed, ...servers.map(([name]) => `mcp__${name}`)],
    disallowedTools: rules.denied,
    extraArgs: {
      'replay-user-messages': null,
      ...(rules.settings && { settings: JSON.stringify(rules.settings) }),
      ...(servers.length && { 'mcp-config': `${request.directory}/mcp.json` }),
    },
  }
}

function rulesFor(request: LaunchRequest): Rules {
  const rules = presetRules(request)
  const settings = rules.tools?.includes('Edit') && !rules.tools.includes('Write') ? CHANGES_ONLY : null
  // A tool that a person may allow must exist, or nobody would be asked about it.
  return { ...rules, settings, tools: request.approvals === 'ask' ? null : rules.tools }
}

function presetRules({ preset: name, allowedTools }: LaunchRequest): Omit<Rules, 'settings'> {
  if (allowedTools) return custom(allowedTools)
  const preset = PRESETS[name]
  if (!isRestricting(preset)) {
    const full = name === 'full'
    return {
      tools: full ? null : preset.tools,
      allowed: full ? [...preset.tools, ...FULL_EXTRAS] : preset.tools,
      denied: NEVER,
      readsSettings: true,
    }
  }
  return {
    tools: preset.tools,
    allowed: preset.tools.flatMap(tool =>
      tool === 'Bash' ? preset.commands!.map(start => `Bash(${start}:*)`) : [tool],
    ),
    denied: [...NEVER, ...NEVER_TO_FILE],
    readsSettings: false,
  }
}

function custom(allowedTools: readonly string[]): Omit<Rules, 'settings'> {
  const tools = allowedTools.map(rule => {
    const name = TOOL_RULE.exec(rule)?.[1]
    if (name) return name
    throw new InvalidInput('allowed_tools', `${JSON.stringify(rule)} is not a tool`, {
      try: 'Write a name such as Read, or a name with a rule such as Bash(npm test:*).',
    })
  })
  return {
    tools: [...new Set(tools)].filter(tool => !tool.startsWith('mcp__')),
    allowed: allowedTools,
    denied: [],
    readsSettings: false,
  }
}
