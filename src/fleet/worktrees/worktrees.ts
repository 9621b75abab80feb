import { statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Session } from '../../domain/records/session.ts'
import { bytesOf, folderOf, placeAt, placesIn } from '../../git/index.ts'
import { warmEntries } from '../disk/warm.ts'
import type { Fleet } from '../fleet.ts'
import { isForChecks } from '../landing/checking.ts'
import { all, readable } from '../records.ts'

export interface ListedWorktree {
  path: string
  project_id: string
  /** Null where no known session worked there. */
  mission_id: string | null
  session_id: string | null
  title: string | null
  state: string
  isolation: 'private' | 'linked'
  bytes: number
  repository_bytes: number
  created_at: string
}

/** Every worktree on disk, also warm ones and those of checks. It reads the disk: unknown ones take room as well. */
export async function listWorktrees(fleet: Fleet, projectId?: string): Promise<ListedWorktree[]> {
  const places = seenPlaces(fleet).filter(path => !projectId || projectAt(path) === projectId)
  const warm = (await warmEntries(fleet, projectId)).filter(({ project_id }) => isSeen(fleet, project_id))
  const sizes = await bytesOf([
    ...places.flatMap(path => [path, folderOf(path)]),
    ...warm.flatMap(({ tree, others }) => [tree, ...others]),
  ])
  const bytes = (path: string) => sizes?.get(path) ?? 0
  const listed: ListedWorktree[] = []
  for (const path of places) {
    const session = await newestIn(fleet, path)
    const mission = session && (await readable(fleet, 'missions', session.mission_id))?.value
    listed.push({
      path,
      project_id: projectAt(path),
      mission_id: session?.mission_id ?? null,
      session_id: session?.id ?? null,
      title: mission?.title ?? null,
      state: stateOf(path, session, mission?.status),
      isolation: placeAt(path) ? 'private' : 'linked',
      bytes: bytes(path),
      repository_bytes: bytes(folderOf(path)),
      created_at: session?.created_at ?? changedAt(path),
    })
  }
  for (const { project_id, path, tree, others } of warm) {
    listed.push({
      ...{ path: tree, project_id, mission_id: null, session_id: null, title: null },
      ...{ state: 'warm', isolation: 'private', bytes: bytes(tree) },
      repository_bytes: others.reduce((sum, each) => sum + bytes(each), 0),
      created_at: changedAt(path),
    })
  }
  return listed.sort((a, b) => b.bytes + b.repository_bytes - (a.bytes + a.repository_bytes))
}

const newestIn = async (fleet: Fleet, worktree: string): Promise<Session | undefined> =>
  (await Array.fromAsync(all(fleet, 'sessions', 'place', [worktree]))).at(-1)?.value

function stateOf(path: string, session: Session | undefined, status: string | undefined): string {
  if (session) return session.status === 'ended' ? (status ?? 'ended') : 'at work'
  return isForChecks(basename(path)) ? 'for checks' : 'of no session'
}

export const countWorktrees = (fleet: Fleet): number => seenPlaces(fleet).length

/** The disk has those of all projects, also of those that the caller may not see. */
const seenPlaces = (fleet: Fleet): string[] =>
  placesIn(fleet.home.worktrees).filter(path => isSeen(fleet, projectAt(path)))
const isSeen = ({ view }: Fleet, projectId: string): boolean => !view || view.projects.has(projectId)
const projectAt = (path: string): string => basename(dirname(path))

/** A folder may go in the same moment. */
const changedAt = (path: string): string =>
  (statSync(path, { throwIfNoEntry: false })?.mtime ?? new Date()).toISOString()

/** What a worktree and its repository take on disk. */
export async function bytesOfPlace(path: string): Promise<number> {
  const sizes = await bytesOf([path, folderOf(path)])
  return [...(sizes?.values() ?? [])].reduce((a, b) => a + b, 0)
}
