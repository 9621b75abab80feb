import { Forbidden } from '../../domain/errors.ts'
import { AGENT_MCP } from '../../domain/records/mcp-server.ts'
import type { Fleet } from '../../fleet/fleet.ts'
import { INSIDE } from '../../operations/index.ts'
import type { Endpoint } from './http.ts'
import { type Offer, tool } from './offer.ts'

/** For agents at work: about their own mission, with the token of their session. */
export function inside(fleet: Fleet): Endpoint {
  const offer: Offer = {
    name: 'fleet',
    instructions:
      'You are at work on one mission of a fleet of agents. These tools tell you about it, hand parts of it to other agents, ask the person in charge, and take your report.',
    tools: INSIDE.map(({ name, summary, input, kind, output, run }) =>
      tool({
        name,
        summary,
        input,
        readOnly: kind === 'query',
        run: async (caller, given, { key, signal }) => output.parse(await run({ fleet, caller, key, signal }, given)),
      }),
    ),
  }
  return {
    path: AGENT_MCP,
    offer(caller) {
      if (caller.kind === 'session') return offer
      throw new Forbidden('This is for agents at work: it needs the token of a session.', { try: 'Use /mcp instead.' })
    },
  }
}
