import type { Tool } from '../presets.ts'
import type { Rules } from '../rules.ts'

type Decision = 'allow' | 'deny'
/** Decisions by tool, and for the shell by the text of a command. The last match decides. */
export type Permissions = Record<string, Decision | Record<string, Decision>>

const NAMES: Readonly<Record<Exclude<Tool, 'Bash'>, readonly string[]>> = {
  Read: ['read', 'list'],
  Write: ['edit'],
  Edit: ['edit'],
  Grep: ['grep'],
  Glob: ['glob'],
  WebFetch: ['webfetch'],
  WebSearch: ['websearch'],
}

/**
 * Signs that a command does more than it seems: words that the shell expands or quotes, files it writes. The client
 * treats \ as / in rules and commands, so a rule against every \ would refuse every path. It is refused only where it
 * could hide the option that writes, and / with it.
 */
const DISGUISES = ['*--ou*', '*--o/*', '*-/*', '*/-*', '*>*', '*<*', '*$*', '*`*', '*{*', '*"*', "*'*", '*[*']

export function permissionsOf({ tools, commands }: Rules, servers: readonly string[]): Permissions {
  const named = tools.flatMap(tool => (tool === 'Bash' ? [] : NAMES[tool]))
  const allowed = [...named, 'todowrite', ...servers.map(name => `${name}_*`)]
  return {
    '*': 'deny',
    ...Object.fromEntries(allowed.map(name => [name, 'allow' as const])),
    ...(tools.includes('Bash') && (commands ? { bash: shellRules(commands) } : ANYTHING)),
  }
}

/** An agent that may run anything may also do so elsewhere. */
const ANYTHING: Permissions = { bash: 'allow', external_directory: 'allow' }

function shellRules(commands: readonly string[]): Record<string, Decision> {
  const rules: [string, Decision][] = [
    ['*', 'deny'],
    ...commands.flatMap((start): [string, Decision][] => [
      [start, 'allow'],
      [`${start} *`, 'allow'],
    ]),
    ...DISGUISES.map((sign): [string, Decision] => [sign, 'deny']),
  ]
  return Object.fromEntries(rules)
}
