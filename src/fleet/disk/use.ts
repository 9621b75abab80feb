import { readdirSync, renameSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { Id, newId, Timestamp } from '../../domain/ids.ts'
import { bytesOf, countOurRefs } from '../../git/index.ts'
import { textOf } from '../../platform/whole-files.ts'
import type { Fleet } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { all } from '../records.ts'

const Folders = z.object({ count: z.number().int(), bytes: z.number() })
export type Folders = z.infer<typeof Folders>

const ProjectUse = z.object({
  project_id: Id,
  worktrees: Folders,
  warm: Folders.describe('worktrees that wait for the next mission'),
  repositories: Folders.describe('the private repositories of its worktrees'),
  refs: z.number().int().nullable().describe('refs and branches of ours in its repository; null: it has none'),
})

const Measured = z.object({
  measured_at: Timestamp,
  took_ms: z.number().describe('how long that took'),
  worktrees: Folders,
  warm: Folders,
  repositories: Folders,
  transcripts: Folders.describe('the folders of sessions'),
  trash: Folders.describe('what is being removed'),
  blobs: z.number().describe('bytes of long texts and images'),
  store: z.number().describe('bytes of the store'),
  logs: z.number().describe('bytes of the log files'),
  other: z.number().describe('bytes of notes, of checks, of side processes and of the search index'),
  projects: z.array(ProjectUse).describe('the largest first'),
})
type Measured = z.infer<typeof Measured>

/** What the home uses on its disk. */
export const DiskUse = Measured.extend({
  total_bytes: z.number(),
  free_bytes: z.number().describe('free on the disk of the home, now'),
})
export type DiskUse = z.infer<typeof DiskUse>

const STORE_FILES = ['store.db', 'store.db-wal', 'store.db-shm', 'lease.db']
const OTHERS = ['tasks', 'checks', 'processes', 'search.db', 'search.db-wal', 'search.db-shm']

/** Measures the home and remembers the figures for whoever asks next. Undefined: there was not enough time. */
export async function measureDisk(fleet: Fleet, within?: number): Promise<DiskUse | undefined> {
  const began = performance.now()
  const { home } = fleet
  const repositories = join(home.path, 'repositories')
  const perProject = { worktrees: home.worktrees, warm: home.warm, repositories }
  const projects = [...new Set(Object.values(perProject).flatMap(namesIn))]
  const ofProjects = projects.flatMap(id => Object.values(perProject).map(folder => join(folder, id)))
  const single = ['sessions', 'trash', 'blobs', 'logs', ...STORE_FILES, ...OTHERS].map(name => join(home.path, name))
  const sizes = await bytesOf([...ofProjects, ...single], within)
  if (!sizes) return undefined
  const folders = (path: string): Folders => {
    const count = namesIn(path).length
    return { count, bytes: count ? (sizes.get(path) ?? 0) : 0 }
  }
  const bytes = (...names: string[]) => sum(names.map(name => sizes.get(join(home.path, name)) ?? 0))
  const refs = await refsOf(fleet)
  const used = [...new Set([...projects, ...refs.keys()])].map(id => ({
    project_id: id,
    worktrees: folders(join(home.worktrees, id)),
    warm: folders(join(home.warm, id)),
    repositories: folders(join(repositories, id)),
    refs: refs.get(id) ?? null,
  }))
  const together = (kind: keyof typeof perProject): Folders => ({
    count: sum(used.map(each => each[kind].count)),
    bytes: sum(used.map(each => each[kind].bytes)),
  })
  const measured: Measured = {
    measured_at: fleet.now(),
    took_ms: Math.round(performance.now() - began),
    worktrees: together('worktrees'),
    warm: together('warm'),
    repositories: together('repositories'),
    transcripts: folders(join(home.path, 'sessions')),
    trash: folders(home.trash),
    blobs: bytes('blobs'),
    store: bytes(...STORE_FILES),
    logs: bytes('logs'),
    other: bytes(...OTHERS),
    projects: used.toSorted((a, b) => bytesOfProject(b) - bytesOfProject(a)),
  }
  remember(fleet, measured)
  return complete(fleet, measured)
}

/** What is in a folder, without the folder itself. */
export async function bytesIn(folder: string): Promise<number> {
  const sizes = await bytesOf(namesIn(folder).map(name => join(folder, name)))
  return sum([...(sizes?.values() ?? [])])
}

/** Counts the refs of every project whose repository can be read. */
async function refsOf(fleet: Fleet): Promise<Map<string, number>> {
  const counted = new Map<string, number>()
  for await (const { value: project } of all(fleet, 'projects', 'created')) {
    if (project.worktree === 'none') continue
    const count = await repositoryOf(project).then(countOurRefs, () => undefined)
    if (count !== undefined) counted.set(project.id, count)
  }
  return counted
}

type ProjectUse = z.infer<typeof ProjectUse>
const bytesOfProject = ({ worktrees, warm, repositories }: ProjectUse): number =>
  worktrees.bytes + warm.bytes + repositories.bytes

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function complete({ home }: Fleet, measured: Measured): DiskUse {
  const { worktrees, warm, repositories, transcripts, trash, blobs, store, logs, other } = measured
  const folders = [worktrees, warm, repositories, transcripts, trash].map(({ bytes }) => bytes)
  const { bavail, bsize } = statfsSync(home.path)
  return { ...measured, total_bytes: sum([...folders, blobs, store, logs, other]), free_bytes: bavail * bsize }
}

/** In a file, because commands beside the server read it. It can be lost: it is measured again. */
const fileOf = ({ home }: Fleet): string => join(home.path, 'disk.json')

function remember(fleet: Fleet, measured: Measured): void {
  const next = `${fileOf(fleet)}.${newId()}`
  writeFileSync(next, JSON.stringify(measured), { mode: 0o600 })
  renameSync(next, fileOf(fleet))
}

/** The figures of the last time. */
export function lastUse(fleet: Fleet): DiskUse | undefined {
  try {
    const text = textOf(fileOf(fleet))
    return text === undefined ? undefined : complete(fleet, Measured.parse(JSON.parse(text)))
  } catch {
    return undefined
  }
}

const RECENT_MS = 60_000
const QUICK_MS = 1000

export const isRecent = ({ measured_at }: DiskUse, now: string): boolean =>
  Date.parse(now) - Date.parse(measured_at) < RECENT_MS

/** For an answer that must be quick: figures of the last minute, or new ones if that takes no longer than a moment. */
export async function quickUse(fleet: Fleet): Promise<DiskUse | undefined> {
  const last = lastUse(fleet)
  return last && isRecent(last, fleet.now()) ? last : ((await measureDisk(fleet, QUICK_MS)) ?? last)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
