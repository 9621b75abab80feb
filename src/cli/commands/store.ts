import type { Command } from 'commander'
import { does } from '../command.ts'

export function addStore(program: Command): void {
  const store = program.command('store').description('copy the records of the fleet to PostgreSQL, or back to SQLite')
  const copy = store
    .command('copy')
    .description('move all records and events to PostgreSQL or back, while the fleet is down')
    .option('--to <address>', 'postgresql://user@host/database?schema=flotilla without a password, or file:<path>')
    .option('--from [address]', "the same, to move them into this home's SQLite file (default: where they are now)")
  does(copy, async (cli, _, options) => {
    const { copyStore } = await import('../store-copy.ts')
    const copied = await copyStore(cli.where, {
      to: options.to as string | undefined,
      from: options.from as string | true | undefined,
    })
    cli.terminal.tell({ ...copied }, () => {
      cli.terminal.print(
        `Copied ${copied.records} records and ${copied.events} events from ${copied.from} to ${copied.to}, and compared them.`,
      )
      if (copied.aside) cli.terminal.print(`The store file of before is kept: ${copied.aside}`)
    })
  })
}
