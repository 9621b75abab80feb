import type { Fleet } from '../fleet/fleet.ts'
import { all } from '../fleet/records.ts'
import { KEY_FILES } from '../platform/keys.ts'

export interface Choice {
  withTokens: boolean
  withPlugins: boolean
}

/** Restored only if a person says so: otherwise the author of the file would control the machine. */
const BY_CHOICE = [
  {
    names: KEY_FILES,
    choice: 'withTokens',
    taken: 'token and key: anyone who has them can do everything here',
    left: 'its token and its key: new ones were made, and browsers must sign in again (--with-tokens restores them)',
  },
  {
    names: ['plugins'],
    choice: 'withPlugins',
    taken: 'plugins/: code that runs in the server',
    left: 'plugins/: code that would run in the server (--with-plugins restores it)',
  },
] as const

const FILES: Record<string, string> = {
  'agents.json': 'commands that are started as agents',
  'fleet.toml': 'settings of the server',
  'instructions.md': 'what every agent is told',
}

export interface Chosen {
  /** Names in the home to remove again. */
  drop: string[]
  notTaken: string[]
  taken: string[]
}

/** `names`: the entries of the home itself. */
export function chosen(names: readonly string[], choice: Choice): Chosen {
  const there = BY_CHOICE.filter(each => each.names.some(name => names.includes(name)))
  const [taken, left] = [there.filter(each => choice[each.choice]), there.filter(each => !choice[each.choice])]
  return {
    drop: left.flatMap(each => each.names.filter(name => names.includes(name))),
    notTaken: left.map(each => each.left),
    taken: [...taken.map(each => each.taken), ...fileNames(names).map(name => `${name}: ${FILES[name]}`)],
  }
}

const fileNames = (names: readonly string[]): string[] => Object.keys(FILES).filter(name => names.includes(name))

/** Commands in the store that run on this machine, for people. */
export async function commandsIn(fleet: Fleet): Promise<string[]> {
  const projects = (await Array.fromAsync(all(fleet, 'projects', 'created'))).map(({ value }) => value)
  const servers = projects.flatMap(project => project.mcp_servers.filter(({ enabled }) => enabled))
  const checks = projects.flatMap(project => [
    ...project.checks.map(({ command }) => command),
    ...(project.setup_command ? [project.setup_command] : []),
  ])
  const rules = (await Array.fromAsync(all(fleet, 'approval_rules', 'created'))).length
  const schedules = (await Array.fromAsync(all(fleet, 'schedules', 'due'))).length
  return [
    ...servers.map(({ name, url, command }) => `MCP server ${name}: ${url ?? command.join(' ')}`),
    ...(checks.length ? [`checks and setup of projects: ${several(checks.length, 'command')}`] : []),
    ...(rules ? [`approvals: ${several(rules, 'rule')} that ${rules === 1 ? 'answers' : 'answer'} for a person`] : []),
    ...(schedules ? [`schedules: ${schedules} switched on`] : []),
  ]
}

const several = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
