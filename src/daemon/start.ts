import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { homeOf, type Where } from '../cli/client.ts'
import { givenBy, givenIn, settingsIn } from '../config/settings.ts'
import { NotAllowed, Refusal, Unfit } from '../domain/errors.ts'
import { type Fleet, makeFleet } from '../fleet/fleet.ts'
import { PluginHost } from '../fleet/plugins/host.ts'
import {
  lastConfiguration,
  type Taken,
  takeConfiguration,
  watchConfiguration,
} from '../fleet/projects/configuration.ts'
import { sentence } from '../fleet/sentences.ts'
import { askAsPlugin } from '../operations/ask.ts'
import { effect } from '../platform/effects.ts'
import { type Home, openHome } from '../platform/home.ts'
import { VERSION } from '../platform/version.ts'
import { textOf } from '../platform/whole-files.ts'
import { bootId, identityOf, isAlive, signal } from '../runner/processes.ts'
import { openLog, type Server, type ServerOptions, startServer } from '../server/index.ts'
import { openSpawner } from '../spawning/index.ts'
import { isHeld, type Lease, openSqlite, readHolder, takeLease } from '../store/index.ts'
import { environmentForAgents } from './environment.ts'
import { startHolder } from './holder.ts'

const USUAL_PORT = 3847
const STOP_MS = 30_000
const LOOK_EVERY_MS = 20
const UNNAMED_MS = 5000

export type Listening = Omit<ServerOptions, 'port' | 'operations' | 'streamLimits' | 'say'> & { port?: number }

export interface Up {
  fleet: Fleet
  server: Server
  /** Stops serving and dispatching; agents go on. Answers with how many. */
  stop(): Promise<number>
}

/** Takes the home, brings its store up to date, and serves. What was begun is undone when a later step fails. */
export async function start(
  home: Home,
  env: NodeJS.ProcessEnv,
  { flags = {}, ...listening }: Listening & { flags?: Record<string, string> },
  say: (line: string) => void,
): Promise<Up> {
  const lease = (await leaseOf(home)) ?? refuse(home)
  const undo: (() => unknown)[] = [() => lease.release()]
  const unwind = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const spawner = openSpawner()
    undo.push(spawner.close)
    const layers = { environment: givenIn(env), flag: givenBy(flags) }
    const announce = announcer(lease, settingsIn(env), flags)
    await announce(null)
    const onDamage = (record: string) => say(`The record ${record} is damaged and left out of lists; see fleet doctor.`)
    const store = await openSqlite(home.storeFile, { migrate: true, onDamage })
    undo.push(() => store.close())
    const configuration = await lastConfiguration(store, layers)
    const fleet = makeFleet({ home, store, environment: environmentForAgents(env), configuration })
    const tellSettings = settingsTeller(fleet, say)
    tellSettings(await takeConfiguration(fleet))
    const server = await listen(fleet, listening, say)
    undo.push(() => server.close())
    await announce(server)
    await afterTheLastServer(home, say)
    await spawner.ready
    writeSpawner(home, spawner.pid)
    const onFault = faultTeller(fleet, say)
    const plugins = await startPlugins(fleet, onFault)
    undo.push(() => plugins.stop())
    const holder = await startHolder(fleet, { url: server.url, onFault })
    undo.push(() => holder.stop())
    undo.push(watchConfiguration(fleet, tellSettings, onFault))
    return {
      fleet,
      server,
      async stop() {
        const live = await fleet.store.find('sessions', { index: 'live', limit: 500 })
        await unwind()
        return live.items.filter(({ value }) => fleet.agents.driven(value).can.adopted).length
      },
    }
  } catch (error) {
    await unwind()
    throw error
  }
}

/** Before anything is dispatched: a plugin may have something against it. */
async function startPlugins(fleet: Fleet, onFault: (what: string, error: unknown) => void): Promise<PluginHost> {
  const log = openLog(fleet)
  const host = new PluginHost(fleet, {
    ask: askAsPlugin.bind(null, fleet),
    log: (plugin, text) => log.info({ plugin }, text),
    onFault,
  })
  fleet.plugins.host = host
  await host.start()
  return host
}

const spawnerFile = (home: Home): string => join(home.path, 'spawner')

function writeSpawner(home: Home, pid: number | undefined): void {
  const identity = pid === undefined ? undefined : identityOf(pid)
  if (identity) writeWhole(spawnerFile(home), JSON.stringify(identity))
}

/** What a file says of a process; half a word, or none, says nothing. */
const Former = z.object({ pid: z.number().int().positive(), started: z.string(), boot: z.string() })

function identityIn(file: string): z.infer<typeof Former> | undefined {
  try {
    return Former.safeParse(JSON.parse(textOf(file) ?? 'null')).data
  } catch {
    return undefined
  }
}

/** Renamed into place: a reader finds the whole of it, and whatever was there is replaced. */
function writeWhole(file: string, text: string): void {
  rmSync(`${file}.new`, { force: true, recursive: true })
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) rmSync(file, { recursive: true })
  renameSync(`${file}.new`, file)
}

/** The port that was chosen before; undefined: none was, or it cannot be told. */
function keptPort(file: string): number | undefined {
  try {
    const port = Number(textOf(file))
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined
  } catch {
    return undefined
  }
}

/** What a server that was killed had asked git to do is done to its end; until then nobody else works there. */
async function afterTheLastServer(home: Home, say: (line: string) => void): Promise<void> {
  const file = spawnerFile(home)
  const former = identityIn(file)
  if (!former) return
  for (let waited = 0; isAlive(former) && waited < STOP_MS; waited += LOOK_EVERY_MS) {
    if (waited === 1000) say('Waiting for what the last server had begun in git.')
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

/** A fault nobody asked for: in full in the log, where secrets are taken out, and in a word for whoever looks on. */
function faultTeller(fleet: Fleet, say: (line: string) => void): (what: string, error: unknown) => void {
  const log = openLog(fleet)
  return (what, error) => {
    log.error({ fault: error instanceof Error ? error.stack : String(error) }, what)
    // What has a name is said at once: on a full disk the log cannot hold it.
    say(`${what}: ${error instanceof Refusal ? sentence(error) : 'an error'} (more in ${fleet.home.logs})`)
  }
}

/** What became of an edit of fleet.toml. */
function settingsTeller(fleet: Fleet, say: (line: string) => void): (taken: Taken) => void {
  const log = openLog(fleet)
  return ({ changed, refused }) => {
    const keys = Object.keys(changed)
    if (refused) {
      log.warn({ refused }, 'settings')
      say(`${refused} The settings stay as they were.`)
    } else if (keys.length) {
      log.info({ changed }, 'settings')
      say(`Settings changed: ${keys.join(', ')}.`)
    }
  }
}

const announcer =
  (lease: Lease, settings: Record<string, string>, flags: Record<string, string>) =>
  (server: Server | null): Promise<void> =>
    lease.announce({
      pid: process.pid,
      started: identityOf(process.pid)!.started,
      version: VERSION,
      host: hostname(),
      url: server?.url ?? null,
      reachable_at: [...(server?.reachableAt ?? [])],
      settings,
      flags,
    })

/** Waits for a command that holds the home for a moment to bring the store up to date: it does not say who it is. */
async function leaseOf(home: Home): Promise<Lease | undefined> {
  for (const start = Date.now(); ; await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))) {
    const lease = takeLease(home.path)
    if (lease || readHolder(home.path) || Date.now() - start > UNNAMED_MS) return lease
  }
}

function refuse(home: Home): never {
  const holder = readHolder(home.path)
  if (!holder) throw new Unfit(`Another process holds the home ${home.path}.`, { try: 'fleet status' })
  const since = statSync(join(home.path, 'holder.json'), { throwIfNoEntry: false })?.mtime.toISOString()
  const where = holder.url ? `, at ${holder.url}` : ''
  throw new Unfit(`The home ${home.path} is held by process ${holder.pid}${since ? ` since ${since}` : ''}${where}.`, {
    try: 'fleet up --detach prints a link to that one; fleet down stops it; --home chooses another home.',
    facts: { ...holder, since },
  })
}

/** The port is chosen once and kept, so that live agents and bookmarks find the next server; only a first start may pick another. */
async function listen(fleet: Fleet, { port, ...listening }: Listening, say: (line: string) => void): Promise<Server> {
  const file = join(fleet.home.path, 'port')
  const kept = keptPort(file)
  const chosen = port ?? kept ?? USUAL_PORT
  const server = await startServer(fleet, { ...listening, port: chosen, say }).catch(error => {
    const taken = error instanceof Refusal && error.code === 'cannot_listen'
    if (!taken || port !== undefined || kept !== undefined) throw error
    return startServer(fleet, { ...listening, port: 0, say })
  })
  const url = new URL(server.url)
  const listensAt = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (listensAt === kept) return server
  await effect('port.rename', () => writeWhole(file, `${listensAt}\n`))
  return server
}

/** Asks the server of this home to stop, and waits until it has; false: none was running. */
export async function stopServer(where: Pick<Where, 'home' | 'env'>): Promise<boolean> {
  const home = openHome(homeOf(where))
  if (!isHeld(home.path)) return false
  const holder = readHolder(home.path)
  if (!holder)
    throw new Unfit(`A process holds the home ${home.path}, but has not said which.`, { try: 'Try again in a moment.' })
  if (holder.host !== hostname())
    throw new NotAllowed(`The server of this home runs on another machine: ${holder.host}.`, { try: 'Stop it there.' })
  signal({ pid: holder.pid, started: holder.started, boot: bootId }, 'SIGTERM')
  for (const start = Date.now(); isHeld(home.path); await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))) {
    if (Date.now() - start > STOP_MS)
      throw new Unfit(`The server (process ${holder.pid}) has not stopped within ${STOP_MS / 1000} seconds.`, {
        try: 'fleet status',
      })
  }
  return true
}
