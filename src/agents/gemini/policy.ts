import type { Tool } from '../presets.ts'
import type { Rules } from '../rules.ts'

const NAMES: Readonly<Record<Tool, readonly string[]>> = {
  Read: ['read_file', 'read_many_files', 'list_directory'],
  Write: ['write_file'],
  Edit: ['replace'],
  Bash: ['run_shell_command'],
  Grep: ['grep_search'],
  Glob: ['glob'],
  WebFetch: ['web_fetch'],
  WebSearch: ['google_web_search'],
}

/** Notes to itself change nothing. */
const HARMLESS = ['update_topic', 'write_todos']

/** A quoted or expanded word could be an option that writes, such as `--output`, in disguise. */
const DISGUISE = String.raw`[^"]*(--ou|[\\$\x60{}*?'\[])`

type Rule = Record<string, string | number | boolean | readonly string[]>

/** The rules of a session for the client's policy engine. The matching rule with the highest priority decides. */
export function policyOf(rules: Rules, servers: readonly string[]): string {
  const { tools, commands } = rules
  const named = tools.filter(tool => tool !== 'Bash' || !commands).flatMap(tool => NAMES[tool])
  const all: Rule[] = [
    { toolName: '*', decision: 'deny', priority: 100 },
    { toolName: [...named, ...HARMLESS], decision: 'allow', priority: 200, allowRedirection: true },
    // The client refuses a rule that names no tool, and the whole file with it.
    ...servers.map(mcpName => ({ mcpName, toolName: '*', decision: 'allow', priority: 200 })),
    ...shellRules(commands ?? []),
  ]
  // Replacing nothing by something creates a file.
  if (!tools.includes('Write')) {
    all.push({ toolName: NAMES.Edit, argsPattern: '"old_string":""', decision: 'deny', priority: 300 })
  }
  return all.map(toml).join('\n')
}

function shellRules(commands: readonly string[]): Rule[] {
  if (!commands.length) return []
  const looks = commands.filter(start => start.startsWith('git '))
  return [
    { toolName: 'run_shell_command', commandPrefix: commands, decision: 'allow', priority: 200 },
    ...looks.map(start => ({
      toolName: 'run_shell_command',
      commandRegex: start + DISGUISE,
      decision: 'deny',
      priority: 300,
      denyMessage: 'Write it without quotes, wildcards, variables and --output.',
    })),
  ]
}

// Strings, numbers and lists of strings are the same in JSON and TOML.
const toml = (rule: Rule): string =>
  ['[[rule]]', ...Object.entries(rule).map(([key, value]) => `${key} = ${JSON.stringify(value)}`), ''].join('\n')
