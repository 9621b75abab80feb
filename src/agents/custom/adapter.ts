import { basename } from 'node:path'
import * as z from 'zod'
import { NotAllowed } from '../../domain/errors.ts'
import { TOOL_PRESETS, type ToolPreset } from '../../domain/records/project.ts'
import type { Agent, AgentEvent, Digest, Ending, Exit, Launch, LaunchRequest } from '../contract.ts'
import { Declaration, detectDeclared, environmentFor } from '../declaration.ts'
import { endedEarly, rateLimited, short } from '../endings.ts'
import { inputFile, readingInput, scriptFile } from '../input.ts'
import { asFile, expanded, serversOf } from '../mcp-servers.ts'
import { besides } from '../presets.ts'
import { EventRule, readMapped } from './read.ts'

const Arguments = z.array(z.string()).max(100)

const CustomFields = Declaration.extend({
  kind: z.literal('custom'),
  prompt: z
    .enum(['file', 'stdin'])
    .default('file')
    .describe('file: {prompt_file} in the command is replaced by its path'),
  scripts: z
    .boolean()
    .default(false)
    .describe(
      'it runs the prompt as a script, byte for byte, and only for missions that name it; always true if the command passes the prompt to a shell',
    ),
  /** Arguments for further features. A feature that is not named here is not offered. */
  arguments: z
    .strictObject({
      model: Arguments.optional().describe('with {model}'),
      resume: Arguments.optional().describe('with {conversation}'),
      mcp: Arguments.optional().describe('with {mcp_file}'),
      presets: z.partialRecord(z.enum(TOOL_PRESETS), Arguments).default({ full: [] }),
    })
    .default({ presets: { full: [] } })
    .describe('arguments for further features; they also say what the agent can do'),
  context_limit: z
    .number()
    .int()
    .positive()
    .max(1e9)
    .optional()
    .describe('the size of its context window in tokens, if its output does not say'),
  mcp_by: z
    .enum(['http', 'stdio'])
    .default('http')
    .describe("how it reaches MCP servers; stdio: it only starts programs, and gets a bridge to the fleet's server"),
  events: z.array(EventRule).max(100).default([]).describe('rules that read its lines of JSON'),
  other_lines: z.enum(['text', 'raw']).default('text').describe('how a line is read that no rule matches'),
})

export const CustomDeclaration = CustomFields.refine(
  ({ prompt, command }) => prompt === 'stdin' || command.some(each => each.includes('{prompt_file}')),
  { path: ['command'], message: 'must name the file with the prompt as {prompt_file}, or "prompt" must be "stdin"' },
).refine(
  ({ context_limit, events }) => context_limit === undefined || events.some(({ event }) => event === 'context'),
  {
    path: ['context_limit'],
    message: 'needs a rule for the event "context": without it nobody knows how much is used',
  },
)
export type CustomDeclaration = z.infer<typeof CustomDeclaration>

/** An agent that a person declares: how it is started and how its lines are read. */
export function customAgent(declared: CustomDeclaration): Agent {
  const { name, title = name, provider = name, models, events, other_lines } = declared
  const { presets, ...adds } = declared.arguments
  const held = Object.keys(presets) as ToolPreset[]
  const says = (event: EventRule['event']) => events.some(rule => rule.event === event)
  return {
    name,
    title,
    provider,
    can: {
      resume: adds.resume !== undefined && says('started'),
      fork: false,
      liveMessages: 'no',
      interrupt: false,
      turnLimit: tellsTurns(events) ? 'outside' : 'no',
      budgetLimit: false,
      cost: costOf(declared),
      usage: says('usage') ? 'while working' : 'never',
      contextWindow: says('context'),
      approvals: false,
      presets: held,
      sandboxed: besides(held),
      questions: false,
      customTools: false,
      mcp: adds.mcp ? declared.mcp_by : 'no',
      adopted: true,
      takeOver: false,
      remoteControl: false,
      life: 'processes',
      scripts: runsScripts(declared),
      images: false,
      effort: [],
    },
    models,
    detect: variables => detectDeclared(declared, variables),
    launch: request => launch(declared, request),
    read: (line, stream) => readMapped(events, other_lines, line, stream).map(event => windowed(declared, event)),
    folders: declared.folders,
    outcome: (digest, exit) => outcome(says('result'), digest, exit),
  }
}

const SHELLS = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'fish', 'busybox']

/** A shell that gets the prompt runs it, whatever the declaration says. */
function runsScripts({ scripts, prompt, command: [program, ...rest] }: CustomDeclaration): boolean {
  const [first] = rest.filter(each => !each.startsWith('-') && each !== 'sh')
  const isShell = SHELLS.includes(basename(program))
  const readsPrompt = first === '{prompt_file}' || (first === undefined && prompt === 'stdin')
  return scripts || (isShell && readsPrompt)
}

/** Tokens have a price only if their model is known. */
function costOf({ events, arguments: adds }: CustomDeclaration): Agent['can']['cost'] {
  const usage = events.filter(rule => rule.event === 'usage')
  if (usage.some(rule => rule.cost_usd !== undefined)) return 'money'
  if (!usage.length) return 'none'
  return adds.model || events.some(rule => rule.event === 'started' && rule.model) ? 'priced' : 'tokens'
}

const windowed = ({ context_limit }: CustomDeclaration, event: AgentEvent): AgentEvent =>
  event.type === 'context' && context_limit ? { ...event, window: event.window ?? context_limit } : event

function tellsTurns(events: readonly EventRule[]): boolean {
  return events.some(rule => rule.event === 'usage' && rule.turns !== undefined)
}

function launch(declared: CustomDeclaration, request: LaunchRequest): Launch {
  refuseLimits(declared, request)
  const { presets, model, resume, mcp } = declared.arguments
  const servers = Object.keys(request.mcpServers).length > 0
  const places: Record<string, string> = {
    prompt_file: `${request.directory}/input`,
    directory: request.directory,
    working_directory: request.workingDirectory,
    mcp_file: `${request.directory}/mcp.json`,
    model: request.model ?? '',
    conversation: request.resumes ?? '',
  }
  const [program, ...rest] = declared.command
  const argv: [string, ...string[]] = [
    program,
    ...[
      ...rest,
      ...(presets[request.preset] ?? []),
      ...((request.model && model) || []),
      ...((request.resumes && resume) || []),
      ...((servers && mcp) || []),
    ].map(argument => filled(argument, places)),
  ]
  return {
    argv: declared.prompt === 'stdin' ? readingInput(request, argv) : argv,
    env: environmentFor(declared, request.environment),
    files: {
      ...(runsScripts(declared) ? scriptFile(request) : inputFile(request)),
      ...(servers && mcp ? { 'mcp.json': mcpFile(request) } : {}),
    },
    stdin: 'none',
  }
}

/** An unknown word in braces stays as it is: it may mean something to the program. */
const filled = (argument: string, places: Record<string, string>): string =>
  argument.replace(/\{(\w+)\}/g, (whole, place: string) => places[place] ?? whole)

function mcpFile(request: LaunchRequest): string {
  return asFile(serversOf(request).map(([name, server]) => [name, expanded(server, request.environment)] as const))
}

function refuseLimits(
  { name, title = name, arguments: adds, events }: CustomDeclaration,
  request: LaunchRequest,
): void {
  const refuse = (what: string, hint: string) => {
    throw new NotAllowed(`${title} cannot ${what}.`, { try: hint })
  }
  const other = 'Use an agent that can, such as claude.'
  if (request.allowedTools) refuse('be held to a list of tools', other)
  if (!adds.presets[request.preset])
    refuse(
      `be held to the preset ${request.preset}`,
      `Use ${Object.keys(adds.presets).join(' or ') || 'another agent'}, or an agent that can.`,
    )
  if (request.approvals === 'ask') refuse('ask for permission', other)
  if (request.maxTurns && !tellsTurns(events))
    refuse('be held to a limit of turns: it does not report them', 'Limit its time instead, or use an agent that can.')
  if (request.forks) refuse('continue a copy of a conversation', other)
  if (request.resumes && !adds.resume) refuse('continue an earlier conversation', 'Start over: fleet retry')
  if (request.model && !adds.model) refuse('be told which model to use', 'Leave the model to it.')
}

/** The shell's own exit codes: there is no such program, or it cannot be run. */
const NOT_STARTED = [126, 127]

function outcome(saysHowItWent: boolean, digest: Digest, { code }: Exit): Ending {
  const { result } = digest
  const forgotten = digest.conversation === null && !NOT_STARTED.includes(code ?? 0)
  if (code === null) return { outcome: 'lost', reason: 'The client ended without anyone recording how.' }
  if (result && !result.ok) {
    if (digest.rateLimit) return rateLimited(digest)
    const reason = short(result.text || digest.lastError || `The client says: ${result.reason}.`)
    return { outcome: 'failed', reason, forgotten }
  }
  if (code !== 0)
    return digest.rateLimit ? rateLimited(digest) : { outcome: 'failed', reason: endedEarly(digest, code), forgotten }
  if (saysHowItWent && !result) return { outcome: 'failed', reason: endedEarly(digest, code) }
  return { outcome: 'completed', reason: 'The agent finished its turn.' }
}
