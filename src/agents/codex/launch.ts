import { dirname } from 'node:path'
import { NotAllowed } from '../../domain/errors.ts'
import { OWN_SERVER } from '../../domain/records/mcp-server.ts'
import type { ToolPreset } from '../../domain/records/project.ts'
import type { Agent, Launch, LaunchRequest, Opening, Program } from '../contract.ts'
import { pick } from '../environment.ts'
import type { Json } from '../json.ts'
import {
  asStdio,
  bySource,
  expanded,
  type HttpServer,
  isHttp,
  type McpServer,
  referencesIn,
  type StdioServer,
  serversOf,
} from '../mcp-servers.ts'
import { isRestricting, PRESETS } from '../presets.ts'

/** The presets that its sandbox can enforce. `test` needs a list of commands, which it does not have. */
export const CODEX_PRESETS: readonly ToolPreset[] = ['full', 'implement', 'fix', 'review', 'explore']

export const CODEX_MODELS: Agent['models'] = [
  { name: 'gpt-6.1-sol', alias: 'sol' },
  { name: 'gpt-6.1-terra', alias: 'terra' },
  { name: 'gpt-6-luna', alias: 'luna' },
  { name: 'gpt-6-astra', alias: 'astra' },
  { name: 'gpt-5.5' },
]

/** The variables of the server that the client may see: where it is, how it signs in, how it reaches the network. */
const ENVIRONMENT = [
  ...['HOME', 'PATH', 'CODEX_HOME', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
  ...['OPENAI_ORGANIZATION', 'OPENAI_PROJECT', 'CODEX_CA_CERTIFICATE', 'SSL_CERT_FILE'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'],
]

export const codexEnvironment = (environment: LaunchRequest['environment']): Record<string, string> =>
  pick(environment, ENVIRONMENT)

const SETTINGS = {
  // The client would wait for a missing server without end.
  'features.unbounded_connection_retries': false,
  // A session is one conversation. Helpers would speak in between, and a goal would go on after its last message.
  'features.multi_agent': false,
  'features.goals': false,
  // The person's shell profile would replace the PATH that the project sets.
  allow_login_shell: false,
  // These would outlive the session.
  'features.daemon_auto_start': false,
  // These fetch and report things at every start.
  'features.plugins': false,
  'features.remote_plugin': false,
  'features.plugin_discovery_prefetch': false,
  'features.apps': false,
  'analytics.enabled': false,
  check_for_update_on_startup: false,
  suppress_unstable_features_warning: true,
}

export function launchCodex(request: LaunchRequest): Launch {
  refuse(request)
  const settings = {
    ...SETTINGS,
    // Only if a person can answer. Otherwise the agent is told at once that it cannot ask.
    'features.default_mode_request_user_input': request.approvals === 'ask',
    'features.hooks': !isRestricting(PRESETS[request.preset]),
    ...(request.effort && { model_reasoning_effort: `"${request.effort}"` }),
  }
  return {
    argv: ['codex', 'app-server', ...Object.entries(settings).map(([key, value]) => `--config=${key}=${value}`)],
    env: { ...codexEnvironment(request.environment), RUST_LOG: LOGS },
    files: {},
    stdin: 'fifo',
  }
}

/**
 * The protocol reports the usage of an answer only after its tools are done, and does not say when a retry comes. The
 * log says both at once, without any text of the conversation. Everything else stays as it is without this variable.
 */
const LOGS = 'error,codex_otel.trace_safe=info,codex_core::responses_retry=warn'

/** The request that opens the conversation. It is sent as input, because servers bring tokens along. */
export function openingOf(request: LaunchRequest): { method: string; params: Json } {
  const { resumes, forks, model, systemPrompt, workingDirectory } = request
  const params = {
    ...(model ? { model: nameOf(model) } : {}),
    ...(systemPrompt ? { developerInstructions: systemPrompt } : {}),
    ...rulesFor(request),
  }
  // It starts in the right directory already. A directory that is named would be stored as trusted in the person's
  // settings.
  if (!resumes) return { method: 'thread/start', params }
  return {
    method: forks ? 'thread/fork' : 'thread/resume',
    params: { threadId: resumes, cwd: workingDirectory, excludeTurns: true, ...params },
  }
}

/** The client does not know our short names. */
const nameOf = (model: string): string => CODEX_MODELS.find(({ alias }) => alias === model)?.name ?? model

function rulesFor(request: LaunchRequest): Json {
  const { preset, approvals, directory, workingDirectory } = request
  const asks = approvals === 'ask'
  const servers = { mcp_servers: serversFor(request) }
  if (preset === 'full') return { sandbox: 'danger-full-access', approvalPolicy: 'never', config: servers }

  const approvalPolicy = asks ? 'on-request' : 'never'
  const config = { ...servers, web_search: 'disabled' }
  if (!isRestricting(PRESETS[preset])) {
    const network = { sandbox_workspace_write: { network_access: true } }
    return { sandbox: 'workspace-write', approvalPolicy, config: { ...config, ...network } }
  }
  const closed = { ...config, projects: untrusted(workingDirectory) }
  // If a person is asked, what they told the client to always allow is allowed.
  if (asks) return { sandbox: 'read-only', approvalPolicy, config: closed }
  return { approvalPolicy, config: { ...closed, ...readOnly(directory) } }
}

/**
 * Plain `read-only` lets commands that the person always allows run outside the sandbox. A profile that forbids reading
 * something does not.
 */
function readOnly(directory: string): Json {
  const profile = { extends: ':read-only', filesystem: { [directory]: 'deny' } }
  return { default_permissions: 'flotilla', permissions: { flotilla: profile } }
}

/** Rules, hooks and servers of the repository, on any level, would undo the preset. */
function untrusted(directory: string): Json {
  const parent = dirname(directory)
  const here = { [directory]: { trust_level: 'untrusted' } }
  return parent === directory ? here : { ...untrusted(parent), ...here }
}

/**
 * The servers of this session, besides those in the person's settings. Tools of the latter are refused unless the
 * person lets them run without asking.
 */
function serversFor(request: LaunchRequest): Json {
  const entries = serversOf(request).map(([name, server]) => [
    name,
    { ...written(server, request.environment), default_tools_approval_mode: 'approve' },
  ])
  return Object.fromEntries(entries)
}

/** What we send is in the transcript, so secrets are given by name. */
function written(server: McpServer, environment: LaunchRequest['environment']): Json {
  if (isHttp(server)) {
    const { url } = expanded(server, environment) as HttpServer
    const { bearer, named, plain } = bySource(server.headers, environment)
    return { url, http_headers: plain, env_http_headers: named, ...(bearer && { bearer_token_env_var: bearer }) }
  }
  const { command, args } = asStdio(expanded(server, environment) as StdioServer)
  const { named, plain } = bySource(server.env, environment)
  const passed = Object.entries(named).flatMap(([name, variable]) => (name === variable ? [name] : []))
  const renamed = Object.entries(named).flatMap(([name, variable]) =>
    name === variable ? [] : [[name, environment[variable] ?? '']],
  )
  return { command, args, env: { ...plain, ...Object.fromEntries(renamed) }, env_vars: passed }
}

function refuse(request: LaunchRequest): void {
  const { preset, allowedTools } = request
  serversOf(request)
  if (allowedTools) {
    throw new NotAllowed('Codex cannot be held to a list of tools.', {
      try: `Use one of its presets: ${CODEX_PRESETS.join(', ')}.`,
    })
  }
  if (!CODEX_PRESETS.includes(preset)) {
    throw new NotAllowed(`Codex cannot be held to the preset ${preset}: its sandbox cannot distinguish commands.`, {
      try: `Use one of: ${CODEX_PRESETS.join(', ')}; or an agent that can be held to it, such as claude.`,
    })
  }
}

/**
 * In a person's terminal the client must ask the person, and it has to be told so. Otherwise the conversation would
 * continue with the permissions of the mission's session.
 */
export const openCodex = ({ conversation, model, preset }: Opening): Program => ({
  argv: [
    ...(['codex', 'resume', '--ask-for-approval=on-request'] as const),
    `--sandbox=${isRestricting(PRESETS[preset]) ? 'read-only' : 'workspace-write'}`,
    ...(model ? [`--model=${nameOf(model)}`] : []),
    ...['--', conversation],
  ],
  env: {},
})

/** The file with the instructions of a member: the client takes them by argument only, where others could read them. */
export const CODEX_INSTRUCTIONS = 'instructions.md'

/** In a terminal it asks on its screen. Its sandbox is as wide as the preset, and never open. */
export function codexInTerminal(request: LaunchRequest): Pick<Launch, 'argv' | 'env' | 'files'> {
  refuse(request)
  refuseSecrets(request)
  const { preset, model, effort, resumes, systemPrompt, environment } = request
  const isNarrow = isRestricting(PRESETS[preset])
  const settings = {
    ...SETTINGS,
    'features.hooks': !isNarrow,
    ...(effort && { model_reasoning_effort: effort }),
    mcp_servers: serversFor(request),
  }
  return {
    argv: [
      ...(resumes ? (['codex', 'resume'] as const) : (['codex'] as const)),
      '--ask-for-approval=on-request',
      `--sandbox=${isNarrow ? 'read-only' : 'workspace-write'}`,
      ...(model ? [`--model=${nameOf(model)}`] : []),
      ...Object.entries(settings).map(([key, value]) => `--config=${key}=${inToml(value as Json)}`),
      ...(resumes ? ['--', resumes] : []),
    ],
    env: codexEnvironment(environment),
    files: systemPrompt ? { [CODEX_INSTRUCTIONS]: systemPrompt } : {},
  }
}

/** Arguments can be read by others, so no server of the project with a secret is passed on. */
function refuseSecrets(request: LaunchRequest): void {
  const named = serversOf(request).find(([name, server]) => name !== OWN_SERVER && referencesIn({ server }).length)
  if (!named) return
  throw new NotAllowed(`The MCP server ${named[0]} takes a secret, which Codex in a terminal would show to others.`, {
    try: 'Let this member run headless, or disable that server for the project.',
  })
}

function inToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inToml).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)} = ${inToml(each)}`)
  return `{ ${fields.join(', ')} }`
}
