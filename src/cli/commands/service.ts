import type { Command } from 'commander'
import { does } from '../command.ts'
import { addListening, argumentsFrom } from './server.ts'

export function addService(program: Command): void {
  const service = program.command('service').description('run the fleet as a service of systemd or launchd')
  const install = addListening(
    service
      .command('install')
      .description('write the service, start it, and start it at every login')
      .option('--print', 'print the file, and write nothing')
      .option('--no-start', 'write the file, and start nothing'),
  )
  does(install, async (cli, _, options) =>
    (await import('../service.ts')).installService(cli, {
      print: options.print === true,
      start: options.start !== false,
      listening: argumentsFrom(options, cli.terminal.streams.cwd),
    }),
  )
  does(service.command('remove').description('stop the service and remove its file; agents continue'), async cli =>
    (await import('../service.ts')).removeService(cli),
  )
  does(service.command('status').description('show whether the service is installed and runs'), async cli =>
    (await import('../service.ts')).showService(cli),
  )
}
