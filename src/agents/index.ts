import { agy } from './agy.ts'
import { claude } from './claude/adapter.ts'
import { codex } from './codex/adapter.ts'
import type { Agent } from './contract.ts'
import { gemini } from './gemini/adapter.ts'
import { opencode } from './opencode/adapter.ts'
import { type Agents, agentsIn } from './registry.ts'
import { shell } from './shell.ts'

export const AGENTS: readonly Agent[] = [shell, claude, codex, gemini, opencode, agy]

/** The agents that are built in, declared in this home, or brought by others. */
export const agentsOf = (home: string, others: () => readonly Agent[] = () => []): Agents =>
  agentsIn(home, AGENTS, others)

export type * from './contract.ts'
export { printed } from './detect.ts'
export { emptyDigest, fold, type Knowledge } from './digest.ts'
export { notLetIn } from './endings.ts'
export type { McpServer } from './mcp-servers.ts'
export { doubtAbout } from './models.ts'
export { AdapterFault, readAll, readForShow } from './reading.ts'
export { type Agents, enginesOf, type ToolPresetOffer, toolPresets } from './registry.ts'
