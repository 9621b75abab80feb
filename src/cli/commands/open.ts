import type { Command } from 'commander'
import { does } from '../command.ts'

export function addOpen(program: Command): void {
  const open = program
    .command('open')
    .description('open the dashboard in your browser, signed in; start the fleet if it is down')
    .option('--link', 'only print the link; it signs one browser in, once, within ten minutes')
  does(open, async (cli, _, { link }) => (await import('../open.ts')).openDashboard(cli, { link: link === true }))
}
