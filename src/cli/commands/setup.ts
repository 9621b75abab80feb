import { Argument, type Command } from 'commander'
import { SETUP_CLIENTS } from '../../install/names.ts'
import { does } from '../command.ts'

export function addSetup(program: Command): void {
  const setup = program
    .command('setup')
    .description('let coding agents run fleet in their shell without asking each time')
    .addArgument(new Argument('[clients...]', 'default: all that are installed').choices(SETUP_CLIENTS))
    .option('--remove', 'take the permission back')
    .option('--dry-run', 'print what would change and write nothing')
    .option('-y, --yes', 'write without asking')
  setup.addHelpText(
    'after',
    '\nThe agent may then do with fleet whatever you may. It adds one rule to the\nsettings of each client and keeps everything else. fleet mcp install --allow\ndoes it for MCP tools.',
  )
  does(setup, async (cli, clients, options) => {
    const { setUp } = await import('../setup.ts')
    return setUp(cli, clients, options)
  })
}
