import * as z from 'zod'
import { AcpDeclaration } from '../agents/acp/adapter.ts'
import { CustomDeclaration } from '../agents/custom/adapter.ts'
import { CodeDeclaration } from './adapter-contract.ts'
import { PluginField } from './fields.ts'

export const BEFORE = ['pre_dispatch', 'pre_plan', 'pre_land'] as const
export const AFTER = ['post_complete', 'post_fail', 'post_plan', 'on_question', 'on_event'] as const
export const HOOKS = [...BEFORE, ...AFTER] as const
export type Before = (typeof BEFORE)[number]
export type After = (typeof AFTER)[number]
export type Hook = Before | After

const MAX_REFUSAL_CHARS = 2000

/** How a plugin describes itself once its thread has loaded it. */
export const Manifest = z.strictObject({
  description: z.string().max(1000).default(''),
  hooks: z.array(z.enum(HOOKS)),
  tools: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9_]{1,60}$/, 'letters, digits and _, at most 60'),
        summary: z.string().min(1).max(2000),
        input: z.record(z.string(), z.unknown()),
        read_only: z.boolean(),
      }),
    )
    .max(100),
  agents: z.array(z.discriminatedUnion('kind', [AcpDeclaration, CustomDeclaration, CodeDeclaration])).max(100),
  settings: z.array(PluginField).max(50).default([]),
})
export type Manifest = z.infer<typeof Manifest>

const refuse = z.string().min(1).max(MAX_REFUSAL_CHARS).optional()

/** The answer of `pre_land`. */
export const Refused = z.strictObject({ refuse }).optional()
/** The answer of `pre_dispatch` and `pre_plan`; the caller checks the change. */
export const Verdict = z
  .strictObject({
    refuse,
    status: z.enum(['needs_input', 'failed']).default('needs_input'),
    change: z.record(z.string(), z.unknown()).optional(),
  })
  .optional()
export type Verdict = z.infer<typeof Verdict>

/** A message from the thread. It must be checked, because the plugin can reach the same port. */
export const Word = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready'), manifest: Manifest }),
  z.object({ kind: z.literal('unfit'), reason: z.string() }),
  z.object({ kind: z.literal('answer'), id: z.number(), json: z.string().optional() }),
  z.object({ kind: z.literal('threw'), id: z.number(), reason: z.string() }),
  z.object({
    kind: z.literal('ask'),
    id: z.number(),
    operation: z.string(),
    json: z.string(),
    key: z.string().optional(),
  }),
  z.object({ kind: z.literal('log'), text: z.string() }),
])

/** A message to the thread. */
export type Order =
  | { kind: 'call'; id: number; of: 'hooks' | 'tools'; name: string; input: unknown }
  | { kind: 'answered'; id: number; json: string | undefined }
  | { kind: 'refused'; id: number; reason: string }

/** What the thread gets at its start. */
export interface Given {
  file: string
  settings: Record<string, unknown>
}
