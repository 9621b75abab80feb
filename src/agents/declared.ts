import * as z from 'zod'
import { InvalidInput, type Refusal } from '../domain/errors.ts'
import { textOf } from '../platform/whole-files.ts'
import { AcpDeclaration, acpAgent } from './acp/adapter.ts'
import type { Agent } from './contract.ts'
import { CustomDeclaration, customAgent } from './custom/adapter.ts'

/** Where a person declares agents, in the home. */
export const DECLARED_FILE = 'agents.json'

export const DeclaredAgents = z.strictObject({
  agents: z.array(z.discriminatedUnion('kind', [AcpDeclaration, CustomDeclaration])).max(100),
})

export interface Declared {
  agents: readonly Agent[]
  /** Why the file could not be read. */
  fault: Refusal | null
}

const NONE: Declared = { agents: [], fault: null }

/** The agents that a file declares. A broken file declares none and says which field is wrong. It never throws. */
export function readDeclared(file: string, taken: readonly string[]): Declared {
  let text: string | undefined
  try {
    text = textOf(file)
  } catch (error) {
    return broken('cannot be read', (error as Error).message)
  }
  if (text === undefined) return NONE
  const parsed = parse(text)
  if (parsed instanceof InvalidInput) return { agents: [], fault: parsed }
  const names = [...taken, ...parsed.map(each => each.name)]
  const twice = parsed.findIndex((each, index) => names.indexOf(each.name) < taken.length + index)
  if (twice >= 0)
    return broken(`agents.${twice}.name`, `${JSON.stringify(parsed[twice]!.name)} is the name of another agent`)
  return { agents: agentsFrom(parsed), fault: null }
}

export const agentsFrom = (declared: z.infer<typeof DeclaredAgents>['agents']): Agent[] =>
  declared.map(each => (each.kind === 'acp' ? acpAgent(each) : customAgent(each)))

function parse(text: string): z.infer<typeof DeclaredAgents>['agents'] | InvalidInput {
  let said: unknown
  try {
    said = JSON.parse(text)
  } catch (error) {
    return wrong('it is not JSON', (error as Error).message)
  }
  const { success, data, error } = DeclaredAgents.safeParse(said)
  if (success) return data.agents
  const [issue] = error.issues
  return wrong(issue!.path.join('.') || 'the whole file', issue!.message)
}

const wrong = (where: string, problem: string): InvalidInput =>
  new InvalidInput(`${DECLARED_FILE}, ${where}`, problem, {
    try: `Fix ${DECLARED_FILE} in the home of the fleet; until then only the built-in agents work.`,
  })

const broken = (where: string, problem: string): Declared => ({ agents: [], fault: wrong(where, problem) })
