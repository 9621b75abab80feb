import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Fleet } from '../fleet.ts'
import { sideProcessesIn } from '../previews/processes.ts'
import { all } from '../records.ts'
import { retire, sharedWithLater, worktreeTurns } from './retiring.ts'

/** Results after which a worktree has nothing that is not on the base branch or under a ref. */
const SPENT = ['landed', 'no_changes']
const isSpent = ({ status, result }: Mission): boolean => status === 'done' && SPENT.includes(result ?? '')

/** Lets go of a mission's worktrees that are no longer needed, and those that a new branch has replaced. */
export const tidy = (fleet: Fleet, missionId: string): Promise<void> =>
  worktreeTurns.take(missionId, async () => {
    const mission = (await fleet.store.get('missions', missionId))?.value
    const project = mission && (await fleet.store.get('projects', mission.project_id))?.value
    if (!mission || !project || mission.deleting) return
    for await (const { value: session } of all(fleet, 'sessions', 'mission', [missionId])) {
      const isKept = session.status === 'ended' && session.worktree_kept && session.worktree
      if (!isKept || !session.end_commit || session.left_behind) continue
      if (await sharedWithLater(fleet, session)) continue
      // A preview runs there. When it ends, this is looked at again.
      if ((await sideProcessesIn(fleet, session)).length) continue
      if (isSpent(mission) || session.id !== mission.session_id) await retire(fleet, session, project)
    }
  })

/** Lets go of the worktrees of a project's finished missions now, because a start could use one. */
export async function tidyFinished(fleet: Fleet, project: Project): Promise<void> {
  const missions = new Set<string>()
  for await (const { value } of all(fleet, 'sessions', 'worktree'))
    if (value.project_id === project.id) missions.add(value.mission_id)
  for (const id of missions) {
    const mission = (await fleet.store.get('missions', id))?.value
    if (mission && isSpent(mission)) await tidy(fleet, id)
  }
}
