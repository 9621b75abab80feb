/** What the code of an adapter may answer. Every answer is checked before anyone relies on it. */
import * as z from 'zod'
import type { Capabilities, Detected, Ending, Launch, Message, Program } from '../agents/contract.ts'
import { Declaration } from '../agents/declaration.ts'
import { besides } from '../agents/presets.ts'
import { ToolPreset } from '../domain/records/project.ts'
import { Outcome } from '../domain/records/session.ts'
import { AgentEvent } from '../domain/records/transcript.ts'
import { MAX_REASON_CHARS } from '../domain/text.ts'
import { type AdapterFunction, FUNCTIONS, NEEDED, TALKING } from './adapter-seat.ts'

const Offers = z.strictObject({
  resume: z.boolean().default(false),
  fork: z.boolean().default(false),
  liveMessages: z.enum(['mid-turn', 'next-turn', 'no']).default('no'),
  interrupt: z.boolean().default(false),
  turnLimit: z.enum(['client', 'outside', 'no']).default('no'),
  budgetLimit: z.boolean().default(false),
  cost: z.enum(['money', 'priced', 'tokens', 'none', 'free']).default('none'),
  usage: z.enum(['while working', 'at the end', 'never']).default('never'),
  contextWindow: z.boolean().default(false),
  approvals: z.boolean().default(false),
  questions: z.boolean().default(false),
  presets: z.array(ToolPreset).max(20).default([]),
  customTools: z.boolean().default(false),
  effort: z.array(z.string().min(1).max(40)).max(20).default([]),
  mcp: z.enum(['http', 'stdio', 'no']).default('no'),
  takeOver: z.boolean().default(false),
  life: z.enum(['conversation', 'processes']).default('processes'),
  scripts: z.boolean().default(false),
  images: z.boolean().default(false),
})

/** What an adapter can do is offered to people, so it must have the function for it. */
const TAKES: readonly [keyof z.infer<typeof Offers>, AdapterFunction][] = [
  ['liveMessages', 'dialogue.say'],
  ['interrupt', 'dialogue.interrupt'],
  ['approvals', 'dialogue.answer'],
  ['questions', 'dialogue.answer'],
  ['takeOver', 'interactive'],
]

const Described = Declaration.pick({ name: true, title: true, provider: true, models: true, folders: true }).extend({
  kind: z.literal('code'),
  can: Offers.default(Offers.parse({})),
  functions: z.array(z.enum(FUNCTIONS)),
})

/** How a plugin describes its adapter; the functions stay in its thread. */
export const CodeDeclaration = Described.superRefine(({ can, functions }, context) => {
  const lacks = (name: AdapterFunction) => !functions.includes(name)
  const needed = functions.some(name => name.startsWith('dialogue.')) ? [...NEEDED, ...TALKING] : NEEDED
  for (const name of needed.filter(lacks))
    context.addIssue({ code: 'custom', path: [name], message: 'is not a function' })
  for (const [what, name] of TAKES)
    if (can[what] && can[what] !== 'no' && lacks(name))
      context.addIssue({ code: 'custom', path: ['can', what], message: `needs the function ${name}` })
})
export type CodeDeclaration = z.infer<typeof CodeDeclaration>

/** It runs under the wrapper like any other agent, so it can be adopted, and the sandbox adds presets. */
export const capabilitiesOf = ({ can }: CodeDeclaration): Capabilities => ({
  ...can,
  sandboxed: besides(can.presets),
  adopted: true,
  remoteControl: false,
})

const words = z.string()
const named = z.string().max(1000)
const moment = z.iso.datetime({ offset: true })

/** Events are stored, so they must match their schema. */
const Event = AgentEvent.superRefine((event, context) => {
  const problem = (path: string, { error }: z.ZodSafeParseResult<unknown>) =>
    error && context.addIssue({ code: 'custom', path: [path], message: error.issues[0]!.message })
  if (event.type === 'started') problem('conversation', named.nullable().safeParse(event.conversation))
  if (event.type === 'rate_limit') problem('until', moment.nullable().safeParse(event.until))
  if (event.type === 'provider_window') problem('resets_at', moment.nullable().safeParse(event.resets_at))
})

const argument = z.string().refine(text => !text.includes('\0'), 'must not contain a null character')
const variables = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable'), argument)
const argv = z.tuple([argument.min(1)], argument)

/** Files that the wrapper, the couriers and the server write there. */
const OURS = [
  'prompt',
  'dialogue.json',
  'claim',
  'pid',
  'stdout',
  'stderr',
  'stdin',
  'messages',
  'sent',
  'times',
  'own',
  'images',
  'exit',
]
const file = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/, 'must be a plain file name')
  .refine(name => !OURS.includes(name), 'is the name of a file of the fleet')

const message: z.ZodType<Message> = z.object({
  id: z.string().regex(/^[A-Za-z0-9_-]{1,200}$/, 'must be letters, digits, _ and -'),
  line: z.string().regex(/^[^\n]*$/, 'must be one line'),
})

/** The answer of each function. */
export const ANSWERS = {
  detect: z.object({
    installed: z.boolean(),
    path: words.max(4000).optional(),
    version: named.optional(),
    signedIn: z.boolean().optional(),
    advice: words.max(MAX_REASON_CHARS).optional(),
  }) satisfies z.ZodType<Detected>,
  listModels: z.array(z.string().min(1).max(200)).max(1000),
  launch: z.object({
    argv,
    env: variables,
    files: z.record(file, z.union([words, z.object({ content: words, mode: z.number().int().min(0).max(0o777) })])),
    stdin: z.enum(['none', 'fifo']),
  }) satisfies z.ZodType<Launch>,
  interactive: z.object({ argv, env: variables }) satisfies z.ZodType<Program>,
  read: z.array(z.array(Event).max(10_000)),
  outcome: z.object({
    outcome: Outcome,
    reason: words.min(1).transform(text => text.slice(0, MAX_REASON_CHARS)),
    until: moment.optional(),
    uncounted: z.boolean().optional(),
    forgotten: z.boolean().optional(),
  }) satisfies z.ZodType<Ending>,
  'dialogue.begin': z.record(z.string(), z.unknown()),
  'dialogue.step': z.record(z.string(), z.unknown()),
  'dialogue.due': z.array(message).max(1000),
  'dialogue.isOver': z.boolean(),
  'dialogue.say': message.optional(),
  'dialogue.answer': message.optional(),
  'dialogue.interrupt': message.optional(),
} satisfies Record<AdapterFunction, z.ZodType>

export const AdapterWord = z.union([
  z.strictObject({ id: z.number(), json: z.string().optional() }),
  z.strictObject({ id: z.number(), threw: z.string() }),
])
