import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { Unfit } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { textOf } from './whole-files.ts'

/** The folder that holds everything: store, transcripts, worktrees, token, configuration. */
export interface Home {
  path: string
  /** Tells two homes apart in the marks that processes carry. */
  id: string
  /** The owner's token: whoever can read this file may do everything. */
  token: string
  /** Signs the tokens of sessions and browsers. */
  key: Buffer
  storeFile: string
  blobs: string
  worktrees: string
  logs: string
  session(id: string): string
  /** A mission's own folder, written by its agents and read by whoever goes on with it. */
  task(missionId: string): string
  checks(projectId: string): string
  /** Of a program that is kept running for a mission. */
  process(id: string): string
}

export function homePath(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(env.FLEET_HOME || join(homedir(), '.flotilla'))
}

const FOLDERS = ['', 'blobs', 'worktrees', 'repositories', 'sessions', 'tasks', 'logs', 'checks', 'processes']
/** Whatever in a home holds a secret, or text that does. */
const PRIVATE = [
  ...FOLDERS,
  'plugins',
  ...['id', 'token', 'key', 'fleet.toml', 'agents.json', 'prices.json', 'holder.json', 'mcp-clients.json'],
  ...['store.db', 'store.db-wal', 'store.db-shm'],
]

export function openHome(path: string): Home {
  for (const folder of FOLDERS) mkdirSync(join(path, folder), { recursive: true, mode: 0o700 })
  for (const name of PRIVATE) close(join(path, name))
  return {
    path,
    id: once(join(path, 'id'), { make: newId, form: /^[\w:-]{4,64}$/ }),
    token: once(join(path, 'token'), { make: () => randomBytes(24).toString('base64url'), form: /^\S{16,500}$/ }),
    key: Buffer.from(once(join(path, 'key'), { make: () => randomBytes(32).toString('hex'), form: KEY }), 'hex'),
    storeFile: join(path, 'store.db'),
    blobs: join(path, 'blobs'),
    worktrees: join(path, 'worktrees'),
    logs: join(path, 'logs'),
    session: id => join(path, 'sessions', id),
    task: missionId => join(path, 'tasks', missionId),
    checks: projectId => join(path, 'checks', projectId),
    process: id => join(path, 'processes', id),
  }
}

/** 32 bytes: with fewer, what is signed could be forged. */
const KEY = /^[0-9a-f]{64}$/

/** What was made before us, or restored from somewhere, is closed to other users. */
function close(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found || (found.mode & 0o077) === 0 || !(found.isFile() || found.isDirectory())) return
  try {
    chmodSync(path, found.mode & 0o700)
  } catch (cause) {
    throw new Unfit(`${path} is open to other users and cannot be closed to them.`, {
      try: `As the user that owns it: chmod go-rwx ${path}`,
      cause,
    })
  }
}

/** Reads a small secret file, making it first if nobody has: of several processes starting at once one wins and all agree. */
function once(file: string, { make, form }: { make: () => string; form: RegExp }): string {
  const existing = textOf(file)
  if (existing !== undefined) return sound(file, existing, form)
  const mine = `${file}.${process.pid}.${newId()}`
  const fd = openSync(mine, 'wx', 0o600)
  writeSync(fd, make())
  fsyncSync(fd)
  closeSync(fd)
  try {
    linkSync(mine, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(mine)
  }
  return sound(file, textOf(file) ?? '', form)
}

/** A damaged one is never replaced unasked: what it opens is refused, and what was made with it stops working. */
function sound(file: string, text: string, form: RegExp): string {
  if (form.test(text.trim())) return text.trim()
  throw new Unfit(`${file} is damaged: it does not hold what was written into it.`, {
    try: `Put it back from a backup, or remove it: a new one is made, and whoever used the old one signs in anew.`,
  })
}
