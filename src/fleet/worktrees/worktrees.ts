import { statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Session } from '../../domain/records/session.ts'
import { folderOf, placeAt, placesIn, worktreeBytes } from '../../git/index.ts'
import type { Fleet } from '../fleet.ts'
import { isForChecks } from '../landing/checks.ts'
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

/** Every worktree on disk, those of checks too. It reads the disk, because unknown ones take room as well. */
export async function listWorktrees(fleet: Fleet, projectId?: string): Promise<ListedWorktree[]> {
  const listed: ListedWorktree[] = []
  for (const path of placesIn(fleet.home.worktrees)) {
    const project = basename(dirname(path))
    if (projectId && project !== projectId) continue
    const session = await newestIn(fleet, path)
    const mission = session && (await readable(fleet, 'missions', session.mission_id))?.value
    listed.push({
      path,
      project_id: project,
      mission_id: session?.mission_id ?? null,
      session_id: session?.id ?? null,
      title: mission?.title ?? null,
      state: stateOf(path, session, mission?.status),
      isolation: placeAt(path) ? 'private' : 'linked',
      bytes: await worktreeBytes(path),
      repository_bytes: await worktreeBytes(folderOf(path)),
      created_at: session?.created_at ?? statSync(path).mtime.toISOString(),
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

/** What a worktree and its repository take on disk. */
export const bytesOfPlace = async (path: string): Promise<number> =>
  (await worktreeBytes(path)) + (await worktreeBytes(folderOf(path)))
