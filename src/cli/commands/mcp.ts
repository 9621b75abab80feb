import type { Command } from 'commander'
import { runningServer } from '../../daemon/running.ts'
import { NotAllowed } from '../../domain/errors.ts'
import { AGENT_MCP } from '../../domain/records/mcp-server.ts'
import { DEFAULT_SETS, TOOL_SETS } from '../../operations/tool-sets.ts'
import { openHome } from '../../platform/home.ts'
import { openKeys } from '../../platform/keys.ts'
import { asAgent, type ClaudeFleetClient, claudeFleetIn } from '../claude-fleet-client.ts'
import { tokenFor } from '../client.ts'
import { type Cli, collected, does } from '../command.ts'
import type { FarSide } from '../mcp-bridge.ts'
import { homeOf, namedServer } from '../server.ts'

export function addMcp(program: Command): void {
  const mcp = program
    .command('mcp')
    .description('serve the fleet over stdio to an MCP client; starts the fleet if needed')
    .option(
      '--tools <sets>',
      `tool sets to offer: ${Object.keys(TOOL_SETS).join(', ')} (default: ${DEFAULT_SETS.join(', ')})`,
      collected,
    )
    .option('--agent', 'offer the tools of an agent at work; this is the default inside a session')
  does(mcp, async (cli, _, { tools, agent }) => {
    const { bridge } = await import('../mcp-bridge.ts')
    await bridge(cli.terminal.streams, await farSide(cli.where, tools as string[] | undefined, agent === true))
  })
}

/** The named server, or the server of this home that runs at the time of a call. */
async function farSide(where: Cli['where'], tools: string[] | undefined, agent: boolean): Promise<FarSide> {
  const theirs = agent || where.env.FLEET_SESSION ? undefined : claudeFleetIn(where.env)
  if (theirs) return farSideOfAgent(where, theirs, tools)
  const sets = tools ? `?tools=${tools.map(encodeURIComponent).join(',')}` : ''
  const path = `/mcp${sets}`
  const { FLEET_URL, FLEET_TOKEN, FLEET_SESSION } = where.env
  const named = namedServer(where)
  if (named && (FLEET_TOKEN || !agent)) {
    const token = await tokenFor(named, where)
    const find = async () => ({ url: named, token })
    // A running agent has its own tools, and a token for no others.
    const isInside = agent || (FLEET_SESSION && named === FLEET_URL)
    return { find, path: isInside ? `${AGENT_MCP}${sets}` : path }
  }
  if (agent)
    throw new NotAllowed('FLEET_URL and FLEET_TOKEN are missing: this command only works inside a session.', {
      try: 'For other clients, use fleet mcp.',
    })
  return { path, find: await findHome(where) }
}

/** The server of this home, started if nothing runs. */
async function findHome(where: Cli['where']): Promise<FarSide['find']> {
  const home = openHome(homeOf(where))
  const token = await openKeys(home).ownerToken()
  let starting: Promise<{ url: string }> | undefined
  return async () => {
    const running = await runningServer(home)
    if (running) return { url: running.url, token }
    const { startInBackground } = await import('../../daemon/background.ts')
    starting ??= startInBackground(home, where).finally(() => {
      starting = undefined
    })
    return { url: (await starting).url, token }
  }
}

/** The tools of teams, as claude-fleet's clients are configured: with the name that the environment gives. */
async function farSideOfAgent(
  where: Cli['where'],
  theirs: ClaudeFleetClient,
  tools: string[] = ['teams'],
): Promise<FarSide> {
  const path = `/mcp?tools=${tools.map(encodeURIComponent).join(',')}`
  const url = where.url ?? theirs.url ?? namedServer(where)
  const token = url && (await tokenFor(url, { ...where, url }))
  const find = url && token ? async () => ({ url, token }) : await findHome(where)
  return { path, find: theirs.handle ? asAgent(find, theirs) : find }
}
