import { statfsSync } from 'node:fs'
import { enginesOf } from '../agents/index.ts'
import { configurationOf } from '../config/configuration.ts'
import { modelsIn, PRICES_FILE } from '../config/prices.ts'
import { givenIn } from '../config/sources.ts'
import { storeOf } from '../config/store.ts'
import { answeringServer, runningServer } from '../daemon/running.ts'
import { NotAllowed, Refusal } from '../domain/errors.ts'
import { drivenName } from '../domain/records/project.ts'
import { agentsFor } from '../fleet/agents.ts'
import { readFitting } from '../fleet/projects/configuration.ts'
import { git, requireGit } from '../git/run.ts'
import { openHome } from '../platform/home.ts'
import { openKeys } from '../platform/keys.ts'
import { groupsFolderOf } from '../runner/groups.ts'
import { sandboxState } from '../runner/sandbox.ts'
import { examineSqlite, openStore, repairIndexes, type StoreHealth, StoreOutdated, takeLock } from '../store/index.ts'
import { homeOf, type Where } from './server.ts'
import { size } from './show.ts'

export interface Finding {
  name: string
  /** bad: the fleet cannot work; poor: something is worth knowing. */
  state: 'good' | 'poor' | 'bad'
  text: string
  advice?: string
}

type Examination = (where: Where) => Promise<Omit<Finding, 'name'>>

const PLATFORMS: Record<string, Omit<Finding, 'name'>> = {
  linux: { state: 'good', text: 'Linux: supported and tested' },
  darwin: { state: 'good', text: 'macOS: supported, but not tested' },
  win32: {
    state: 'bad',
    text: 'Windows is supported only through WSL',
    advice: 'Run wsl --install, then install fleet in WSL.',
  },
}

const EXAMINATIONS: Record<string, Examination> = {
  platform: async () => PLATFORMS[process.platform] ?? { state: 'poor', text: `${process.platform}: not tested` },
  node: async () => ({ state: 'good', text: `Node ${process.versions.node}` }),
  git: async () => ({ state: 'good', text: `git ${await requireGit()}` }),
  author: async where => {
    const asking = ['-c', 'user.useConfigOnly=true', 'var', 'GIT_AUTHOR_IDENT']
    const { exit, stdout } = await git(openHome(homeOf(where)).path, asking, { answers: [128] })
    if (exit === 0) return { state: 'good', text: stdout.toString('utf8').replace(/ \d+ [+-]\d+\s*$/, '') }
    return {
      state: 'poor',
      text: 'git has no user.name or user.email, so Flotilla is the author of commits',
      advice: 'git config --global user.name "…", and user.email',
    }
  },
  home: async where => {
    const home = openHome(homeOf(where))
    openKeys(home)
    return { state: 'good', text: home.path }
  },
  settings: async where => {
    givenIn(where.env)
    const { fault } = readFitting(homeOf(where), agentsFor(homeOf(where)))
    if (!fault) return { state: 'good', text: 'all settings are valid' }
    return { state: 'poor', text: `${fault.message} The previous settings stay in effect`, advice: fault.hint }
  },
  store: examineStore,
  disk: async where => {
    const { bavail, bsize } = statfsSync(openHome(homeOf(where)).path)
    const free = bavail * bsize
    const enough = free >= configurationOf(homeOf(where), where.env).settings.minFreeDisk
    return {
      state: enough ? 'good' : 'bad',
      text: `${size(free)} free`,
      advice: enough ? undefined : 'Nothing starts on a full disk. Free some: fleet clean',
    }
  },
  sandbox: async where => {
    const { works, problem, advice } = await sandboxState(where.env)
    return works
      ? { state: 'good', text: 'bubblewrap works; it confines agents that cannot enforce a preset themselves' }
      : { state: 'poor', text: `${problem} Agents that cannot enforce a preset themselves are refused`, advice }
  },
  processes: async where => {
    // A running server may have been started from elsewhere.
    const running = await runningServer(openHome(homeOf(where)))
    if (groupsFolderOf(running?.pid ?? 'self'))
      return { state: 'good', text: `complete: a session ends with everything it started, by its control group` }
    const { works } = await sandboxState(where.env)
    return {
      state: 'poor',
      text: `${works ? 'complete in the sandbox; otherwise ' : ''}searched for: a process that leaves its parents, its environment and its folder can outlive its session`,
      advice:
        process.platform === 'linux'
          ? 'Run the server where it may make control groups: as a user service of systemd, or with a writable /sys/fs/cgroup (version 2).'
          : undefined,
    }
  },
  server: async where => {
    const running = await answeringServer(openHome(homeOf(where)))
    return running
      ? { state: 'good', text: `up at ${running.url}` }
      : { state: 'good', text: 'down; commands start it when needed' }
  },
}

async function examineStore(where: Where): Promise<Omit<Finding, 'name'>> {
  try {
    const choice = storeOf(openHome(homeOf(where)), where.env)
    const store = await openStore(choice, { migrate: false })
    await store.close()
    if (choice.engine === 'sqlite') return soundness('SQLite', examineSqlite(choice.file))
    const { examinePostgres } = await import('../store/postgres/index.ts')
    const health = await examinePostgres(choice)
    return soundness(`PostgreSQL ${health.version} (${health.place}${health.encrypted ? ', TLS' : ''})`, health)
  } catch (error) {
    if (error instanceof StoreOutdated)
      return {
        state: 'good',
        text: error.missing
          ? 'none yet; it is created when needed'
          : 'older than this program; it is updated when first used',
      }
    throw error
  }
}

function soundness(database: string, { faults, missing, damaged, indexes }: StoreHealth): Omit<Finding, 'name'> {
  if (faults.length)
    return {
      state: 'bad',
      text: `${database} finds it damaged: ${faults.join('; ')}`,
      advice: 'Restore a backup: fleet restore',
    }
  if (missing.length)
    return {
      state: 'bad',
      text: `records are missing: it has ${missing.join(', ')}`,
      advice: 'Restore a backup: fleet restore. To continue with what is left: fleet down, then fleet doctor --repair',
    }
  if (indexes)
    return {
      state: 'bad',
      text: `${indexes} entries of its indexes are wrong`,
      advice: 'fleet down, then fleet doctor --repair',
    }
  if (damaged.length)
    return {
      state: 'bad',
      text: `${damaged.length} damaged: ${damaged.slice(0, 20).join(', ')}`,
      advice: 'Lists do not show them; everything else works. Restore a backup to get them back.',
    }
  return { state: 'good', text: `${database} opens, is up to date and has no errors` }
}

/** Builds the indexes of the store again. Nobody else may use the home at that time. */
export async function repairStore(where: Where): Promise<void> {
  const home = openHome(homeOf(where))
  const lock = takeLock(home.path)
  if (!lock) throw new NotAllowed('A running fleet holds this home.', { try: 'fleet down, then fleet doctor --repair' })
  try {
    const choice = storeOf(home, where.env)
    if (choice.engine === 'sqlite') repairIndexes(choice.file)
    else await (await import('../store/postgres/index.ts')).repairPostgres(choice)
  } finally {
    lock.release()
  }
}

export async function examine(where: Where): Promise<Finding[]> {
  const findings = await Promise.all(
    Object.entries(EXAMINATIONS).map(([name, look]) =>
      look(where)
        .catch(failed)
        .then(found => ({ name, ...found })),
    ),
  )
  const agents = agentsFor(homeOf(where)).agents
  const declared = agents.fault ? [{ name: 'agents.json', ...failed(agents.fault), state: 'poor' as const }] : []
  const prices = modelsIn(homeOf(where)).fault
  const priced = prices ? [{ name: PRICES_FILE, ...failed(prices), state: 'poor' as const }] : []
  return [
    ...findings,
    ...declared,
    ...priced,
    ...(await Promise.all(enginesOf(agents.all).map(each => examineAgent(each, where)))),
  ]
}

const failed = (error: unknown): Omit<Finding, 'name'> => ({
  state: 'bad',
  text: (error as Error).message,
  advice: error instanceof Refusal ? error.hint : undefined,
})

async function examineAgent(driven: ReturnType<typeof enginesOf>[number], where: Where): Promise<Finding> {
  const { agent } = driven
  const { installed, version, signedIn, advice } = await agent.detect(where.env)
  const ready = installed && signedIn !== false
  const text = installed
    ? [agent.title, version, signedIn === false && '(not signed in)'].filter(Boolean).join(' ')
    : `${agent.title} was not found`
  return { name: drivenName(agent.name, driven.engine), state: ready ? 'good' : 'poor', text, advice }
}
