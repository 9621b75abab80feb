import * as z from 'zod'
import { actorNamed } from './inputs.ts'
import { type Caller, command } from './operation.ts'

export const Ticket = z.object({
  ticket: z.string().describe('sent as the WebSocket protocol `ticket.<ticket>`, beside `fleet`'),
  expires_at: z.string(),
})

/** Names a caller, so that what each may have open is counted: a person, a session, a browser or token of the owner. */
export const callerKey = (caller: Caller): string =>
  caller.kind === 'owner' && caller.device ? `device:${caller.device}` : actorNamed(caller)

export const live = [
  command({
    name: 'open_live',
    // What can be followed is decided topic by topic.
    may: 'self.manage',
    // A tool answers once and holds no connection.
    mcp: false,
    summary: 'Get a ticket that opens /ws once, to follow topics; for pages, which cannot send a token there',
    http: 'POST /api/live',
    needsFleet: true,
    inServer: 'any',
    input: z.object({}),
    output: Ticket,
    run: async ({ fleet, caller }) =>
      fleet.tickets.issue({ opens: 'topics', by: callerKey(caller), caller }, Date.parse(fleet.now())),
  }),
]
