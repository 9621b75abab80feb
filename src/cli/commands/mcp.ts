import type { Command } from 'commander'
import { openHome } from '../../home.ts'
import { homeOf, runningServer } from '../client.ts'
import { type Cli, collected, does } from '../command.ts'
import type { FarSide } from '../mcp-bridge.ts'

export function addMcp(program: Command): void {
  const mcp = program
    .command('mcp')
    .description('offer the fleet to an MCP client that starts programs; starts the fleet if it is not up')
    .option('--tools <sets>', 'which tools to offer: missions, workers, workflows (default: all)', collected)
  does(mcp, async (cli, _, { tools }) => {
    const { bridge } = await import('../mcp-bridge.ts')
    const path = tools ? `/mcp?tools=${(tools as string[]).map(encodeURIComponent).join(',')}` : '/mcp'
    await bridge(cli.terminal.streams, farSide(cli, path))
  })
}

/** The server that was named, or the one of this home, whichever runs when it is asked for. */
function farSide({ where }: Cli, path: string): FarSide {
  const named = where.url ?? (where.home ? undefined : where.env.FLEET_URL)
  const home = openHome(homeOf(where))
  const token = (named && where.env.FLEET_TOKEN) || home.token
  let starting: Promise<{ url: string }> | undefined
  return {
    path,
    async find() {
      if (named) return { url: named, token }
      const running = await runningServer(home)
      if (running) return { url: running.url, token }
      const { startInBackground } = await import('../background.ts')
      starting ??= startInBackground(home, where).finally(() => {
        starting = undefined
      })
      return { url: (await starting).url, token }
    },
  }
}
