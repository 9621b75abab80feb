import { NotAllowed } from '../../domain/errors.ts'
import type { Mission, PullText } from '../../domain/records/mission.ts'
import { requestLanding } from '../../domain/rules/landing.ts'
import * as pulls from '../../domain/rules/pull-request.ts'
import type { Stored } from '../../store/index.ts'
import { type Ask, changeMission } from '../commands.ts'
import type { Fleet } from '../fleet.ts'
import { requireShown } from '../landing/candidates.ts'
import { requireRemote } from '../landing/upstream.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { current } from '../records.ts'
import { type MergeMethod, mergePullRequest } from './github.ts'
import { requirePullRequests } from './open-pull-request.ts'

/** Pushes the work and opens a pull request, whatever the landing policy of the mission was. */
export function proposeWork(
  fleet: Fleet,
  ask: Ask,
  id: string,
  expected: string,
  text: PullText | null = null,
): Promise<Stored<Mission>> {
  return changeMission(fleet, id, ask, async (asked, when) => {
    const { value: project } = await current(fleet, 'projects', asked.project_id)
    await requirePullRequests(fleet, project)
    const mission = await requireShown(fleet, asked, expected)
    return requestLanding({ ...mission, landing: 'pull-request', pull_text: text ?? mission.pull_text }, when)
  })
}

interface Merge {
  expected: string
  method: MergeMethod
}

/**
 * Merges the pull request at GitHub, if it has exactly the work that the person was shown. The landing that follows
 * brings the base branch here up to date.
 */
export function mergeProposed(fleet: Fleet, ask: Ask, id: string, wish: Merge): Promise<Stored<Mission>> {
  return changeMission(fleet, id, ask, async (asked, when) => {
    const mission = await requireShown(fleet, asked, wish.expected)
    const { pull_request: pull, candidate } = mission
    if (!pulls.isWaiting(mission) || !pull?.number)
      throw new NotAllowed(`Mission ${id} has no open pull request.`, { try: 'open_pull_request' })
    if (pull.work !== candidate?.commit)
      throw new NotAllowed('The work has changed since it was pushed, so its pull request has other changes.', {
        try: `fleet land ${id} updates it`,
      })
    const { value: project } = await current(fleet, 'projects', mission.project_id)
    const remote = await requireRemote(await repositoryOf(project), project)
    await mergePullRequest(fleet, remote.address, { number: pull.number, commit: pull.commit, method: wish.method })
    return requestLanding(mission, when)
  })
}
