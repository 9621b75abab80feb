import { Refusal, Unreachable } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { By, Step } from '../../domain/rules/life.ts'
import * as life from '../../domain/rules/life.ts'
import * as pulls from '../../domain/rules/pull-request.ts'
import { commitNamed, contains, type Remote } from '../../git/index.ts'
import type { Turns } from '../../git/turns.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { bringAlong } from '../landing/brought-along.ts'
import { read, type Work } from '../landing/steps.ts'
import { followBase, requireRemote } from '../landing/upstream.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { checksOf, type Seen, seePullRequest } from './github.ts'

const AGAIN_MS = 1000
const AT_A_TIME = 100

/** Commits one step of a mission with a pull request. Undefined: the mission has changed, and nothing is done. */
export async function changeWithPullRequest(
  fleet: Fleet,
  missionId: string,
  step: (mission: Mission, by: By) => Step | undefined,
): Promise<void> {
  await retryOnConflict(async () => {
    const stored = await fleet.store.get('missions', missionId)
    const next = stored && step(stored.value, { actor: 'fleet', now: fleet.now() })
    if (!next) return
    await fleet.commit('commit.pull-request', {
      changes: [put('missions', next.mission, stored.version)],
      events: next.events,
    })
  })
}

export const nextLook = ({ settings }: Fleet, by: By): string => pulls.after(by.now, settings.pullRequestEvery)

export const standingOf = (seen: Seen): pulls.Standing => ({
  ...pulls.JUST_OPEN,
  changesWanted: seen.reviewDecision === 'CHANGES_REQUESTED',
  inConflict: seen.mergeable === 'CONFLICTING',
  checks: checksOf(seen),
})

/**
 * Does what follows from the state of a pull request. If it was merged, the caller must have the turn of its project.
 */
export async function heed(fleet: Fleet, work: Work, remote: Remote, seen: Seen): Promise<void> {
  const { mission, project, repository } = work
  if (seen.state === 'CLOSED') return changeWithPullRequest(fleet, mission.id, unlessChanged(mission, pulls.closed))
  if (seen.state === 'OPEN') return remains(fleet, mission, standingOf(seen))
  const commit = seen.mergeCommit?.oid
  if (!commit) throw new Unreachable(`GitHub does not say which commit ${seen.url} was merged as.`)
  const { behind } = await followBase(fleet, project, repository, remote.name)
  const branch = project.base_branch
  if (!(await commitNamed(repository, commit)) || !(await contains(repository, branch, commit))) {
    const cannotFollow = `${behind ?? `${branch} here does not have ${commit}.`} Bring ${branch} up to date.`
    return remains(fleet, mission, { ...pulls.JUST_OPEN, cannotFollow })
  }
  const onto = (await commitNamed(repository, `${commit}^1`)) ?? commit
  const brought = await bringAlong(fleet, { ...work, candidate: mission.pull_request!.work }, { commit, onto, branch })
  await changeWithPullRequest(
    fleet,
    mission.id,
    unlessChanged(mission, (m, by) => pulls.merged(m, brought, by)),
  )
}

/** GitHub's answer is about the mission as it was then. One that a person has changed since is left alone. */
const unlessChanged =
  (mission: Mission, step: (mission: Mission, by: By) => Step) =>
  (now: Mission, by: By): Step | undefined =>
    now.status === mission.status && now.session_id === mission.session_id ? step(now, by) : undefined

/** The pull request is still open as far as is known. GitHub is asked again later. */
export function remains(fleet: Fleet, mission: Mission, standing: pulls.Standing): Promise<void> {
  return changeWithPullRequest(
    fleet,
    mission.id,
    unlessChanged(mission, (m, by) => {
      if (m.cancel_requested) return life.cancelled(m, by)
      const look_at = nextLook(fleet, by)
      if (pulls.isWaiting(m)) return pulls.stillOpen(m, standing, { by, look_at })
      return pulls.opened(m, { ...m.pull_request!, look_at, unanswered: 0 }, standing, by)
    }),
  )
}

/** Asks GitHub what became of pull requests, one at a time, at the pace of the settings. */
export class PullRequests implements Reactor {
  readonly name = 'pull requests'
  readonly #fleet: Fleet
  readonly #desk: Desk
  /** By project: landings take turns. */
  readonly #turns: Turns
  #isLooking = false

  constructor(fleet: Fleet, desk: Desk, turns: Turns) {
    this.#fleet = fleet
    this.#desk = desk
    this.#turns = turns
  }

  /** Each pass looks at the next ones that are due. */
  async *unfinished(): AsyncGenerator<Ref> {}

  affectedBy(): Ref[] {
    return []
  }

  look(ref: Ref): Promise<void> {
    return this.#askAbout(idIn(ref))
  }

  async pass(): Promise<void> {
    if (this.#isLooking) return
    const [next] = (await this.#fleet.store.find('missions', { index: 'pull_request', limit: 1 })).items
    if (!next) return
    const due = Date.parse(next.value.pull_request?.look_at ?? '') - Date.parse(this.#fleet.now())
    if (due > 0) this.#desk.passIn(due)
    else this.#desk.goOn(refTo('missions', next.value.id), this.#askAboutAll())
  }

  async #askAboutAll(): Promise<void> {
    this.#isLooking = true
    try {
      const now = pulls.after(this.#fleet.now(), 0.001)
      const due = await this.#fleet.store.find('missions', { index: 'pull_request', below: now, limit: AT_A_TIME })
      for (const { value } of due.items)
        if (!this.#desk.signal.aborted)
          await this.#desk.attempt(refTo('missions', value.id), () => this.#askAbout(value.id))
    } finally {
      this.#isLooking = false
      // One that failed is still due. It waits, and so do the others for a moment.
      this.#desk.passIn(AGAIN_MS)
    }
  }

  async #askAbout(id: string): Promise<void> {
    try {
      const work = await read(this.#fleet, id, this.#desk.signal)
      const { mission, project, repository } = work
      if (!pulls.isAskedAbout(mission)) return
      const remote = await requireRemote(repository, project)
      const seen = await seePullRequest(this.#fleet, remote.address, mission.pull_request.number!)
      const go = (): Promise<void> => heed(this.#fleet, work, remote, seen)
      await (seen.state === 'MERGED' ? this.#turns.take(project.id, go) : go())
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { pullRequestEvery } = this.#fleet.settings
      await changeWithPullRequest(this.#fleet, id, (mission, by) =>
        pulls.isAskedAbout(mission) ? pulls.unanswered(mission, sentence(error), by, pullRequestEvery) : undefined,
      )
    }
  }
}
