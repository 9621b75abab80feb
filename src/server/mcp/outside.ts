import type { FastifyRequest } from 'fastify'
import { Forbidden, InvalidInput } from '../../domain/errors.ts'
import type { Fleet } from '../../fleet/fleet.ts'
import { ALIAS_SETS, ALIASES, type AliasSet, type Ask } from '../../operations/aliases.ts'
import { operationNamed } from '../../operations/index.ts'
import type { Context } from '../../operations/operation.ts'
import { parseInput } from '../../operations/shape.ts'
import type { Endpoint } from './http.ts'
import { type Offer, type Tool, tool } from './offer.ts'
import { outsidePrompts } from './prompts.ts'
import { outsideResources } from './resources.ts'

const INSTRUCTIONS = `Flotilla runs coding agents on git repositories. A mission is one piece of work: an agent does it in a worktree of its own, it is checked, and what is good lands on the base branch. Make a project for a repository (create_project), describe missions with everything the agent needs to know (create_mission; depends_on puts them in order), send agents (dispatch_mission or auto_dispatch), then wait_for_mission and get_report. An answer "running" means: call wait_for_mission again. A worker is a mission made and sent in one step whose work stays on its branch.`

/** What clients outside the fleet may ask for: the whole of it, for whoever holds the owner's token. */
export function outside(fleet: Fleet): Endpoint {
  const tools = ALIASES.map(({ set, ...definition }) => ({ set, tool: toolOf(fleet, definition) }))
  const resources = outsideResources(askOf(fleet))
  const prompts = outsidePrompts(askOf(fleet))
  return {
    path: '/mcp',
    legacySse: true,
    offer(caller, request): Offer {
      if (caller.kind !== 'owner')
        throw new Forbidden('The token of a session does not open this.', { try: 'Sessions have tools of their own.' })
      const sets = setsIn(request)
      return {
        name: 'flotilla',
        instructions: INSTRUCTIONS,
        tools: tools.filter(({ set }) => sets.includes(set)).map(({ tool }) => tool),
        resources,
        prompts,
      }
    },
  }
}

const toolOf = (fleet: Fleet, { run, ...definition }: Omit<(typeof ALIASES)[number], 'set'>): Tool =>
  tool({ ...definition, run: (caller, input, call) => run(askOf(fleet, { ...call, caller }), input) })

type Asking = Omit<Context, 'fleet'>
const OWNER: Asking = { caller: { kind: 'owner' }, signal: new AbortController().signal }

/** Operations as they are asked for within one call: with its key, its signal and whoever hears how far it is. */
function askOf(fleet: Fleet, asking: Asking = OWNER): Ask {
  return async <T>(name: string, input: object) => {
    const operation = operationNamed(name)
    if (!operation || operation.kind === 'stream') throw new Error(`${name} is not an operation that answers`)
    const answer = await operation.run({ fleet, ...asking }, parseInput(operation, input))
    return operation.output.parse(answer) as T
  }
}

/** `?tools=missions,workers`; absent: all, as a client sees them in its context. */
function setsIn({ query }: FastifyRequest): readonly AliasSet[] {
  const { tools } = query as { tools?: string | string[] }
  if (tools === undefined) return ALIAS_SETS
  const wanted = [tools]
    .flat()
    .flatMap(text => text.split(','))
    .filter(Boolean)
  const unknown = wanted.find(name => !ALIAS_SETS.includes(name as AliasSet))
  if (unknown !== undefined || !wanted.length)
    throw new InvalidInput('tools', `there is no set ${JSON.stringify(unknown ?? '')}`, {
      try: `Name some of ${ALIAS_SETS.join(', ')}, separated by commas.`,
    })
  return wanted as AliasSet[]
}
