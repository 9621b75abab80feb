import type { Command } from 'commander'
import { NotAllowed } from '../../domain/errors.ts'
import { AGENT_MCP } from '../../domain/records/mcp-server.ts'
import { openHome } from '../../platform/home.ts'
import { homeOf, runningServer } from '../client.ts'
import { type Cli, collected, does } from '../command.ts'
import type { FarSide } from '../mcp-bridge.ts'

export function addMcp(program: Command): void {
  const mcp = program
    .command('mcp')
    .description('offer the fleet to an MCP client that starts programs; starts the fleet if it is not up')
    .option('--tools <sets>', 'which tools to offer: missions, workers, workflows (default: all)', collected)
    .option('--agent', 'offer an agent at work its own tools instead, as is done inside a session anyway')
  does(mcp, async (cli, _, { tools, agent }) => {
    const { bridge } = await import('../mcp-bridge.ts')
    await bridge(cli.terminal.streams, await farSide(cli.where, tools as string[] | undefined, agent === true))
  })
}

/** The server that was named, or the one of this home, whichever runs when it is asked for. */
async function farSide(where: Cli['where'], tools: string[] | undefined, agent: boolean): Promise<FarSide> {
  const path = tools ? `/mcp?tools=${tools.map(encodeURIComponent).join(',')}` : '/mcp'
  const { FLEET_URL, FLEET_TOKEN, FLEET_SESSION } = where.env
  const named = where.url ?? (where.home ? undefined : FLEET_URL)
  if (named && FLEET_TOKEN) {
    const find = async () => ({ url: named, token: FLEET_TOKEN })
    // An agent at work has tools of its own, and a token that opens no others.
    const isInside = agent || (FLEET_SESSION && named === FLEET_URL)
    return { find, path: isInside ? AGENT_MCP : path }
  }
  if (agent)
    throw new NotAllowed('This is not inside a session: FLEET_URL and FLEET_TOKEN are missing.', {
      try: 'For a client outside: fleet mcp',
    })
  const home = openHome(homeOf(where))
  const { token } = home
  let starting: Promise<{ url: string }> | undefined
  return {
    path,
    async find() {
      if (named) return { url: named, token }
      const running = await runningServer(home)
      if (running) return { url: running.url, token }
      const { startInBackground } = await import('../../daemon/background.ts')
      starting ??= startInBackground(home, where).finally(() => {
        starting = undefined
      })
      return { url: (await starting).url, token }
    },
  }
}
