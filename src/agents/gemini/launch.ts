import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Launch, LaunchRequest, Opening, Program } from '../contract.ts'
import { pick } from '../environment.ts'
import { inputFile, readingInput } from '../input.ts'
import { asStdio, isHttp, serversOf } from '../mcp-servers.ts'
import { refuseApprovals, refuseForks, rulesOf } from '../rules.ts'
import { policyOf } from './policy.ts'

/** The variables of the server that the client may see: where it is, how it signs in, how it reaches the network. */
const ENVIRONMENT = [
  ...['HOME', 'PATH', 'GEMINI_CLI_HOME'],
  ...['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_APPLICATION_CREDENTIALS'],
  ...['GOOGLE_GENAI_USE_GCA', 'GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_CLOUD_PROJECT', 'GOOGLE_CLOUD_LOCATION'],
  ...['GOOGLE_GEMINI_BASE_URL', 'GOOGLE_VERTEX_BASE_URL', 'GOOGLE_GENAI_API_VERSION', 'CODE_ASSIST_ENDPOINT'],
  ...['GEMINI_MODEL', 'GEMINI_TELEMETRY_ENABLED'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'],
]

const MAKE_HOME = fileURLToPath(new URL('./gemini-home.mjs', import.meta.url))
/** Makes the home if there are servers for it, then becomes the client. */
const WITH_HOME = 'node "$1" "$2" "$3" "$4" && shift 4 && exec "$@" <"$0"'

export function launchGemini(request: LaunchRequest): Launch {
  refuseForks(request, 'Gemini CLI')
  refuseApprovals(request, 'Gemini CLI')
  const rules = rulesOf(request)
  const servers = serversOf(request)
  const names = servers.map(([name]) => name)
  const everything = request.preset === 'full' && !request.allowedTools
  const file = (name: string) => join(request.directory, name)
  const flags = [
    ...['--output-format=stream-json', '--skip-trust'],
    request.resumes ? `--resume=${request.resumes}` : `--session-id=${request.conversation}`,
    ...(request.model ? [`--model=${request.model}`] : []),
    // If any command is allowed, there are no questions about commands. Otherwise a command that cannot be parsed is
    // denied.
    `--approval-mode=${rules.commands ? 'default' : 'yolo'}`,
    ...(everything ? [] : [`--policy=${file(POLICY)}`]),
    // Only the servers of this session. With none, this name matches no server.
    ...(names.length ? names : ['(none)']).map(name => `--allowed-mcp-server-names=${name}`),
    ...(rules.restricts ? ['--extensions=none'] : []),
    // It reads no file outside of its folders.
    ...(request.images.length ? [`--include-directories=${dirname(request.images[0]!.file)}`] : []),
  ]
  const env: Record<string, string> = {
    ...pick(request.environment, ENVIRONMENT),
    // It would restart itself with more memory, which takes twice the time and half as much memory again.
    GEMINI_CLI_NO_RELAUNCH: 'true',
    // The client reads settings before --skip-trust, so those of an untrusted repository stay unread.
    GEMINI_CLI_TRUST_WORKSPACE: String(!rules.restricts),
  }
  const client = ['gemini', ...flags] as const
  const files = { ...inputFile(shown(request)), ...(everything ? {} : { [POLICY]: policyOf(rules, names) }) }
  if (!servers.length) return { argv: readingInput(request, client), env, files, stdin: 'none' }
  const person = env.GEMINI_CLI_HOME ?? env.HOME ?? '/'
  return {
    argv: ['sh', '-c', WITH_HOME, file('input'), MAKE_HOME, person, file('home'), file(SETTINGS), ...client],
    env: { ...env, GEMINI_CLI_HOME: file('home') },
    files: { ...files, [SETTINGS]: settingsOf(servers) },
    stdin: 'none',
  }
}

/** It has no option for images, but reads the files that a prompt names in this way. */
function shown(request: LaunchRequest): LaunchRequest {
  const named = request.images.map(({ file }) => `@${file.replace(/[^A-Za-z0-9/._-]/g, '\\$&')}`)
  return named.length ? { ...request, prompt: `${request.prompt}\n\n${named.join('\n')}` } : request
}

const POLICY = 'policy.toml'
const SETTINGS = 'settings.json'

function settingsOf(servers: ReturnType<typeof serversOf>): string {
  // The client replaces variables itself.
  const entries = servers.map(([name, server]) => [
    name,
    isHttp(server) ? { httpUrl: server.url, headers: server.headers } : asStdio(server),
  ])
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) })
}

/** In a person's terminal the client asks the person itself, so the preset is not passed on. */
export const openGemini = ({ conversation, model }: Opening): Program => ({
  argv: ['gemini', `--resume=${conversation}`, ...(model ? [`--model=${model}`] : [])],
  env: {},
})
