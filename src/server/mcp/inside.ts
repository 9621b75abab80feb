import { Forbidden } from '../../domain/errors.ts'
import { AGENT_MCP } from '../../domain/records/mcp-server.ts'
import type { Fleet } from '../../fleet/fleet.ts'
import { INSIDE_SET, TOOL_SETS, type ToolSet } from '../../operations/tool-sets.ts'
import { TOOLS } from '../../operations/tools.ts'
import type { Endpoint } from './http.ts'
import { setsIn, toolFrom } from './sets.ts'

const INSTRUCTIONS =
  'You are at work on one mission of a fleet of agents. These tools tell you about it, hand parts of it to other agents, ask the person in charge, and take your report.'

const SETS = [INSIDE_SET, ...(Object.keys(TOOL_SETS) as ToolSet[])] as const

/** For agents at work: about their own mission, with the token of their session. */
export function inside(fleet: Fleet, definitions = TOOLS): Endpoint {
  // Tools that a session may never use are not offered. If that depends on the input, it is decided at the call.
  const tools = definitions
    .filter(({ forAgents }) => forAgents)
    .map(definition => ({ set: definition.set, tool: toolFrom(fleet, definition) }))
  return {
    path: AGENT_MCP,
    offer(caller, request) {
      if (caller.kind !== 'session')
        throw new Forbidden('This is for agents at work: it needs the token of a session.', {
          try: 'Use /mcp instead.',
        })
      const sets = setsIn<(typeof SETS)[number]>(request, SETS, [INSIDE_SET])
      return {
        name: 'fleet',
        instructions: INSTRUCTIONS,
        tools: tools.filter(({ set }) => sets.includes(set)).map(each => each.tool),
      }
    },
  }
}
