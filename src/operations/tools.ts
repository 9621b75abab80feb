import type * as z from 'zod'
import { TOOL_INPUTS } from './aliases/claude-fleet/tool-inputs.ts'
import { ALIASES, type Alias } from './aliases/index.ts'
import { asked, askOf } from './ask.ts'
import { OPERATIONS } from './index.ts'
import type { Context, Operation, Query } from './operation.ts'
import type { Offered } from './tool-sets.ts'

/** A tool that MCP offers: an operation, or an alias from another tool. */
export interface ToolDefinition {
  name: string
  summary: string
  set: Offered['set']
  input: z.ZodObject
  readOnly: boolean
  long: boolean
  /** Whether agents at work are offered it. */
  forAgents: boolean
  /** What clients of another tool send to a tool of this name, in its own fields. */
  asOurs?: (given: Record<string, unknown>) => Record<string, unknown>
  /** Absent for an alias, which may use several operations. */
  operation?: Query
  run(context: Context, input: Record<string, unknown>): Promise<unknown>
}

export const toolsOf = (operations: readonly Operation[]): readonly ToolDefinition[] => [
  ...ALIASES.map(ofAlias),
  ...operations.flatMap(operation => (operation.mcp && operation.kind !== 'stream' ? ofOperation(operation) : [])),
]

/** Every tool except those of plugins. */
export const TOOLS = toolsOf(OPERATIONS)

function ofAlias({
  name,
  summary,
  set,
  input,
  readOnly = false,
  long = false,
  forAgents = false,
  run,
}: Alias): ToolDefinition {
  return {
    ...{ name, summary, set, input, readOnly, long, forAgents },
    // An alias that changes nothing needs no key. What a person answers during it is a separate command.
    run: ({ fleet, key, ...asking }, given) =>
      run(askOf(fleet, readOnly ? asking : { ...asking, key }), given, asking.elicit, asking.caller),
  }
}

function ofOperation(operation: Query): ToolDefinition {
  const { name, summary, kind, mcp } = operation
  const offered = (typeof mcp === 'string' ? { set: mcp } : mcp) as Offered
  const called = offered.name ?? name
  return {
    name: called,
    asOurs: TOOL_INPUTS[called],
    forAgents: operation.agentMay !== undefined,
    summary: `${summary}.`,
    set: offered.set,
    input: withDefaults(operation.input, offered.defaults),
    readOnly: kind === 'query',
    long: offered.long ?? false,
    operation,
    run: async (context, input) => {
      const answer = await asked(context, operation, input)
      return offered.told ? offered.told(answer as never) : answer
    },
  }
}

function withDefaults(input: z.ZodObject, defaults: Record<string, unknown> = {}): z.ZodObject {
  const fields = Object.entries(defaults).map(([name, value]) => {
    const field = input.shape[name] as unknown as z.ZodDefault
    return [name, (field.unwrap() as z.ZodType).default(value).describe(field.description ?? '')]
  })
  return fields.length ? input.extend(Object.fromEntries(fields)) : input
}
