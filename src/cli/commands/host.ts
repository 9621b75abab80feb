import type { Command } from 'commander'
import { does } from '../command.ts'

interface Claimed {
  sessions: string[]
  processes: string[]
  terminals: string[]
}

export function addHost(program: Command): void {
  const host = program.command('host').description('take over the sessions of a machine that is gone')
  const claim = host
    .command('claim')
    .description('claim what ran on a machine that is gone for good: it continues here, or ends')
    .argument('<host>', 'id of the host, as fleet status shows it')
  does(claim, async (cli, [id]) => {
    const answer = await cli.ask<Claimed>('claim_host', { host: id })
    const all = [...answer.sessions, ...answer.processes, ...answer.terminals]
    cli.terminal.tell(answer, () =>
      cli.terminal.print(
        all.length ? `Claimed ${answer.sessions.length} sessions of host ${id}.` : `Nothing runs on ${id}.`,
      ),
    )
  })
}
