import type { Command } from 'commander'
import { InvalidInput, NotFound } from '../../domain/errors.ts'
import { shortId } from '../../domain/ids.ts'
import type { ProjectServer } from '../../domain/records/mcp-server.ts'
import { type Cli, does } from '../command.ts'
import { projectHere, projectRef } from '../project-here.ts'

const PROJECT = '--project <project>'
const PROJECT_SUMMARY = 'id, name or path (default: the repository you are in)'

/** MCP servers that every agent on a project gets. */
export function addMcpServer(program: Command): void {
  const group = program.command('mcp-server').description('manage the MCP servers that agents of a project get')

  const add = group
    .command('add')
    .description('add an MCP server: a URL, or a program that agents start')
    .argument('<name>', 'letters, digits and -')
    .argument('[command...]', 'the program and its arguments, after --')
    .option('--address <url>', 'URL of the server')
    .option('--header <name: value>', `sent with every request, such as 'Authorization: Bearer \${TOKEN}'`, gathered)
    .option('--env <name=value>', `a variable of the program, such as 'TOKEN=\${TOKEN}'`, gathered)
    .option(PROJECT, PROJECT_SUMMARY)
    .addHelpText(
      'after',
      `\nName a secret instead of writing it: \${NAME} stands for an environment variable\nthat the fleet was started with.`,
    )
  does(add, async (cli, [name, ...command], { address: url, header, env, project }) => {
    const server = await cli.ask<ProjectServer>('add_mcp_server', {
      ...{ project_id: await projectOf(cli, project), name, command },
      ...(url !== undefined && { url }),
      headers: pairs('--header', header, /^([^:\s]+):\s*(.*)$/s),
      env: pairs('--env', env, /^([^=\s]+)=(.*)$/s),
    })
    cli.terminal.tell(server, () =>
      cli.terminal.print(`Agents that start from now on have the tools of ${server.name}.`),
    )
  })

  does(
    group.command('list').alias('ls').description('list the servers of a project').option(PROJECT, PROJECT_SUMMARY),
    async (cli, _, { project }) => {
      const mcp_servers = await serversOf(cli, await projectOf(cli, project))
      if (cli.terminal.json) return void cli.terminal.data({ mcp_servers })
      if (!mcp_servers.length)
        return void cli.terminal.note('The project has no MCP servers. Add one: fleet mcp-server add <name> …')
      cli.terminal.table<ProjectServer>(
        [
          { title: 'ID', value: each => shortId(each.id) },
          { title: 'NAME', value: each => each.name },
          { title: 'ENABLED', value: each => (each.enabled ? 'yes' : 'no') },
          { title: 'WHERE', value: each => each.url ?? each.command.join(' '), flexible: true },
        ],
        mcp_servers,
      )
    },
  )

  for (const [verb, description, done] of [
    ['enable', 'enable it for agents', 'Agents that start from now on have it again.'],
    ['disable', 'disable it for agents', 'Agents that start from now on do not have it.'],
    ['remove', 'remove it', 'Removed.'],
  ] as const)
    does(
      group.command(verb).description(description).argument('<server>', 'name or id').option(PROJECT, PROJECT_SUMMARY),
      async (cli, [given], { project }) => {
        const server_id = await serverRef(cli, given!, project)
        const answer = await cli.ask(`${verb}_mcp_server`, { server_id })
        cli.terminal.tell(answer, () => cli.terminal.print(done))
      },
    )
}

const gathered = (value: string, before: string[] = []): string[] => [...before, value]

function pairs(option: string, given: unknown, form: RegExp): Record<string, string> {
  const entries = ((given as string[] | undefined) ?? []).map(text => {
    const [, name, value] = form.exec(text) ?? []
    if (!name) throw new InvalidInput(option, 'must be a name and a value', { try: 'fleet mcp-server add --help' })
    return [name, value ?? '']
  })
  return Object.fromEntries(entries)
}

const projectOf = async (cli: Cli, given: unknown): Promise<string> =>
  typeof given === 'string' ? projectRef(cli, given) : (await projectHere(cli)).project.id

const serversOf = async (cli: Cli, project_id: string): Promise<ProjectServer[]> =>
  (await cli.ask<{ mcp_servers: ProjectServer[] }>('list_mcp_servers', { project_id })).mcp_servers

async function serverRef(cli: Cli, given: string, project: unknown): Promise<string> {
  const found = (await serversOf(cli, await projectOf(cli, project))).find(
    ({ id, name }) => name === given || id.startsWith(given),
  )
  if (!found) throw new NotFound('MCP server', given, { try: 'fleet mcp-server list' })
  return found.id
}
