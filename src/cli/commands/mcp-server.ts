import type { Command } from 'commander'
import { InvalidInput, NotFound } from '../../domain/errors.ts'
import { shortId } from '../../domain/ids.ts'
import type { ProjectServer } from '../../domain/records/mcp-server.ts'
import { type Cli, does } from '../command.ts'
import { projectHere, projectRef } from '../project-here.ts'

const PROJECT = '--project <project>'
const PROJECT_SUMMARY = 'id, name or path (default: the repository you are in)'

/** Servers of tools that every agent on a project is given. */
export function addMcpServer(program: Command): void {
  const group = program.command('mcp-server').description('the MCP servers that agents on a project are given')

  const add = group
    .command('add')
    .description('give agents a server: one that answers at an address, or a program they start')
    .argument('<name>', 'letters, digits and -')
    .argument('[command...]', 'the program and its arguments, after --')
    .option('--address <url>', 'where it answers')
    .option('--header <name: value>', `sent with every request, such as 'Authorization: Bearer \${TOKEN}'`, gathered)
    .option('--env <name=value>', `a variable of the program, such as 'TOKEN=\${TOKEN}'`, gathered)
    .option(PROJECT, PROJECT_SUMMARY)
    .addHelpText(
      'after',
      `\nA secret is named, not written: \${NAME} stands for a variable of the environment the fleet was started with.`,
    )
  does(add, async (cli, [name, ...command], { address: url, header, env, project }) => {
    const server = await (await cli.client()).call<ProjectServer>('add_mcp_server', {
      ...{ project_id: await projectOf(cli, project), name, command },
      ...(url !== undefined && { url }),
      headers: pairs('--header', header, /^([^:\s]+):\s*(.*)$/s),
      env: pairs('--env', env, /^([^=\s]+)=(.*)$/s),
    })
    if (cli.terminal.json) cli.terminal.data(server)
    else cli.terminal.print(`Agents that start from now on have the tools of ${server.name}.`)
  })

  does(
    group.command('list').alias('ls').description('list the servers of a project').option(PROJECT, PROJECT_SUMMARY),
    async (cli, _, { project }) => {
      const mcp_servers = await serversOf(cli, await projectOf(cli, project))
      if (cli.terminal.json) return void cli.terminal.data({ mcp_servers })
      if (!mcp_servers.length) return void cli.terminal.note('It has none. Add one: fleet mcp-server add <name> …')
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
    ['enable', 'give it to agents again', 'Agents that start from now on have it again.'],
    ['disable', 'keep it, but do not give it to agents', 'Agents that start from now on do not have it.'],
    ['remove', 'forget it', 'It is forgotten.'],
  ] as const)
    does(
      group
        .command(verb)
        .description(description)
        .argument('<server>', 'its name or id')
        .option(PROJECT, PROJECT_SUMMARY),
      async (cli, [given], { project }) => {
        const server_id = await serverRef(cli, given!, project)
        const answer = await (await cli.client()).call(`${verb}_mcp_server`, { server_id })
        if (cli.terminal.json) cli.terminal.data(answer)
        else cli.terminal.print(done)
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
  (await (await cli.client()).call<{ mcp_servers: ProjectServer[] }>('list_mcp_servers', { project_id })).mcp_servers

async function serverRef(cli: Cli, given: string, project: unknown): Promise<string> {
  const found = (await serversOf(cli, await projectOf(cli, project))).find(
    ({ id, name }) => name === given || id.startsWith(given),
  )
  if (!found) throw new NotFound('MCP server', given, { try: 'fleet mcp-server list' })
  return found.id
}
