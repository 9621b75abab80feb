import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Unfit } from '../../domain/errors.ts'
import type { Driver, Launch, LaunchRequest, Seat } from '../contract.ts'
import { which } from '../detect.ts'
import { type Json, object, parseObject, text } from '../json.ts'
import { Queue } from '../queue.ts'
import { launchClaude, sdkOptions } from './launch.ts'

const NAME = '@anthropic-ai/claude-agent-sdk'
/** The variable that says where it is, if it is not beside this program. */
const VARIABLE = 'FLEET_CLAUDE_SDK'

export const SDK_ADVICE = `Install it beside fleet: npm install -g ${NAME}; or say where it is with ${VARIABLE}.`
export const NO_SDK = 'The Claude Agent SDK was not found, and the engine sdk needs it.'

type Environment = Readonly<Record<string, string | undefined>>

/** The part of it that is used here. The package does not come with Flotilla, so its types do not either. */
interface Sdk {
  query(request: {
    prompt: AsyncIterable<Json>
    options: Json
  }): AsyncIterable<Json> & { interrupt(): Promise<unknown> }
}

/** Finds the package on this machine. Only its description is read. */
export function findSdk(environment: Environment): { folder: string; version: string } | undefined {
  const folder = environment[VARIABLE] ?? beside(dirname(fileURLToPath(import.meta.url)))
  const described = folder && join(folder, 'package.json')
  if (!described || !existsSync(described)) return undefined
  return { folder, version: text(parseObject(readFileSync(described, 'utf8'))?.version) }
}

/** Looks where any imported package would be: in `node_modules` here or further up. */
function beside(from: string): string | undefined {
  const folder = join(from, 'node_modules', NAME)
  if (existsSync(folder)) return folder
  return dirname(from) === from ? undefined : beside(dirname(from))
}

/** The same client under the same rules, driven by its maker's library inside the server. */
export function launchClaudeSdk(request: LaunchRequest): Launch {
  return { ...launchClaude(request), driver: driverFor(request) }
}

const driverFor =
  (request: LaunchRequest): Driver =>
  async seat => {
    const { query } = await loadSdk(request.environment)
    const asked = new Map<string, (decision: Json) => void>()
    const options = {
      ...sdkOptions(request),
      pathToClaudeCodeExecutable: (await which('claude', request.environment)) ?? 'claude',
      cwd: request.workingDirectory,
      // The client gets no other variables.
      env: seat.env,
      spawnClaudeCodeProcess: ({ command, args, env }: Starting) => seat.start(command, args, env),
      ...(request.approvals === 'ask' && { canUseTool: askPermission(seat, asked) }),
    }
    const words = new Queue<Json>()
    const session = query({ prompt: words, options })
    // A session that has just ended need not be interrupted.
    void hear(seat, { words, asked, interrupt: () => session.interrupt().catch(() => {}) })
    for await (const message of session) seat.print(JSON.stringify(message))
  }

interface Starting {
  command: string
  args: readonly string[]
  env: Record<string, string>
}

async function loadSdk(environment: Environment): Promise<Sdk> {
  const found = findSdk(environment)
  if (!found) throw new Unfit(NO_SDK, { try: SDK_ADVICE })
  // Imported by its path: in the bundle this becomes a require, which takes no URL.
  return (await import(resolve(found.folder, 'sdk.mjs'))) as Sdk
}

/** Prints a request for permission as the command-line client does, so that it is read and answered in the same way. */
function askPermission(seat: Seat, asked: Map<string, (decision: Json) => void>) {
  return (tool_name: string, input: Json, { requestId, toolUseID }: { requestId?: string; toolUseID: string }) => {
    const request_id = requestId ?? toolUseID
    const answer = new Promise<Json>(decide => asked.set(request_id, decide))
    seat.print(
      JSON.stringify({ type: 'control_request', request_id, request: { subtype: 'can_use_tool', tool_name, input } }),
    )
    return answer
  }
}

interface Ears {
  words: Queue<Json>
  asked: Map<string, (decision: Json) => void>
  interrupt(): Promise<unknown>
}

/** Translates lines for the command-line client into calls of the library. */
async function hear({ said }: Seat, { words, asked, interrupt }: Ears): Promise<void> {
  for await (const line of said) {
    const message = parseObject(line) ?? {}
    const { request_id, response } = object(message.response) ?? {}
    if (message.type === 'user') words.add({ ...message, parent_tool_use_id: null })
    else if (message.type === 'control_request') await interrupt()
    else asked.get(text(request_id))?.(object(response) ?? {})
  }
  words.end()
}
