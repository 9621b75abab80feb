import { chmodSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { Unfit } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { hostOf, machineId } from './host.ts'
import { KEY_FILES } from './keys.ts'
import { madeOnce } from './made-once.ts'

/** The folder that holds everything: store, transcripts, worktrees, keys, configuration. */
export interface Home {
  path: string
  /** Tells homes apart in the marks that processes carry. */
  id: string
  /** This machine, as the one that runs sessions of this home. */
  readonly host: string
  storeFile: string
  /** The index of search. It can be removed: it is made again. */
  searchFile: string
  blobs: string
  worktrees: string
  /** Worktrees that wait for their next mission, by project. */
  warm: string
  /** What was renamed aside, and is removed in small steps. */
  trash: string
  logs: string
  session(id: string): string
  /** A mission's own folder: its agents write it, and its next session reads it. */
  task(missionId: string): string
  checks(projectId: string): string
  /** The folder of a mission's side process. */
  process(id: string): string
}

export function homePath(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(env.FLEET_HOME || join(homedir(), '.flotilla'))
}

const FOLDERS = [
  ...['', 'blobs', 'worktrees', 'repositories', 'warm', 'trash', 'tmux'],
  ...['sessions', 'tasks', 'logs', 'checks', 'processes'],
]
/** The page by which `fleet open` signs a browser in. */
export const OPEN_PAGE = 'open.html'

/** Everything in a home that holds a secret, or text with one. */
const PRIVATE = [
  ...FOLDERS,
  'plugins',
  ...KEY_FILES,
  OPEN_PAGE,
  ...[
    'id',
    'fleet.toml',
    'agents.json',
    'prices.json',
    'holder.json',
    'mcp-clients.json',
    'service.json',
    'store.json',
  ],
  ...['store.db', 'store.db-wal', 'store.db-shm', 'search.db', 'search.db-wal', 'search.db-shm'],
]

export function openHome(path: string): Home {
  for (const folder of FOLDERS) mkdirSync(join(path, folder), { recursive: true, mode: 0o700 })
  for (const name of PRIVATE) close(join(path, name))
  const id = madeOnce(join(path, 'id'), { make: newId, form: /^[\w:-]{4,64}$/ })
  let host: string | undefined
  return {
    path,
    id,
    get host() {
      host ??= hostOf(machineId(), { id, path: realpathSync(path) })
      return host
    },
    storeFile: join(path, 'store.db'),
    searchFile: join(path, 'search.db'),
    blobs: join(path, 'blobs'),
    worktrees: join(path, 'worktrees'),
    warm: join(path, 'warm'),
    trash: join(path, 'trash'),
    logs: join(path, 'logs'),
    session: id => join(path, 'sessions', id),
    task: missionId => join(path, 'tasks', missionId),
    checks: projectId => join(path, 'checks', projectId),
    process: id => join(path, 'processes', id),
  }
}

/** Closes an existing or restored path to other users. */
function close(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found || (found.mode & 0o077) === 0 || !(found.isFile() || found.isDirectory())) return
  try {
    chmodSync(path, found.mode & 0o700)
  } catch (cause) {
    throw new Unfit(`Other users can read ${path}, and it cannot be closed to them.`, {
      try: `As the user that owns it: chmod go-rwx ${path}`,
      cause,
    })
  }
}
