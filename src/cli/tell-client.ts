import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { InvalidInput, NotAllowed } from '../domain/errors.ts'
import type { ClientFolders, McpClient, Reach, Scope } from '../install/clients.ts'
import { diffOf } from '../install/diff.ts'
import { carryOut, clientNamed, planned, projectTop } from '../install/install.ts'
import { TOKEN_VARIABLE } from '../install/names.ts'
import { addressOf, byAddress, byCommand, commandOf } from '../install/reach.ts'
import type { Change } from '../install/reconcile.ts'
import { DEFAULT_SETS, TOOL_SETS, type ToolSet } from '../operations/tool-sets.ts'
import { TOOLS } from '../operations/tools.ts'
import { ownerTokenFile } from '../platform/keys.ts'
import type { Cli } from './command.ts'
import { homeOf } from './server.ts'

type Options = Record<string, unknown>

/** The work of `fleet mcp install`. */
export async function tellClient(cli: Cli, name: string, options: Options): Promise<undefined> {
  const { terminal } = cli
  const { env, cwd } = terminal.streams
  if (options.user && options.project) throw new InvalidInput('--project', 'cannot be combined with --user')
  if (cli.where.url && !options.http) throw new InvalidInput('--url', 'needs --http')
  const client = clientNamed(name)
  const scope: Scope | undefined = options.project ? 'project' : options.user ? 'user' : undefined
  const home = homeOf(cli.where)
  const folders: ClientFolders = { user: env.HOME || homedir(), project: projectTop(cwd), env }
  const changes = planned(client, folders, home, {
    scope,
    file: typeof options.file === 'string' ? resolve(cwd, options.file) : undefined,
    reach: reachOf(cli, scope, options),
    allow: options.allow ? toolNames(options) : undefined,
    skill: options.skill === true,
    remove: options.remove === true,
  })
  if (!options.dryRun) carryOut(home, changes)
  tell(cli, client, changes, options)
}

function reachOf(cli: Cli, scope: Scope | undefined, options: Options): Reach {
  const sets = setsIn(options)
  if (options.http && !options.remove) return byAddress(cli.where.url ?? serverOf(homeOf(cli.where)), sets)
  const { env } = cli.terminal.streams
  const shared = scope === 'project'
  const program = shared ? ['fleet'] : commandOf(env, [process.execPath, process.argv[1]!])
  // Clients hide most of the environment from servers they start, so a home other than the usual one is named here.
  const isNamed = cli.where.home !== undefined || (!shared && !!env.FLEET_HOME)
  return byCommand(program, isNamed ? homeOf(cli.where) : undefined, sets)
}

function serverOf(home: string): string {
  const address = addressOf(home)
  if (address) return address
  throw new NotAllowed('The fleet has never run, so its address is not known yet.', {
    try: 'Start it with fleet up --detach, or give its address: --url http://127.0.0.1:3847',
  })
}

function setsIn(options: Options): ToolSet[] {
  const sets = (options.tools as string[] | undefined) ?? []
  const unknown = sets.find(set => !Object.hasOwn(TOOL_SETS, set))
  if (unknown) throw new InvalidInput('--tools', `${unknown} is not one of ${Object.keys(TOOL_SETS).join(', ')}`)
  return sets as ToolSet[]
}

function toolNames(options: Options): string[] {
  const named = setsIn(options)
  const sets: readonly string[] = named.length ? named : DEFAULT_SETS
  return TOOLS.filter(({ set }) => sets.includes(set)).map(({ name }) => name)
}

function tell(cli: Cli, client: McpClient, changes: readonly Change[], options: Options): undefined {
  const { terminal } = cli
  const dryRun = options.dryRun === true
  const files = changes
    .filter(({ before, after }) => before !== after)
    .map(change => ({ ...change, change: change.after === undefined ? 'removed' : 'written' }))
  if (terminal.json)
    return void terminal.data({
      client: client.name,
      dry_run: dryRun,
      files: files.map(({ file, change }) => ({ file, change })),
    })
  if (!files.length) return void terminal.print(`${client.title} is already set up like this; nothing to change.`)
  for (const { file, before, after, change } of files) {
    if (dryRun) terminal.print(terminal.foreign(diffOf(file, before, after)))
    else terminal.print(`${change === 'removed' ? 'Removed' : 'Wrote'} ${terminal.foreign(file)}`)
  }
  if (options.remove || dryRun) return
  if (options.http)
    terminal.note(
      `Before ${client.title} starts: export ${TOKEN_VARIABLE}="$(cat ${ownerTokenFile(homeOf(cli.where))})"`,
    )
  if (options.allow && client.allowed) terminal.note(client.allowed)
  terminal.note(`Restart ${client.title}, then check: ${client.check}`)
}
