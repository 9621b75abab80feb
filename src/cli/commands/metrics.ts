import type { Command } from 'commander'
import { does } from '../command.ts'

export function addMetrics(program: Command): void {
  does(program.command('health').description('check whether the server answers and is ready'), async cli =>
    (await import('../health.ts')).showHealth(cli),
  )
  const metrics = program
    .command('metrics')
    .description('show what the server measures')
    .option('--all', 'include zeros, and what Node measures about the process')
    .option('--token', 'create a token for Prometheus, which reads this and nothing else')
    .option('--revoke-token', 'revoke that token')
  does(metrics, async (cli, _, options) => {
    const { makeToken, revokeToken, showMetrics } = await import('../metrics.ts')
    if (options.token) return makeToken(cli)
    if (options.revokeToken) return revokeToken(cli)
    return showMetrics(cli, options.all === true)
  })
}
