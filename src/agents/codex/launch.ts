import { dirname } from 'node:path'
import { NotAllowed } from '../../domain/errors.ts'
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
  type StdioServer,
  serversOf,
} from '../mcp-servers.ts'
import { isRestricting, PRESETS } from '../presets.ts'

/** Those its sandbox can hold to. It has no list of commands, as `test` would need. */
export const CODEX_PRESETS: readonly ToolPreset[] = ['full', 'implement', 'fix', 'review', 'explore']

export const CODEX_MODELS: Agent['models'] = [
  { name: 'gpt-6.1-sol', alias: 'sol' },
  { name: 'gpt-6.1-terra', alias: 'terra' },
  { name: 'gpt-6-luna', alias: 'luna' },
  { name: 'gpt-6-astra', alias: 'astra' },
  { name: 'gpt-5.5' },
]

/** What the client may see of the server's environment: where it is, how it signs in, how it reaches the network. */
const ENVIRONMENT = [
  ...['HOME', 'PATH', 'CODEX_HOME', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
  ...['OPENAI_ORGANIZATION', 'OPENAI_PROJECT', 'CODEX_CA_CERTIFICATE', 'SSL_CERT_FILE'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'],
]

export const codexEnvironment = (environment: LaunchRequest['environment']): Record<string, string> =>
  pick(environment, ENVIRONMENT)

const SETTINGS = {
  // A server that is gone would be waited for without end.
  'features.unbounded_connection_retries': false,
  // A session is one conversation: helpers would speak in between, and a goal would go on after its last word.
  'features.multi_agent': false,
  'features.goals': false,
  // The person's profile would take the place of the PATH that the project gives.
  allow_login_shell: false,
  // Would outlive the session.
  'features.daemon_auto_start': false,
  // What they fetch and report at every start.
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
    // Only with someone there to answer: otherwise the agent is told at once that it cannot ask.
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
 * Through its protocol it tells what an answer used only once the tools that the answer calls are done, and of a try
 * that comes later not when. Its log tells both at once, without any text of the conversation; everything else stays as
 * without the variable.
 */
const LOGS = 'error,codex_otel.trace_safe=info,codex_core::responses_retry=warn'

/** How the conversation is begun, as the client is told through its input: servers bring tokens along. */
export function openingOf(request: LaunchRequest): { method: string; params: Json } {
  const { resumes, forks, model, systemPrompt, workingDirectory } = request
  const params = {
    ...(model ? { model: nameOf(model) } : {}),
    ...(systemPrompt ? { developerInstructions: systemPrompt } : {}),
    ...rulesFor(request),
  }
  // Starting where it is already: a directory that is named is written down as trusted in the person's settings.
  if (!resumes) return { method: 'thread/start', params }
  return {
    method: forks ? 'thread/fork' : 'thread/resume',
    params: { threadId: resumes, cwd: workingDirectory, excludeTurns: true, ...params },
  }
}

/** The client knows no short names. */
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
  // Where a person is asked, what they have told the client to allow always is allowed.
  if (asks) return { sandbox: 'read-only', approvalPolicy, config: closed }
  return { approvalPolicy, config: { ...closed, ...readOnly(directory) } }
}

/**
 * Plain `read-only` lets commands that the person has allowed for good run outside the sandbox.
 * A profile that forbids reading something never does.
 */
function readOnly(directory: string): Json {
  const profile = { extends: ':read-only', filesystem: { [directory]: 'deny' } }
  return { default_permissions: 'flotilla', permissions: { flotilla: profile } }
}

/** What the repository brings along, on any level: rules, hooks and servers would undo the preset. */
function untrusted(directory: string): Json {
  const parent = dirname(directory)
  const here = { [directory]: { trust_level: 'untrusted' } }
  return parent === directory ? here : { ...untrusted(parent), ...here }
}

/** Beside those in the person's own settings, whose tools are refused unless they let them run unasked there. */
function serversFor(request: LaunchRequest): Json {
  const entries = serversOf(request).map(([name, server]) => [
    name,
    { ...written(server, request.environment), default_tools_approval_mode: 'approve' },
  ])
  return Object.fromEntries(entries)
}

/** What is said to it is part of the transcript, so that secrets are named there. */
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
    throw new NotAllowed(`Codex cannot be held to the preset ${preset}: its sandbox does not tell commands apart.`, {
      try: `Use one of: ${CODEX_PRESETS.join(', ')}; or an agent that can be held to it, such as claude.`,
    })
  }
}

/**
 * In a person's own hands the client asks them. It has to be told: otherwise the conversation goes on under what the
 * mission's session was allowed, and that was never asked about.
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
