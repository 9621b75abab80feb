import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { givenBy, givenIn, settingsIn } from '../config/sources.ts'
import { storeOf, withoutStore } from '../config/store.ts'
import { NotAllowed, Refusal, Unavailable, Unfit } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { type Fleet, makeFleet, served, servedBeside } from '../fleet/fleet.ts'
import { PluginHost } from '../fleet/plugins/host.ts'
import {
  followConfiguration,
  lastConfiguration,
  type Taken,
  takeConfiguration,
  watchConfiguration,
} from '../fleet/projects/configuration.ts'
import { sentence } from '../fleet/sentences.ts'
import { Terminals } from '../fleet/takeover/terminals.ts'
import { spread } from '../git/spreading.ts'
import { askAsPlugin } from '../operations/ask.ts'
import { effect } from '../platform/effects.ts'
import type { Home } from '../platform/home.ts'
import { KEY_FILES, type Keys, openKeys } from '../platform/keys.ts'
import { VERSION } from '../platform/version.ts'
import { textOf } from '../platform/whole-files.ts'
import { openPipes } from '../runner/pipes.ts'
import { identityOf, isAlive, runsPrograms } from '../runner/processes.ts'
import { type Log, openLog, type Server, type ServerOptions, startServer } from '../server/index.ts'
import { openSpawner } from '../spawning/index.ts'
import {
  type Heartbeats,
  type Lease,
  LeaseLost,
  type Lock,
  openStore,
  readDaemon,
  type ServerInfo,
  type Store,
  StoreHeld,
  type StoreSettings,
  takeLease,
  takeLock,
} from '../store/index.ts'
import { Deciding, type Office } from './deciding.ts'
import { environmentForAgents } from './environment.ts'
import { fellowsOf } from './fellows.ts'
import { HomeServer } from './home-servers.ts'
import { staySmall } from './memory.ts'
import { startReactors } from './reactors.ts'

const USUAL_PORT = 3847
const STOP_MS = 30_000
const LOOK_EVERY_MS = 20
const UNNAMED_MS = 5000
const WAIT_FOR_STORE_MS = 500

export type Listening = Omit<ServerOptions, 'port' | 'operations' | 'streamLimits' | 'say' | 'log'> & {
  port?: number
  /** Beside a server that works in this home already. Only where several may share the store. */
  beside?: boolean
  /** Go on in this home, although the files of the fleet were in another. */
  decide?: boolean
}

export interface Up {
  fleet: Fleet
  server: Server
  /** Rejects if this server has to end by itself. */
  over: Promise<never>
  /** Stops serving and dispatching; agents continue. Returns how many, unless the store does not say it. */
  stop(): Promise<number | undefined>
}

/** Takes the home, upgrades its store, and serves. If a later step fails, the earlier ones are undone. */
export async function start(
  home: Home,
  env: NodeJS.ProcessEnv,
  { flags = {}, beside = false, decide = false, ...listening }: Listening & { flags?: Record<string, string> },
  say: (line: string) => void,
  /** For what a person has to know while it starts, too. */
  note: (line: string) => void = say,
): Promise<Up> {
  const keys = openKeys(home)
  const choice = storeOf(home, env)
  if (beside || decide) requireShared(choice)
  const lock = beside ? takeLock(home.path) : ((await lockOf(home)) ?? refuse(home, choice))
  const undo: (() => unknown)[] = [() => lock?.release()]
  const unwind = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    undo.push(staySmall())
    const layers = { environment: givenIn(env), flag: givenBy(flags) }
    const here = choice.engine === 'postgresql' ? new HomeServer(home, lock) : undefined
    if (here) undo[0] = () => here.leave()
    const announce = announcer(here ?? lock!, settingsIn(env), flags)
    await announce(null)
    const onDamage = (record: string) => say(`The record ${record} is damaged and left out of lists; see fleet doctor.`)
    const store = await openedInTime(choice, { migrate: true, onDamage }, note)
    undo.push(() => store.close())
    const configuration = await lastConfiguration(store, layers)
    const environment = withoutStore(environmentForAgents(env), choice)
    const made = makeFleet({ home, keys, store, environment, configuration })
    undo.push(() => made.refusals.flush())
    const log = await openLog(made)
    const tellSettings = settingsTeller(log, say)
    const onFault = faultTeller(made, log, say)
    const over = Promise.withResolvers<never>()
    over.promise.catch(() => {})
    const parts = { home, log, say, tellSettings, onFault }
    let fleet: Fleet
    let server: Server
    const { heartbeats } = store
    if (heartbeats) {
      const me = newServer(home)
      await requireSameKeys(keys, heartbeats, home, decide)
      const deciding = new Deciding({
        ...{ heartbeats, say: note, onFault, me: () => me, fromAnyHome: decide, onNewer: over.reject },
        // The fleet needs to know who decides, and who decides acts on the fleet.
        fleet: made,
        begin: async (acting, lease) => {
          tellSettings(await takeConfiguration(acting))
          return act(acting, lease, server.url, parts)
        },
        meanwhile: async isDecider => {
          await here!.look(isDecider)
          if (!isDecider) await followConfiguration(made)
        },
      })
      fleet = servedBeside(
        made,
        deciding,
        fellowsOf(made, heartbeats, () => me),
      )
      server = await listen(fleet, { ...listening, beside, log }, say)
      undo.push(() => server.close())
      me.url = server.reachableAt[0] ?? server.url
      await announce(server)
      undo.push(() => deciding.stop())
      await deciding.start()
    } else {
      const lease = await takeLease(store, made.now())
      fleet = served(made, lease)
      tellSettings(await takeConfiguration(fleet.daemon!))
      server = await listen(fleet, { ...listening, log }, say)
      undo.push(() => server.close())
      await announce(server)
      const office = await act(fleet.daemon!, lease, server.url, parts)
      undo.push(() => office.stop())
    }
    fleet.measurements.isUp = true
    return {
      fleet,
      server,
      over: over.promise,
      async stop() {
        // A store that is away must not keep the server from ending.
        const live = await fleet.store.find('sessions', { index: 'live', limit: 500 }).catch(() => undefined)
        await unwind()
        return live?.items.filter(({ value }) => fleet.agents.driven(value).can.adopted).length
      },
    }
  } catch (error) {
    await unwind()
    throw error
  }
}

interface Parts {
  home: Home
  log: Log
  say: (line: string) => void
  tellSettings: (taken: Taken) => void
  onFault: (what: string, error: unknown) => void
}

/** Everything that acts, under a lease. If a later step fails, the earlier ones are undone. */
async function act(acting: Fleet, lease: Lease, url: string, parts: Parts): Promise<Office> {
  const { home, log, say, tellSettings, onFault } = parts
  const undo: (() => unknown)[] = []
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    await afterTheLastServer(home, say)
    // Before there is a spawner: for this alone it would stay for a while in a server at rest.
    void spread(crowdedFolders(home))
    const spawner = openSpawner({ onStart: pid => writeSpawner(home, pid, onFault) })
    undo.push(() => spawner.close())
    undo.push(openPipes(join(home.path, 'pipes')).close)
    const plugins = await startPlugins(acting, log, onFault)
    const endPlugins = () =>
      plugins.stop().catch(error => {
        // How far they were told could not be written: the next server tells them the last events again.
        if (!(error instanceof LeaseLost)) onFault('ending the plugins', error)
      })
    undo.push(async () => {
      await endPlugins()
      if (acting.plugins.host === plugins) acting.plugins.host = undefined
    })
    const terminals = new Terminals(acting, onFault)
    acting.terminals.host = terminals
    // A person goes on in their terminal, whoever decides.
    undo.push(() => lease.lost.aborted || terminals.close())
    const reactors = await startReactors(acting, { url, onFault, lease })
    undo.push(() => reactors.stop())
    const unwatch = watchConfiguration(acting, tellSettings, onFault)
    undo.push(unwatch)
    // It still answers requests like any other server, but the process that has the lease now decides.
    lease.lost.addEventListener('abort', () => {
      unwatch()
      void endPlugins()
    })
    return { stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function requireShared({ engine }: { engine: string }): void {
  if (engine !== 'postgresql')
    throw new NotAllowed('With SQLite one server works in a home, and decides.', {
      try: 'For several servers, move the records to PostgreSQL: fleet store copy --to <address>',
    })
}

/** A server of an older version may decide now: the store is brought up to date when that one is gone. */
async function openedInTime(
  choice: StoreSettings,
  opening: Parameters<typeof openStore>[1],
  say: (line: string) => void,
): Promise<Store> {
  for (let isTold = false; ; isTold = true) {
    try {
      return await openStore(choice, opening)
    } catch (error) {
      if (!(error instanceof StoreHeld)) throw error
      if (!isTold) say(`${error.message} This server waits until that one is stopped.`)
      await new Promise(resolve => setTimeout(resolve, WAIT_FOR_STORE_MS))
    }
  }
}

const newServer = (home: Home): ServerInfo => ({
  ...{ id: newId(), host: hostname(), pid: process.pid, version: VERSION, home: home.id, url: null },
})

/** With other keys, a browser signed in at one server would be a stranger at the next, and so would an agent. */
async function requireSameKeys(keys: Keys, heartbeats: Heartbeats, home: Home, replace: boolean): Promise<void> {
  const alike = ['servers alike', await keys.ownerToken(), (await keys.pushKey()).publicKey].join('\n')
  const mine = await keys.sign(alike)
  if ((await heartbeats.mark(mine, replace)) === mine) return
  throw new Unfit(
    'This home has other keys than the servers of this store, so that they would not know each other’s people and agents.',
    {
      try: `Copy the files ${KEY_FILES.join(', ')} from the home of such a server into ${home.path}. If that home is gone for good: fleet up --decide`,
    },
  )
}

/** Plugins start before anything is dispatched, because a plugin may refuse it. */
async function startPlugins(
  fleet: Fleet,
  log: Log,
  onFault: (what: string, error: unknown) => void,
): Promise<PluginHost> {
  const host = new PluginHost(fleet, {
    ask: askAsPlugin.bind(null, fleet),
    log: (plugin, text) => log.info({ plugin }, text),
    onFault,
  })
  fleet.plugins.host = host
  await host.start()
  return host
}

/** The folders in which folders come and go with every mission. */
function crowdedFolders({ path }: Home): string[] {
  const perProject = ['worktrees', 'repositories', 'warm'].flatMap(name =>
    readdirSync(join(path, name), { withFileTypes: true }).filter(entry => entry.isDirectory()),
  )
  return [join(path, 'sessions'), join(path, 'tasks'), ...perProject.map(each => join(each.parentPath, each.name))]
}

const spawnerFile = (home: Home): string => join(home.path, 'spawner')

/** So that the next server waits for the programs that it runs. */
function writeSpawner(home: Home, pid: number, onFault: (what: string, error: unknown) => void): void {
  try {
    const identity = identityOf(pid)
    if (identity) writeWhole(spawnerFile(home), JSON.stringify({ ...identity, server: identityOf(process.pid) }))
  } catch (error) {
    onFault('starting programs', error)
  }
}

/** A process as a file describes it. An incomplete file describes none. */
const Process = z.object({ pid: z.number().int().positive(), started: z.string(), boot: z.string() })
const Former = Process.extend({ server: Process.optional() })
type Former = z.infer<typeof Former>

function identityIn(file: string): Former | undefined {
  try {
    return Former.safeParse(JSON.parse(textOf(file) ?? 'null')).data
  } catch {
    return undefined
  }
}

/** Renamed into place: a reader never sees a half-written file. */
function writeWhole(file: string, text: string): void {
  rmSync(`${file}.new`, { force: true, recursive: true })
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) rmSync(file, { recursive: true })
  renameSync(`${file}.new`, file)
}

/** The port chosen earlier; undefined if there is none, or the file cannot be read. */
function keptPort(file: string): number | undefined {
  try {
    const port = Number(textOf(file))
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined
  } catch {
    return undefined
  }
}

/** Waits until the git commands of a killed server have finished; nobody else works there before that. */
async function afterTheLastServer(home: Home, say: (line: string) => void): Promise<void> {
  const file = spawnerFile(home)
  const former = identityIn(file)
  if (!former) return
  for (let waited = 0; isAtWork(former, home) && waited < STOP_MS; waited += LOOK_EVERY_MS) {
    if (waited === 1000) say('Waiting for git commands that the last server started.')
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

/** The server of a spawner may live on without deciding, stopped perhaps. Then only what it had begun counts. */
function isAtWork(former: Former, home: Home): boolean {
  if (!isAlive(former)) return false
  return former.server && isAlive(former.server) ? runsPrograms(former.pid, home.id) : true
}

/** Reports an unexpected error: in full in the log, without secrets, and in one line to the person. */
function faultTeller(fleet: Fleet, log: Log, say: (line: string) => void): (what: string, error: unknown) => void {
  return (what, error) => {
    log.error({ fault: error instanceof Error ? error.stack : String(error) }, what)
    // A known error is printed at once: on a full disk the log cannot hold it.
    const isKnown = error instanceof Refusal || error instanceof Unavailable
    say(`${what}: ${isKnown ? sentence(error) : 'an error'} (more in ${fleet.home.logs})`)
  }
}

/** Reports the result of an edit of fleet.toml. */
function settingsTeller(log: Log, say: (line: string) => void): (taken: Taken) => void {
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
  (lock: Pick<Lock, 'announce'>, settings: Record<string, string>, flags: Record<string, string>) =>
  (server: Server | null): Promise<void> =>
    lock.announce({
      pid: process.pid,
      started: identityOf(process.pid)!.started,
      version: VERSION,
      host: hostname(),
      url: server?.url ?? null,
      reachable_at: [...(server?.reachableAt ?? [])],
      settings,
      flags,
    })

/** Waits for a command that briefly holds the home to upgrade the store; it does not say who it is. */
async function lockOf(home: Home): Promise<Lock | undefined> {
  for (const start = Date.now(); ; await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))) {
    const lock = takeLock(home.path)
    if (lock || readDaemon(home.path) || Date.now() - start > UNNAMED_MS) return lock
  }
}

function refuse(home: Home, { engine }: { engine: string }): never {
  const daemon = readDaemon(home.path)
  if (!daemon) throw new Unfit(`Another process holds the home ${home.path}.`, { try: 'fleet status' })
  const since = statSync(join(home.path, 'holder.json'), { throwIfNoEntry: false })?.mtime.toISOString()
  const where = daemon.url ? `, at ${daemon.url}` : ''
  throw new Unfit(`The home ${home.path} is held by process ${daemon.pid}${since ? ` since ${since}` : ''}${where}.`, {
    try: `fleet up --detach prints a link to that server; fleet down stops it; --home chooses another home.${engine === 'postgresql' ? ' fleet up --beside starts another server of this home.' : ''}`,
    facts: { ...daemon, since },
  })
}

/** The port is chosen once and kept, so that live agents and bookmarks find the next server. Only the first start may choose another. */
async function listen(
  fleet: Fleet,
  { port, beside, ...listening }: Omit<Listening, 'decide'> & { log: Log },
  say: (line: string) => void,
): Promise<Server> {
  const file = join(fleet.home.path, 'port')
  const kept = keptPort(file)
  // The port of the home belongs to the server that was there before.
  const chosen = port ?? (beside ? 0 : (kept ?? USUAL_PORT))
  const server = await startServer(fleet, { ...listening, port: chosen, say }).catch(error => {
    const taken = error instanceof Refusal && error.code === 'cannot_listen'
    if (!taken || port !== undefined || kept !== undefined) throw error
    return startServer(fleet, { ...listening, port: 0, say })
  })
  const url = new URL(server.url)
  const listensAt = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (listensAt === kept || (beside && kept !== undefined)) return server
  await effect('port.rename', () => writeWhole(file, `${listensAt}\n`))
  return server
}
