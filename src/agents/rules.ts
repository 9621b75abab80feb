import { InvalidInput, NotAllowed } from '../domain/errors.ts'
import type { LaunchRequest } from './contract.ts'
import { isRestricting, PRESETS, TOOLS, type Tool } from './presets.ts'

/** What a session may use, for clients that have rules of their own. */
export interface Rules {
  tools: readonly Tool[]
  /** The commands that the shell may run, by how they start. `null`: any. */
  commands: readonly string[] | null
  /** Nothing in the repository may add to these rules. */
  restricts: boolean
}

/** A tool by its name, or the shell with the start of a command: `Bash(npm test:*)`. */
const TOOL_RULE = /^(\w+)(?:\(([^()\n"'\\]+):\*\))?$/

export function rulesOf({ preset: name, allowedTools }: LaunchRequest): Rules {
  if (allowedTools) return custom(allowedTools)
  const preset = PRESETS[name]
  return { tools: preset.tools, commands: preset.commands, restricts: isRestricting(preset) }
}

function custom(allowedTools: readonly string[]): Rules {
  const rules = allowedTools.map(parse)
  const shell = rules.filter(({ tool }) => tool === 'Bash')
  const anything = shell.some(({ start }) => start === undefined)
  return {
    tools: [...new Set(rules.map(({ tool }) => tool))],
    commands: anything ? null : shell.flatMap(({ start }) => start ?? []),
    restricts: true,
  }
}

function parse(rule: string): { tool: Tool; start: string | undefined } {
  const [, name, start] = TOOL_RULE.exec(rule) ?? []
  const tool = TOOLS.find(each => each === name)
  if (tool && (start === undefined || tool === 'Bash')) return { tool, start: start?.trim() }
  throw new InvalidInput('allowed_tools', `${JSON.stringify(rule)} is not a tool that this agent can be held to`, {
    try: `Write one of ${TOOLS.join(', ')}, or the start of a command such as Bash(npm test:*).`,
  })
}

export function refuseForks({ forks }: LaunchRequest, client: string): void {
  if (!forks) return
  throw new NotAllowed(`${client} cannot continue a copy of a conversation.`, { try: 'Resume it instead.' })
}

export function refuseApprovals({ approvals }: LaunchRequest, client: string): void {
  if (approvals === 'deny') return
  throw new NotAllowed(`${client} cannot wait for a person's permission.`, {
    try: 'Set approvals to deny, or use an agent that can ask, such as claude.',
  })
}
