import { closeSync, type Dirent, fstatSync, lstatSync, opendirSync, readSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { InvalidInput, NotFound } from '../../domain/errors.ts'
import { openPlain } from '../../platform/plain-files.ts'
import type { Fleet } from '../fleet.ts'

const MOST_FILES = 1000
/** Bounds the walk, whatever an agent put there. */
const MOST_ENTRIES = 10_000
/** How much of a file is read at once. */
export const MOST_BYTES = 1024 * 1024

export interface Artifact {
  path: string
  bytes: number
}

export const artifactFolder = (fleet: Fleet, missionId: string): string => join(fleet.home.task(missionId), 'artifacts')

/** The files that the agents of a mission left in its artifacts folder. Links do not count. */
export function artifactsOf(fleet: Fleet, missionId: string): { folder: string; files: Artifact[]; more: boolean } {
  const folder = artifactFolder(fleet, missionId)
  const files: Artifact[] = []
  const folders = ['']
  let left = MOST_ENTRIES
  for (let below = folders.pop(); below !== undefined && left > 0; below = folders.pop()) {
    for (const entry of entriesOf(join(folder, below), left)) {
      left--
      const path = join(below, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile())
        files.push({ path, bytes: lstatSync(join(folder, path), { throwIfNoEntry: false })?.size ?? 0 })
    }
  }
  const sorted = files.toSorted((a, b) => a.path.localeCompare(b.path))
  return { folder, files: sorted.slice(0, MOST_FILES), more: left <= 0 || sorted.length > MOST_FILES }
}

function entriesOf(folder: string, most: number): Dirent[] {
  const found: Dirent[] = []
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return found
  const directory = opendirSync(folder)
  try {
    for (let entry = directory.readSync(); entry && found.length < most; entry = directory.readSync()) found.push(entry)
  } finally {
    directory.closeSync()
  }
  return found
}

export interface Piece {
  /** The size of the whole file. */
  bytes: number
  content: Buffer
}

/** A piece of what an agent left behind. */
export function readArtifact(
  fleet: Fleet,
  missionId: string,
  path: string,
  { offset, limit }: { offset: number; limit: number },
): Piece {
  if (path.includes('\0') || path.split('/').some(part => ['', '.', '..'].includes(part)))
    throw new InvalidInput('path', 'must be a path below the artifacts folder, as it is listed')
  const fd = openBelow(fleet, missionId, path)
  if (fd === undefined)
    throw new NotFound('plain file among the artifacts:', path, { try: `fleet task ${missionId} artifacts` })
  try {
    const bytes = fstatSync(fd).size
    const content = Buffer.alloc(Math.max(0, Math.min(limit, MOST_BYTES, bytes - offset)))
    return { bytes, content: content.subarray(0, readSync(fd, content, 0, content.length, offset)) }
  } finally {
    closeSync(fd)
  }
}

/**
 * The agent may put links into its folder at any moment, even during this call. So the file is opened first, and it
 * counts only if it is the same file that the path leads to without any link.
 */
function openBelow(fleet: Fleet, missionId: string, path: string): number | undefined {
  const file = join(artifactFolder(fleet, missionId), path)
  const fd = openPlain(file)
  if (fd === undefined) return undefined
  try {
    const real = join(realpathSync(fleet.home.task(missionId)), 'artifacts', path)
    const [opened, there] = [fstatSync(fd), statSync(real)]
    if (realpathSync(file) === real && opened.ino === there.ino && opened.dev === there.dev) return fd
  } catch {
    // It is gone, or was never a file.
  }
  closeSync(fd)
  return undefined
}
