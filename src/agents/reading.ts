import { Unfit } from '../domain/errors.ts'
import type { Agent, AgentEvent, Line } from './contract.ts'

/** What the code of a plugin did wrong as an adapter. It is the end of the session it was at, and of nothing else. */
export class AdapterFault extends Unfit {
  /** Its thread had to be ended: it hung, left, or could not be loaded. */
  readonly ended: boolean
  constructor(message: string, ended: boolean) {
    super(message, { try: 'fleet plugin list' })
    this.ended = ended
  }
}

/** The events of each line; throws an AdapterFault where there is no reading it. */
export const readAll = (agent: Agent, lines: readonly Line[]): AgentEvent[][] =>
  agent.readAll?.(lines) ?? lines.map(({ text, stream }) => agent.read(text, stream))

/** The same of one line for whoever only looks: what nobody can read is shown as it was printed. */
export function readForShow(agent: Agent, { text, stream }: Line): AgentEvent[] {
  try {
    return agent.read(text, stream)
  } catch (error) {
    if (!(error instanceof AdapterFault)) throw error
    return [{ type: 'raw', text }]
  }
}
