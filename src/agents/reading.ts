import { Unfit } from '../domain/errors.ts'
import type { Agent, AgentEvent, Line } from './contract.ts'

/** An error in the adapter of a plugin. It ends its session and nothing else. */
export class AdapterFault extends Unfit {
  /** Its thread had to be ended: it hung, exited, or could not be loaded. */
  readonly ended: boolean
  constructor(message: string, ended: boolean) {
    super(message, { try: 'fleet plugin list' })
    this.ended = ended
  }
}

/** The events of each line. Throws an AdapterFault if they cannot be read. */
export const readAll = (agent: Agent, lines: readonly Line[]): AgentEvent[][] =>
  agent.readAll?.(lines) ?? lines.map(({ text, stream }) => agent.read(text, stream))

/** The events of one line, for display. A line that cannot be read is shown as it was printed. */
export function readForShow(agent: Agent, { text, stream }: Line): AgentEvent[] {
  try {
    return agent.read(text, stream)
  } catch (error) {
    if (!(error instanceof AdapterFault)) throw error
    return [{ type: 'raw', text }]
  }
}
