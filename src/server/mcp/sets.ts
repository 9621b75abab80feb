import type { FastifyRequest } from 'fastify'
import { InvalidInput } from '../../domain/errors.ts'
import type { Fleet } from '../../fleet/fleet.ts'
import type { ToolDefinition } from '../../operations/tools.ts'
import { type Tool, tool } from './offer.ts'

/** `?tools=missions,review`. Absent: the usual sets. */
export function setsIn<S extends string>({ query }: FastifyRequest, known: readonly S[], usual: readonly S[]): S[] {
  const { tools } = query as { tools?: string | string[] }
  if (tools === undefined) return [...usual]
  const wanted = [tools]
    .flat()
    .flatMap(text => text.split(','))
    .filter(Boolean)
  const unknown = wanted.find(name => !known.includes(name as S))
  if (unknown !== undefined || !wanted.length)
    throw new InvalidInput('tools', `there is no set ${JSON.stringify(unknown ?? '')}`, {
      try: `Name some of ${known.join(', ')}, separated by commas.`,
    })
  return [...new Set(wanted)] as S[]
}

export const toolFrom = (fleet: Fleet, { name, summary, input, readOnly, long, asOurs, run }: ToolDefinition): Tool =>
  tool({
    ...{ name, summary, input, readOnly, long, asOurs },
    run: (caller, given, call) => run({ fleet, caller, ...call }, given),
  })
