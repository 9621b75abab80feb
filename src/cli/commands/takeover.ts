import { type Command, Option } from 'commander'
import { HAND_BACKS } from '../../domain/records/mission.ts'
import { does } from '../command.ts'

export function addTakeover(program: Command): void {
  const takeover = program
    .command('takeover')
    .description('stop the agent of a mission and continue its conversation yourself in this terminal')
    .argument('<mission>', 'id or first letters')
    .addOption(
      new Option('--then <what>', 'what happens to it when you leave (default: you are asked)').choices(HAND_BACKS),
    )
    .option('-m, --message <text>', 'message for the agent that continues')
    .option('--release', 'hand back a mission whose terminal is gone')
  does(takeover, async (cli, [mission], options) => {
    const { release, takeOver } = await import('../takeover.ts')
    const wish = {
      next: options.then as (typeof HAND_BACKS)[number] | undefined,
      message: options.message as string | undefined,
    }
    return options.release === true ? release(cli, mission!, wish) : takeOver(cli, mission!, wish)
  })
}
