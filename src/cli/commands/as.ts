import type { Command } from 'commander'
import { CLAUDE_FLEET_COMMANDS } from '../as/commands-of-claude-fleet.ts'
import { does } from '../command.ts'
import { addCafleet } from './as-cafleet.ts'

/** Commands that people know from other tools, where our own have other meanings. */
export function addAs(program: Command): void {
  const as = program.command('as').description('use the commands of claude-fleet or CAFleet')
  const theirs = as
    .command('claude-fleet')
    .description('the commands of claude-fleet; answers are JSON')
    .option('--token <token>', 'the token to ask with (default: $FLEET_TOKEN, or that of this home)')
    .option('--table', 'print lists as tables')
  for (const each of CLAUDE_FLEET_COMMANDS) {
    const command = theirs.command(each.name).description(each.summary)
    // The options are those of all of them, and a line has 80 columns.
    if (each.args) command.arguments(each.args).usage(each.args)
    does(command, async (cli, args, { token, table }) => {
      const { askAsTheirs } = await import('../as/claude-fleet.ts')
      return askAsTheirs(cli, each, args, { token: token as string | undefined, table: table === true })
    })
  }
  addCafleet(as)
}
