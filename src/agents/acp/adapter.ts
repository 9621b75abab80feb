import * as z from 'zod'
import { NotAllowed } from '../../domain/errors.ts'
import { TOOL_PRESETS } from '../../domain/records/project.ts'
import type { Agent, Dialogue, Digest, Ending, Exit, LaunchRequest } from '../contract.ts'
import { Declaration, detectDeclared, environmentFor, Variable } from '../declaration.ts'
import { endedEarly, rateLimited, refusedBy, short } from '../endings.ts'
import { besides } from '../presets.ts'
import { acpDialogue } from './dialogue.ts'
import { listAcpModels } from './models.ts'
import { readAcp } from './read.ts'

export const AcpDeclaration = Declaration.extend({
  kind: z.literal('acp'),
  resume: z.boolean().default(false).describe('it can continue earlier conversations'),
  fork: z.boolean().default(false).describe('it can continue a copy of one'),
  images: z.boolean().default(false).describe('it takes images: its answer to initialize has promptCapabilities.image'),
  asks: z
    .strictObject({
      arguments: z.array(z.string()).max(100).default([]),
      set: z.record(Variable, z.string().max(4000)).default({}),
      mode: z.string().min(1).optional(),
      meta: z.record(z.string(), z.unknown()).optional(),
    })
    .optional()
    .describe(
      'what makes it ask before it changes, runs or fetches anything; without this it has the preset full only',
    ),
})
export type AcpDeclaration = z.infer<typeof AcpDeclaration>

/** Any agent that speaks the Agent Client Protocol, by its command. */
export function acpAgent(declared: AcpDeclaration): Agent {
  const { name, title = name, provider = name, asks, models } = declared
  return {
    name,
    title,
    provider,
    can: {
      resume: declared.resume,
      fork: declared.fork,
      liveMessages: 'next-turn',
      interrupt: true,
      turnLimit: 'outside',
      budgetLimit: false,
      cost: 'priced',
      usage: 'at the end',
      contextWindow: true,
      approvals: asks !== undefined,
      questions: false,
      presets: asks ? TOOL_PRESETS : ['full'],
      sandboxed: asks ? [] : besides(['full']),
      customTools: false,
      mcp: 'http',
      adopted: true,
      takeOver: false,
      remoteControl: false,
      life: 'conversation',
      scripts: false,
      images: declared.images,
      effort: [],
    },
    models,
    listModels: variables => listAcpModels(declared, variables),
    detect: variables => detectDeclared(declared, variables),
    launch(request) {
      refuseLimits(declared, request)
      const [program, ...args] = declared.command
      return {
        argv: [program, ...args, ...(request.preset === 'full' ? [] : asks!.arguments)],
        env: { ...environmentFor(declared, request.environment), ...(request.preset === 'full' ? {} : asks!.set) },
        files: {},
        stdin: 'fifo',
      }
    },
    read: readAcp,
    dialogue: acpDialogue(asks ?? null) as Dialogue,
    folders: declared.folders,
    outcome: (digest, exit) => outcome(title, digest, exit),
  }
}

function refuseLimits({ name, title = name, asks, resume, fork }: AcpDeclaration, request: LaunchRequest): void {
  const { preset, allowedTools, approvals, resumes, forks } = request
  const refuse = (what: string, hint: string) => {
    throw new NotAllowed(`${title} cannot ${what}.`, { try: hint })
  }
  if (allowedTools) refuse('be held to a list of tools', 'Use a preset, or an agent that can, such as claude.')
  const declare = `Use the preset full and no approvals, or say under "asks" in agents.json what makes ${name} ask.`
  if (!asks && preset !== 'full')
    refuse(`be held to the preset ${preset}: nobody said that it asks before it acts`, declare)
  if (!asks && approvals === 'ask') refuse('be relied on to ask: nobody said that it does', declare)
  if (resumes && forks && !fork) refuse('continue a copy of a conversation', 'Resume it, or start over.')
  if (resumes && !resume) refuse('continue an earlier conversation', 'Start over: fleet retry')
}

function outcome(title: string, digest: Digest, { code }: Exit): Ending {
  const { result } = digest
  if (code === null) return { outcome: 'lost', reason: 'The agent ended without anyone recording how.' }
  if (!result) return { outcome: 'failed', reason: endedEarly(digest, code) }
  // The exit code says nothing about the turn: several agents never exit by themselves and are ended.
  if (result.ok) return { outcome: 'completed', reason: 'The agent finished its turn.' }
  switch (result.reason) {
    case 'rate_limit':
      return rateLimited(digest)
    case 'not_signed_in':
      return refusedBy({ title }, 401, result.text)
    case 'forbidden':
      return refusedBy({ title }, 403, result.text)
    case 'max_tokens':
      return { outcome: 'limited', reason: 'It reached the limit of tokens of its model.' }
    case 'max_turn_requests':
      return { outcome: 'limited', reason: 'It reached its own limit of turns.' }
    case 'cancelled':
      return {
        outcome: 'failed',
        reason: 'Its turn was cancelled: it was not allowed to do what it wanted, or was interrupted.',
      }
    case 'refusal':
      return { outcome: 'failed', reason: 'The model refused to continue.' }
    default:
      return {
        outcome: 'failed',
        reason: short(result.text || digest.lastError || `The agent says: ${result.reason}.`),
        forgotten: digest.conversation === null,
      }
  }
}
