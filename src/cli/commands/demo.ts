import type { Command } from 'commander'
import { does } from '../command.ts'

export function addDemo(program: Command): void {
  const demo = program.command('demo').description('watch eight missions build a small ship in a repository of its own')
  demo.addHelpText(
    'after',
    '\nNothing of yours is touched: repository and home lie in a temporary folder, unless --home names one.',
  )
  does(demo, async cli => (await import('../demo.ts')).demo(cli))
}
