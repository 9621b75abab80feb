import type { Status } from '../../domain/records/mission.ts'
import type { Session } from '../../domain/records/session.ts'
import { emptyTrash } from '../../git/index.ts'
import { bytesIn, measureDisk } from '../disk/use.ts'
import type { Fleet } from '../fleet.ts'
import { endSideProcesses, sideProcessesIn } from '../previews/processes.ts'
import { all } from '../records.ts'
import { sentence } from '../sentences.ts'
import { poolOf } from './pool.ts'
import { laterIn, refOf, retire, sharedWithLater, worktreeTurns } from './retiring.ts'
import { bytesOfPlace } from './worktrees.ts'

const MEASURED_WITHIN_MS = 5000

export interface Cleaned {
  freed_bytes: number
  /** The same by kind. */
  freed: { worktrees: number; warm: number }
  worktrees: {
    session_id: string
    mission_id: string
    path: string
    bytes: number
    ref: string
    kept_because?: string
    /** The previews that run there and end with it. */
    ends?: string[]
  }[]
}

interface CleanOptions {
  olderThanHours: number
  dryRun: boolean
  /** Only worktrees of these missions. */
  missions?: ReadonlySet<string>
  keepBranches: boolean
  /** Also the worktrees that wait for the next mission. */
  warm?: boolean
}

/** Removes worktrees that nobody works in any more. Their work stays under a ref. */
export async function clean(
  fleet: Fleet,
  { olderThanHours, dryRun, missions, keepBranches, warm = false }: CleanOptions,
): Promise<Cleaned> {
  const before = new Date(Date.parse(fleet.now()) - olderThanHours * 3_600_000).toISOString()
  const cleaned: Cleaned = { freed_bytes: 0, freed: { worktrees: 0, warm: 0 }, worktrees: [] }
  for await (const { value: session } of all(fleet, 'sessions', 'worktree')) {
    if ((session.ended_at ?? session.created_at) > before) continue
    if (missions && !missions.has(session.mission_id)) continue
    // One row per worktree, with the session that worked in it last.
    if ((await laterIn(fleet, session))?.status === 'ended') continue
    const row = {
      session_id: session.id,
      mission_id: session.mission_id,
      path: session.worktree!,
      bytes: await bytesOfPlace(session.worktree!),
      ref: refOf(session),
    }
    const ends = (await sideProcessesIn(fleet, session)).map(each => each.kind)
    const reason = await whyKept(fleet, session)
    const failed = reason || dryRun ? undefined : await tryRetire(fleet, session, keepBranches)
    const kept_because = reason ?? failed
    cleaned.worktrees.push({
      ...row,
      ...(kept_because && { kept_because }),
      ...(ends.length && !kept_because && { ends }),
    })
    if (!kept_because) cleaned.freed.worktrees += row.bytes
  }
  if (warm) {
    cleaned.freed.warm = await bytesIn(fleet.home.warm)
    if (!dryRun) await poolOf(fleet).drop()
  }
  // A server empties the trash in small steps. Without one, nobody would.
  if (!dryRun && !fleet.requireLease) await emptyTrash(fleet.home.trash)
  // Where much is left, the server does it later.
  if (!dryRun && !missions) await measureDisk(fleet, MEASURED_WITHIN_MS)
  const { freed } = cleaned
  return { ...cleaned, freed_bytes: freed.worktrees + freed.warm }
}

/** Why a worktree stays: somebody still waits for its work, or no commit holds it. */
async function whyKept(fleet: Fleet, session: Session): Promise<string | undefined> {
  if (session.left_behind) return holdsWork(session.left_behind)
  if (!session.end_commit) return 'its work could not be committed; look at it first'
  if (await sharedWithLater(fleet, session)) return 'a later session works in it'
  const mission = (await fleet.store.get('missions', session.mission_id))?.value
  return mission && WAITED_FOR[mission.status]
}

const WAITED_FOR: Partial<Record<Status, string>> = {
  queued: 'its mission is queued',
  running: 'its agent is at work',
  landing: 'its work is landing',
  needs_input: 'its mission waits for you',
  waiting: 'its mission waits for its sub-missions',
  review: 'its work waits for review',
}

const holdsWork = (left: string): string =>
  `it holds work that no commit does (${left}); look at it, or fleet mission delete --discard`

async function tryRetire(fleet: Fleet, session: Session, keepBranch: boolean): Promise<string | undefined> {
  if (worktreeTurns.isTaken(session.mission_id)) return 'someone is at work in it'
  try {
    return await retireInTurn(fleet, session, keepBranch)
  } catch (error) {
    return sentence(error)
  }
}

/** Removes a worktree once nobody works in it, unless somebody needs it. Returns why it stays. */
export async function retireInTurn(fleet: Fleet, session: Session, keepBranch = false): Promise<string | undefined> {
  const project = await fleet.store.get('projects', session.project_id)
  if (!project) return 'its project is gone'
  return worktreeTurns.take(session.mission_id, async () => {
    // Checked again, now that nobody else can start anything there.
    const reason = await whyKept(fleet, session)
    if (reason) return reason
    await endSideProcesses(fleet, await sideProcessesIn(fleet, session), 'Its worktree was cleaned up.')
    const left = await retire(fleet, session, project.value, { keepBranch, reuse: false })
    return left && holdsWork(left)
  })
}
