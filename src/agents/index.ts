import { NotFound } from '../domain/errors.ts'
import { claude } from './claude.ts'
import type { Agent } from './contract.ts'
import { PRESETS, type Preset } from './presets.ts'
import { shell } from './shell.ts'

export const AGENTS: readonly Agent[] = [shell, claude]

export function agentNamed(name: string): Agent {
  const agent = AGENTS.find(each => each.name === name)
  if (agent) return agent
  throw new NotFound('agent', name, { try: `Use one of: ${AGENTS.map(each => each.name).join(', ')}.` })
}

export interface ToolPresetOffer extends Preset {
  /** Which agents can be held to it. */
  agents: string[]
}

export function toolPresets(): ToolPresetOffer[] {
  return Object.values(PRESETS).map(preset => ({
    ...preset,
    agents: AGENTS.filter(agent => agent.can.presets.includes(preset.name)).map(agent => agent.name),
  }))
}

export function models(): { agent: string; name: string; alias?: string }[] {
  return AGENTS.flatMap(agent => agent.models.map(model => ({ agent: agent.name, ...model })))
}

export type * from './contract.ts'
export { emptyDigest, fold } from './digest.ts'
