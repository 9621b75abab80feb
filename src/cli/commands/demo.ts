import type { Command } from 'commander'
import { does } from '../command.ts'

export function addDemo(program: Command): void {
  const demo = program
    .command('demo')
    .description('make a sample project: eight scripts build a small ship')
    .option('--team', 'the same by a team of four scripts, which divide the work and write to each other')
    .option('--remove', 'remove what it made, and the repositories if you added nothing to them')
  demo.addHelpText(
    'after',
    '\nIt needs no coding agent. The repository is in the home of the fleet.\nYour own files are not touched.',
  )
  does(demo, async (cli, _, { remove, team }) => {
    const { demo: make, removeDemo } = await import('../demo.ts')
    if (remove) return removeDemo(cli)
    return team ? (await import('../demo-team.ts')).demoTeam(cli) : make(cli)
  })
}
