import { Argument, type Command } from 'commander'
import { CLIENT_NAMES, TOKEN_VARIABLE } from '../../install/names.ts'
import { collected, does } from '../command.ts'

export function addMcpInstall(program: Command): void {
  const mcp =
    program.commands.find(command => command.name() === 'mcp') ??
    program.command('mcp').description('connect MCP clients to the fleet')
  const install = mcp
    .command('install')
    .description('add the fleet to the configuration of an MCP client; the rest of the file stays as it is')
    .addArgument(new Argument('<client>', 'the MCP client').choices(CLIENT_NAMES))
    .option('--user', 'for all your projects (default)')
    .option('--project', 'for the repository you are in')
    .option('--file <path>', 'write to this file instead of the default file of the client')
    .option('--tools <sets>', 'offer only these sets of tools, such as missions,workers', collected)
    .option(
      '--http',
      `ask a running server instead of starting one; the client takes the token from $${TOKEN_VARIABLE}`,
    )
    .option('--allow', 'let the client call the tools of the fleet without asking')
    .option('--skill', 'also write the skill that teaches an agent to use the fleet')
    .option('--remove', 'remove the fleet from the configuration')
    .option('--dry-run', 'print what would change and write nothing')
  does(install, async (cli, [client], options) => {
    const { tellClient } = await import('../tell-client.ts')
    return tellClient(cli, client!, options)
  })

  does(mcp.command('skill').description('print the skill that teaches an agent to use the fleet'), async cli => {
    const { skillText } = await import('../../install/install.ts')
    cli.terminal.write(skillText())
    return undefined
  })
}
