import type { Command } from 'commander'
import { does } from '../command.ts'

export function addDemo(program: Command): void {
  const demo = program.command('demo').description('run a demo: eight missions build a small ship in a new repository')
  demo.addHelpText(
    'after',
    '\nYour own files are not touched: the repository and the home are in a temporary folder, unless --home names one.',
  )
  does(demo, async cli => (await import('../demo.ts')).demo(cli))
}
