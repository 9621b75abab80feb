import type { Command } from 'commander'
import { does } from '../command.ts'
import { EXIT } from '../exit.ts'
import { homeHere } from '../server.ts'

export function addAbout(program: Command): void {
  does(program.command('status').description('show what runs, what waits for you, and what to do next'), async cli =>
    (await import('../status.ts')).showStatus(cli),
  )

  const doctor = program
    .command('doctor')
    .description('check this machine: git, Node, disk, store, agents')
    .option('--repair', 'rebuild the indexes of the store first; the fleet must be down')
    .option('--retry', 'retry now everything the fleet is stuck on')
  does(doctor, async (cli, _, options) => {
    const { examine, repairStore } = await import('../doctor.ts')
    homeHere(cli.where, 'fleet doctor')
    if (options.repair) await repairStore(cli.where)
    if (options.retry) await cli.ask('retry_faults', {})
    const findings = await examine(cli.where)
    if (cli.terminal.json) cli.terminal.data({ findings })
    else {
      for (const { name, state, text, advice } of findings) {
        const mark =
          state === 'good'
            ? cli.terminal.paint('green', '✓')
            : cli.terminal.paint(state === 'bad' ? 'red' : 'yellow', state === 'bad' ? '✗' : '!')
        cli.terminal.print(`${mark} ${name.padEnd(12)} ${cli.terminal.foreign(text)}`)
        if (advice) cli.terminal.print(`  ${' '.repeat(12)} ${cli.terminal.paint('dim', cli.terminal.foreign(advice))}`)
      }
    }
    return findings.some(finding => finding.state === 'bad') ? EXIT.failed : EXIT.done
  })
}
