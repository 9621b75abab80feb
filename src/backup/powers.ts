import type { Fleet } from '../fleet/fleet.ts'
import { all } from '../fleet/records.ts'

export interface Choice {
  withTokens: boolean
  withPlugins: boolean
}

/** What is taken from a backup only if a person says so: whoever wrote the file would own the machine otherwise. */
const BY_CHOICE = [
  {
    names: ['token', 'key'],
    choice: 'withTokens',
    taken: 'token and key: whoever has them may do everything here',
    left: 'its token and its key: new ones were made, and browsers sign in anew (--with-tokens takes them)',
  },
  {
    names: ['plugins'],
    choice: 'withPlugins',
    taken: 'plugins/: code that runs in the server',
    left: 'plugins/: code that would run in the server (--with-plugins takes it)',
  },
] as const

const FILES: Record<string, string> = {
  'agents.json': 'commands that are started as agents',
  'fleet.toml': 'settings of the server',
  'instructions.md': 'what every agent is told',
}

export interface Chosen {
  /** Names in the home to take away again. */
  drop: string[]
  notTaken: string[]
  taken: string[]
}

/** `names`: what lies in the home itself. */
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

/** What the store says that is run on this machine, for people. */
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
