import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { notTaken } from '../../config/not-taken.ts'
import { UP } from '../../daemon/background.ts'
import { answeringServer, type Running } from '../../daemon/running.ts'
import type { Listening } from '../../daemon/start.ts'
import { type Home, openHome } from '../../platform/home.ts'
import { openKeys } from '../../platform/keys.ts'
import { type Cli, collected, does } from '../command.ts'
import { homeOf } from '../server.ts'
import { settingsFrom } from './config.ts'

/** Where the server listens. */
export const addListening = (command: Command): Command =>
  command
    .option('--host <address>', 'listen on this address (default: 127.0.0.1)')
    .option('--port <n>', 'listen on this port (default: the one used before, at first 3847)', portFrom)
    .option('--tls-cert <file>', 'TLS certificate (PEM)')
    .option('--tls-key <file>', 'TLS key (PEM)')
    .option('--allow-host <names>', 'other host names to accept, such as the one of a proxy', collected)
    .option('--trust-proxy <addresses>', 'proxies that say from which address a request comes', collected)
    .option('--allow-insecure', 'accept other machines without TLS')

export function addServer(program: Command): void {
  const up = program
    .command('up')
    .description('start the fleet; if it is up, print the link')
    .option('-d, --detach', 'run in the background')
  addListening(up)
    .option('--set <key=value>', 'a setting for this run; may be repeated', repeated)
    .option(
      '--store <address>',
      'keep the records of a new home in PostgreSQL: postgresql://user@host/database, or file:<path>',
    )
    .option('--beside', 'start another server of this home beside the one that runs; its records are in PostgreSQL')
    .option('--decide', 'go on in this home; the one with the files of the fleet is gone for good (PostgreSQL)')
    .option('--stop', 'stop the fleet instead: fleet down')
    .option('--status', 'show the state instead: fleet status')
    .addOption(new Option('--into-log', 'print no sign-in links').hideHelp())
  does(up, async (cli, _, options) => {
    if (options.stop) return stopFleet(cli, false)
    if (options.status) return (await import('../status.ts')).showStatus(cli)
    const home = openHome(homeOf(cli.where))
    if (options.store) cli.where.env = await withStore(cli.where.env, options.store as string)
    if (!options.intoLog) for (const line of notTaken(cli.where.env, options)) cli.terminal.note(line)
    const running = options.beside ? undefined : await answeringServer(home)
    if (running && !options.intoLog)
      return tellUp(cli, home, running, !!options.store || argumentsFrom(options, cli.terminal.streams.cwd).length > 0)
    return options.detach ? startDetached(cli, home, options) : startHere(cli, home, options)
  })

  const down = program
    .command('down')
    .description('stop the fleet; agents continue, and the next fleet up picks them up')
    .option('--agents', 'stop agents and previews first; their work is kept')
  does(down, async (cli, _, options) => stopFleet(cli, options.agents === true))
}

async function stopFleet(cli: Cli, agents: boolean): Promise<undefined> {
  const { stopServer } = await import('../../daemon/stop.ts')
  const resume = agents ? await (await import('../stop-agents.ts')).stopAgents(cli) : undefined
  const stopped = await stopServer(openHome(homeOf(cli.where)))
  await resume?.()
  cli.terminal.tell({ stopped }, () =>
    cli.terminal.print(stopped ? 'The fleet is down.' : 'No fleet is running on this home.'),
  )
}

function portFrom(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('It must be a number between 0 and 65535.')
  return port
}

const listeningFrom = (options: Record<string, unknown>): Listening => ({
  host: options.host as string | undefined,
  port: options.port as number | undefined,
  tlsCert: options.tlsCert as string | undefined,
  tlsKey: options.tlsKey as string | undefined,
  allowedHosts: options.allowHost as string[] | undefined,
  trustedProxies: options.trustProxy as string[] | undefined,
  allowInsecure: options.allowInsecure === true,
  beside: options.beside === true,
  decide: options.decide === true,
})

/** In the environment, where the server in the background and its store find it, and `ps` does not show it. */
async function withStore(env: NodeJS.ProcessEnv, address: string): Promise<NodeJS.ProcessEnv> {
  const { requireNoPassword } = await import('../../store/postgres/index.ts')
  const { STORAGE_BACKEND: _, FLEET_STORE_FILE: __, ...others } = env
  return { ...others, FLEET_STORE: requireNoPassword(address) }
}

/** Values may contain commas, so each has its own option. */
const repeated = (value: string, before: string[] = []): string[] => [...before, value]
const flagsFrom = ({ set = [] }: Record<string, unknown>): Record<string, string> => settingsFrom(set as string[])

/** The server runs already, so options have no effect. */
async function tellUp(cli: Cli, home: Home, running: Running, hasOptions: boolean): Promise<undefined> {
  const { welcome } = await import('../welcome.ts')
  const { signInUrl } = await import('../../platform/tokens.ts')
  cli.terminal.note(`The fleet is already up (process ${running.pid}).`)
  if (hasOptions) cli.terminal.note('To start it with these options: fleet down, then the same command again.')
  await welcome(cli, home, { url: running.url, signIn: await signInUrl(openKeys(home), running.url, Date.now()) })
}

async function startHere(cli: Cli, home: Home, options: Record<string, unknown>): Promise<undefined> {
  const { terminal, where } = cli
  const { start } = await import('../../daemon/start.ts')
  const { welcome } = await import('../welcome.ts')
  // A server keeps running even if nobody reads its output, or if the disk for its output is full.
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error').on('error', () => {})
  const stopped = stopAsked()
  let started = false
  const asked = { ...listeningFrom(options), flags: flagsFrom(options) }
  const note = (line: string) => terminal.note(`fleet: ${line}`)
  const up = await start(home, where.env, asked, line => started && note(line), note)
  if (options.intoLog) terminal.print(`${new Date().toISOString()} ${UP} ${up.server.url}`)
  else await welcome(cli, home, { url: up.server.url, signIn: await up.server.signInUrl() })
  started = true
  // It ends by itself once a newer program has changed the store.
  const ended = await Promise.race([stopped, up.over.catch((error: unknown) => ({ error }))])
  started = false
  const live = await up.stop()
  if (ended) throw ended.error
  if (live === undefined)
    return void terminal.note('Stopped. The store does not answer. Agents continue; the next fleet up picks them up.')
  terminal.note(
    live
      ? `Stopped. ${live} ${live === 1 ? 'agent continues' : 'agents continue'}; the next fleet up picks them up.`
      : 'Stopped.',
  )
}

const stopAsked = (): Promise<void> =>
  new Promise(resolve => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => resolve())
  })

async function startDetached(cli: Cli, home: Home, options: Record<string, unknown>): Promise<undefined> {
  const { startInBackground } = await import('../../daemon/background.ts')
  const { welcome } = await import('../welcome.ts')
  const { signInUrl } = await import('../../platform/tokens.ts')
  const running = await startInBackground(home, cli.where, argumentsFrom(options, cli.terminal.streams.cwd), {
    beside: options.beside === true,
  })
  await welcome(cli, home, { url: running.url, signIn: await signInUrl(openKeys(home), running.url, Date.now()) })
}

/** The same options for a server that starts in another folder. */
export function argumentsFrom(options: Record<string, unknown>, cwd: string): string[] {
  const { host, port, tlsCert, tlsKey, allowedHosts, trustedProxies, allowInsecure, beside, decide } =
    listeningFrom(options)
  const whole = (file: string | undefined) => file && resolve(cwd, file)
  const named: [string, unknown][] = [
    ['--host', host],
    ['--port', port],
    ['--tls-cert', whole(tlsCert)],
    ['--tls-key', whole(tlsKey)],
    ['--allow-host', allowedHosts?.join(',')],
    ['--trust-proxy', trustedProxies?.join(',')],
  ]
  return [
    ...named.flatMap(([flag, value]) => (value === undefined ? [] : [`${flag}=${value}`])),
    ...((options.set as string[] | undefined) ?? []).map(pair => `--set=${pair}`),
    ...(allowInsecure ? ['--allow-insecure'] : []),
    ...(beside ? ['--beside'] : []),
    ...(decide ? ['--decide'] : []),
  ]
}
