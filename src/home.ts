import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { newId } from './domain/ids.ts'

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

export function openHome(path: string): Home {
  for (const folder of ['', 'blobs', 'worktrees', 'sessions', 'tasks', 'logs', 'checks', 'processes'])
    mkdirSync(join(path, folder), { recursive: true, mode: 0o700 })
  return {
    path,
    id: once(join(path, 'id'), newId),
    token: once(join(path, 'token'), () => randomBytes(24).toString('base64url')),
    key: Buffer.from(
      once(join(path, 'key'), () => randomBytes(32).toString('hex')),
      'hex',
    ),
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

/** Reads a small secret file, making it first if nobody has: of several processes starting at once one wins and all agree. */
function once(file: string, make: () => string): string {
  const existing = read(file)
  if (existing) return existing
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
  return read(file)!
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
