import type { Tool } from '../presets.ts'
import type { Rules } from '../rules.ts'

type Decision = 'allow' | 'deny'
/** By tool; by the text of a command for the shell. Of all that match, the last decides. */
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
 * Signs of a command that does more than it looks like: a word the shell expands or quotes, a file it writes. The client
 * takes \ for /, in rules and in commands, so a rule against every \ would refuse every path: only where it could hide
 * the option that writes is it refused, and / with it.
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

/** Whoever may run anything may also do so elsewhere. */
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
