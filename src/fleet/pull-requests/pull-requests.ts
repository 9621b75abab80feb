import { Refusal, Unreachable } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { By, Step } from '../../domain/rules/life.ts'
import * as life from '../../domain/rules/life.ts'
import * as pulls from '../../domain/rules/pull-request.ts'
import { commitNamed, contains, type Remote } from '../../git/index.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { bringAlong } from '../landing/brought-along.ts'
import { read, type Work } from '../landing/steps.ts'
import { followBase, requireRemote } from '../landing/upstream.ts'
import { put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { type Seen, seePullRequest } from './github.ts'

const LONGEST_NAP_MS = 60_000
const AFTER_A_FAULT_MS = 30_000
const AT_A_TIME = 100

/** One step of a mission with a pull request; undefined: it is not what it was, and nothing is to be done. */
export async function changeProposal(
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

export const standingOf = ({ reviewDecision, mergeable }: Seen): pulls.Standing => ({
  ...pulls.JUST_OPEN,
  changesWanted: reviewDecision === 'CHANGES_REQUESTED',
  inConflict: mergeable === 'CONFLICTING',
})

/** Does what follows from how a pull request is found. Where it was merged, whoever calls has the turn of its project. */
export async function heed(fleet: Fleet, work: Work, remote: Remote, seen: Seen): Promise<void> {
  const { mission, project, repository } = work
  if (seen.state === 'CLOSED') return changeProposal(fleet, mission.id, unlessChanged(mission, pulls.closed))
  if (seen.state === 'OPEN') return remains(fleet, mission, standingOf(seen))
  const commit = seen.mergeCommit?.oid
  if (!commit) throw new Unreachable(`GitHub does not tell what ${seen.url} was merged as.`)
  const { behind } = await followBase(fleet, project, repository, remote.name)
  const branch = project.base_branch
  if (!(await commitNamed(repository, commit)) || !(await contains(repository, branch, commit))) {
    const cannotFollow = `${behind ?? `${branch} here does not have ${commit}.`} Bring ${branch} up to date.`
    return remains(fleet, mission, { ...pulls.JUST_OPEN, cannotFollow })
  }
  const onto = (await commitNamed(repository, `${commit}^1`)) ?? commit
  const brought = await bringAlong(fleet, { ...work, candidate: mission.pull_request!.work }, { commit, onto, branch })
  await changeProposal(
    fleet,
    mission.id,
    unlessChanged(mission, (m, by) => pulls.merged(m, brought, by)),
  )
}

/** What was found out is about a mission as it was then: one that a person has sent on meanwhile is left alone. */
const unlessChanged =
  (mission: Mission, step: (mission: Mission, by: By) => Step) =>
  (now: Mission, by: By): Step | undefined =>
    now.status === mission.status && now.session_id === mission.session_id ? step(now, by) : undefined

/** It is still open, as far as is known, and asked about again when it is time. */
export function remains(fleet: Fleet, mission: Mission, standing: pulls.Standing): Promise<void> {
  return changeProposal(
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

interface Around {
  wake: () => void
  inBackground: (what: string, work: Promise<unknown>) => void
  /** Landings of a project take turns. */
  inTurn: (projectId: string, work: () => Promise<void>) => Promise<void>
  signal: AbortSignal
}

/** Asks GitHub, one at a time and at the pace of the settings, what became of pull requests. Only the holder of the home has one. */
export class PullRequests {
  readonly #fleet: Fleet
  readonly #around: Around
  #timer: NodeJS.Timeout | undefined
  #asking = false
  #restsUntil = 0

  constructor(fleet: Fleet, around: Around) {
    this.#fleet = fleet
    this.#around = around
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  async pass(): Promise<void> {
    if (this.#asking) return
    const [next] = (await this.#fleet.store.find('missions', { index: 'pull_request', limit: 1 })).items
    this.stop()
    if (!next) return
    const due = Date.parse(next.value.pull_request?.look_at ?? '') - Date.parse(this.#fleet.now())
    const nap = Math.max(due, this.#restsUntil - performance.now())
    if (nap > 0) this.#timer = setTimeout(this.#around.wake, Math.min(nap, LONGEST_NAP_MS)).unref()
    else this.#around.inBackground('pull requests', this.#askAboutAll())
  }

  async #askAboutAll(): Promise<void> {
    this.#asking = true
    try {
      const now = pulls.after(this.#fleet.now(), 0.001)
      const due = await this.#fleet.store.find('missions', { index: 'pull_request', below: now, limit: AT_A_TIME })
      for (const { value } of due.items) if (!this.#around.signal.aborted) await this.#askAbout(value.id)
    } catch (error) {
      this.#restsUntil = performance.now() + AFTER_A_FAULT_MS
      throw error
    } finally {
      this.#asking = false
      this.#around.wake()
    }
  }

  async #askAbout(id: string): Promise<void> {
    try {
      const work = await read(this.#fleet, id, this.#around.signal)
      const { mission, project, repository } = work
      if (!pulls.isAskedAbout(mission)) return
      const remote = await requireRemote(repository, project)
      const seen = await seePullRequest(this.#fleet, remote.address, mission.pull_request.number!)
      const go = (): Promise<void> => heed(this.#fleet, work, remote, seen)
      await (seen.state === 'MERGED' ? this.#around.inTurn(project.id, go) : go())
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { pullRequestEvery } = this.#fleet.settings
      await changeProposal(this.#fleet, id, (mission, by) =>
        pulls.isAskedAbout(mission) ? pulls.unanswered(mission, sentence(error), by, pullRequestEvery) : undefined,
      )
    }
  }
}
