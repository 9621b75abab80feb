import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NotAllowed } from '../../domain/errors.ts'
import type { Launch, LaunchRequest, Opening, Program } from '../contract.ts'
import { pick } from '../environment.ts'
import { readingInput } from '../input.ts'
import { inTheWay, isHttp, type McpServer, rewritten, serversOf } from '../mcp-servers.ts'
import { changesNothing } from '../presets.ts'
import { refuseApprovals, rulesOf } from '../rules.ts'
import { permissionsOf } from './permissions.ts'

/** The variables of the server that the client may see: where it is, how it signs in, how it reaches the network. */
const ENVIRONMENT = [
  ...['HOME', 'PATH', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME'],
  ...['OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR', 'OPENCODE_API_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY'],
  ...['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY', 'OPENROUTER_API_KEY', 'GROQ_API_KEY', 'MISTRAL_API_KEY'],
  ...['DEEPSEEK_API_KEY', 'XAI_API_KEY', 'GITHUB_TOKEN', 'AWS_REGION', 'AWS_PROFILE', 'AWS_BEARER_TOKEN_BEDROCK'],
  ...['OPENCODE_DISABLE_MODELS_FETCH', 'OPENCODE_DISABLE_DEFAULT_PLUGINS', 'OPENCODE_DISABLE_LSP_DOWNLOAD'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'],
]

export const opencodeEnvironment = (environment: LaunchRequest['environment']): Record<string, string> =>
  pick(environment, ENVIRONMENT)

/** We define our own agent, because the rules of the person's agents would be merged with ours. */
const AGENT = 'flotilla'
const INSTRUCTIONS = 'instructions.md'

/**
 * A wildcard could match a file named `--output=…`, and the client's rules cannot name a wildcard. So its shell, set by
 * a variable, expands none.
 */
const WITHOUT_WILDCARDS = { SHELL: '/bin/bash', SHELLOPTS: 'noglob' }

const COPY = fileURLToPath(new URL('./opencode-copy.mjs', import.meta.url))
/** Copies the conversation for this folder, then becomes the client on the copy. */
const ON_A_COPY = 'copy=$(node "$1" "$2" "$3") && shift 3 && exec "$@" --session="$copy" <"$0"'

export function launchOpencode(request: LaunchRequest): Launch {
  refuseApprovals(request, 'OpenCode')
  const rules = rulesOf(request)
  if (rules.tools.includes('Edit') !== rules.tools.includes('Write')) {
    throw new NotAllowed('OpenCode cannot be held to changing files without making new ones, or the other way round.', {
      try: 'Allow both Edit and Write, or neither; or use an agent that can be held to it, such as claude.',
    })
  }
  const { directory } = request
  const servers = serversOf(request)
  const everything = request.preset === 'full' && !request.allowedTools
  const permission = everything
    ? null
    : permissionsOf(
        rules,
        servers.map(([name]) => name),
      )
  const flags = [
    ...['run', '--format=json', '--thinking'],
    // Only the log says that it retries.
    ...['--print-logs', '--log-level=ERROR'],
    ...(request.resumes && !request.forks ? [`--session=${request.resumes}`] : []),
    // With an empty title the client uses the beginning of the prompt. Without one it pays a model for a title and does
    // not report the cost.
    ...(request.resumes ? [] : ['--title=']),
    ...(request.model ? [`--model=${request.model}`] : []),
    ...(request.effort ? [`--variant=${request.effort}`] : []),
    ...(permission ? [`--agent=${AGENT}`] : ['--auto']),
    ...request.images.map(({ file }) => `--file=${file}`),
  ]
  const config = {
    autoupdate: false,
    ...(permission && { agent: { [AGENT]: { mode: 'primary', permission } } }),
    ...(request.systemPrompt && { instructions: [join(directory, INSTRUCTIONS)] }),
    mcp: Object.fromEntries(servers.map(([name, server]) => [name, written(server)])),
  }
  return {
    argv:
      request.resumes && request.forks
        ? ['sh', '-c', ON_A_COPY, join(directory, 'input'), COPY, request.resumes, directory, 'opencode', ...flags]
        : readingInput(request, ['opencode', ...flags]),
    env: {
      ...opencodeEnvironment(request.environment),
      // This is merged over the person's configuration, so their account and models stay.
      OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
      // A client that updates itself would no longer be the one that was detected.
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      ...(rules.restricts && { OPENCODE_DISABLE_PROJECT_CONFIG: '1', OPENCODE_PURE: '1' }),
      ...(!request.allowedTools && changesNothing(request.preset) && WITHOUT_WILDCARDS),
    },
    files: { input: request.prompt, ...(request.systemPrompt && { [INSTRUCTIONS]: request.systemPrompt }) },
    stdin: 'none',
  }
}

/** In a terminal it asks on its screen about what the person's own settings do not decide. */
export function opencodeInTerminal(request: LaunchRequest): Pick<Launch, 'argv' | 'env' | 'files'> {
  const { argv: _, env, files } = launchOpencode({ ...request, approvals: 'deny', forks: false, images: [] })
  const { model, resumes, preset, allowedTools } = request
  const isHeld = preset !== 'full' || allowedTools !== null
  return {
    argv: [
      'opencode',
      ...(resumes ? [`--session=${resumes}`] : []),
      ...(model ? [`--model=${model}`] : []),
      ...(isHeld ? [`--agent=${AGENT}`] : []),
    ],
    env,
    files: { ...(files[INSTRUCTIONS] && { [INSTRUCTIONS]: files[INSTRUCTIONS] }) },
  }
}

/** In a person's terminal the client asks the person itself, so the preset is not passed on. */
export const openOpencode = ({ conversation, model }: Opening): Program => ({
  argv: ['opencode', `--session=${conversation}`, ...(model ? [`--model=${model}`] : [])],
  env: {},
})

function written(server: McpServer): object {
  const named = rewritten(
    server,
    inTheWay(name => `{env:${name}}`),
  )
  if (isHttp(named)) return { type: 'remote', oauth: false, ...named }
  return { type: 'local', command: named.command, environment: named.env }
}
