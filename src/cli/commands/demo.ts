import type { Command } from 'commander'
import { does } from '../command.ts'

export function addDemo(program: Command): void {
  const demo = program
    .command('demo')
    .description('make a sample project: eight scripts build a small ship')
    .option('--remove', 'remove the sample project, and its repository if you added nothing to it')
  demo.addHelpText(
    'after',
    '\nIt needs no coding agent. The repository is in the home of the fleet.\nYour own files are not touched.',
  )
  does(demo, async (cli, _, { remove }) => {
    const { demo: make, removeDemo } = await import('../demo.ts')
    return remove ? removeDemo(cli) : make(cli)
  })
}
