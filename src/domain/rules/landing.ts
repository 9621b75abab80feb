import { NotAllowed } from '../errors.ts'
import {
  type Candidate,
  type Landing,
  type LandingCommit,
  type Mission,
  MOST_PAST_LANDINGS,
  type StatusReason,
} from '../records/mission.ts'
import type { LandingPolicy, Project } from '../records/project.ts'
import { type By, requireFree, requireStatus, type Step, step } from './life.ts'
import { DECIDABLE, UNDOABLE } from './states.ts'

export type LandingWay = 'keep' | 'merge' | 'pull-request'

/** What each policy does with work that may land. A new policy does not compile until it is listed here. */
const WAYS: Record<LandingPolicy, LandingWay> = {
  auto: 'merge',
  review: 'merge',
  'pull-request': 'pull-request',
  never: 'keep',
}

/**
 * In a project that lands by pull requests every mission does, unless it says `auto` itself. Work under `never` stays
 * on its branch until a person lands it.
 */
export function landingWay(
  { landing, approval }: Pick<Mission, 'landing' | 'approval'>,
  project: Pick<Project, 'landing'>,
): LandingWay {
  const way = WAYS[landing ?? project.landing]
  if (way === 'keep' && !approval) return 'keep'
  if (project.landing === 'pull-request' && landing !== 'auto') return 'pull-request'
  return way === 'keep' ? 'merge' : way
}

export const isKept = ({ status, result }: Mission): boolean => status === 'done' && result === 'kept'

/** Work that a person may send onto the base branch: reviewed, in conflict, kept, or waiting for their files. */
export function requireLandable(mission: Mission): asserts mission is Mission & { candidate: Candidate } {
  if (!isKept(mission)) requireStatus(mission, DECIDABLE)
  requireFree(mission)
  if (mission.undo) throw new NotAllowed(`Mission ${mission.id} is being undone.`, { try: `fleet show ${mission.id}` })
  if (!mission.branch || !mission.candidate)
    throw new NotAllowed(`Mission ${mission.id} has no work to land.`, { try: `fleet retry ${mission.id}` })
}

/** These refuse an automatic landing. A person can override them. */
const SET_ASIDE = ['plugin_refused', 'base_moved']

/** `forced`: it lands even if its checks fail. */
export function requestLanding(mission: Mission, by: By, forced = false): Step {
  requireLandable(mission)
  const { status_reason: why } = mission
  const past = why && SET_ASIDE.includes(why.code) ? why.text : null
  const approval = { candidate: mission.candidate.commit, by: by.actor, at: by.now, past }
  return step(mission, { ...toLanding(by), approval, forced, landing_looks: 0 }, by, 'land_requested', {
    data: { candidate: approval.candidate, ...(forced && { forced }), ...(past && { past }) },
  })
}

export function requestUndo(mission: Mission, by: By): Step {
  if (!mission.landed)
    throw new NotAllowed(`Mission ${mission.id} did not land, so there is nothing to undo.`, {
      facts: { result: mission.result },
    })
  requireStatus(mission, UNDOABLE)
  requireFree(mission)
  if (mission.landed.with)
    throw new NotAllowed(
      `The work of mission ${mission.id} landed with ${mission.landed.with}, and is undone with it.`,
      {
        try: `fleet undo ${mission.landed.with}`,
      },
    )
  if (mission.undo) throw new NotAllowed(`Mission ${mission.id} is already being undone.`)
  if (mission.pull_request?.merge_commit === mission.landed.commit)
    throw new NotAllowed(
      `Mission ${mission.id} landed by a pull request, so it must be undone where that was merged.`,
      {
        try: `Revert ${mission.pull_request.url}`,
      },
    )
  return step(
    mission,
    { undo: { requested_at: by.now, by: by.actor, landing_commit: null }, landing_at: by.now },
    by,
    'undo_requested',
  )
}

const toLanding = (by: By): Partial<Mission> => ({
  status: 'landing',
  status_reason: null,
  landing_at: by.now,
  landing_commit: null,
  result: null,
})

/** The landing waits for something that clears by itself. Only the first wait writes an event. */
export function stepsAside(mission: Mission, why: StatusReason, by: By): Step {
  const change = { status_reason: why, landing_commit: null, landing_looks: mission.landing_looks + 1 }
  const next = step(mission, change, by, 'landing_waits', { cause: why.text, data: { code: why.code } })
  return mission.landing_looks ? { ...next, events: [] } : next
}

export const toLand = (mission: Mission, by: By): Step => step(mission, toLanding(by), by, 'landing_started')

/** The result of a landing, besides the mission itself. */
export type Brought = Pick<Landing, 'commit' | 'onto' | 'branch'> &
  Partial<Pick<Landing, 'files' | 'evidence' | 'includes'>> &
  Pick<LandingCommit, 'past'>

export function landed(
  mission: Mission,
  { commit, onto, branch, past, files = null, evidence = [], includes = [] }: Brought,
  by: By,
): Step {
  const { approval } = mission
  const landing: Landing = {
    ...{ commit, onto, branch, files, evidence, includes, at: by.now },
    candidate: approval?.candidate ?? mission.candidate?.commit ?? null,
    approved: approval && { by: approval.by, at: approval.at },
    forced: approval && forcedBy(approval.by, [approval.past, past]),
    with: null,
    undone: null,
  }
  const { candidate, forced } = landing
  const data = { commit, branch, candidate, approved_by: approval?.by ?? null, ...(forced && { forced }) }
  return step(mission, isOnBase(mission, landing, by), by, 'landed', { data })
}

function forcedBy(by: string, past: (string | null | undefined)[]): Landing['forced'] {
  const told = past.filter(Boolean).join(' ')
  return told ? { by, past: told } : null
}

/** Kept, or waiting for a person, and nobody is at work on it. */
export const canComeAlong = (mission: Mission): boolean =>
  !mission.taken_over &&
  !mission.asking &&
  !mission.undo &&
  (isKept(mission) || ['review', 'needs_input'].includes(mission.status))

/** Its work landed with a mission that was built on it. */
export function landedWith(
  mission: Mission,
  whole: Pick<Landing, 'commit' | 'onto' | 'branch'> & { with: string },
  by: By,
): Step {
  const own = {
    candidate: mission.candidate?.commit ?? null,
    approved: null,
    forced: null,
    files: null,
    evidence: [],
    includes: [],
  }
  const landing: Landing = { ...whole, ...own, at: by.now, undone: null }
  const { commit, branch } = whole
  return step(mission, isOnBase(mission, landing, by), by, 'landed', { data: { commit, branch, with: whole.with } })
}

const isOnBase = (mission: Mission, landing: Landing, by: By): Partial<Mission> => ({
  status: 'done',
  status_reason: null,
  result: 'landed',
  landed: landing,
  past_landings: withPast(mission, mission.landed),
  landing_commit: null,
  landing_looks: 0,
  approval: null,
  cancel_requested: false,
  interruptions: 0,
  rate_limits: 0,
  ended_at: by.now,
})

const withPast = ({ past_landings }: Mission, landing: Landing | null): Landing[] =>
  (landing ? [...past_landings, landing] : past_landings).slice(-MOST_PAST_LANDINGS)

const takenBack = (mission: Mission, commit: string, by: By): Partial<Mission> => ({
  landed: null,
  past_landings: withPast(
    mission,
    mission.landed && { ...mission.landed, undone: { commit, at: by.now, by: mission.undo?.by ?? null } },
  ),
})

/** `candidate`: the commit that can land again. If the mission has been sent back to work since, its status stays. */
export function undone(mission: Mission, commit: string, candidate: Candidate | null, by: By): Step {
  const others = mission.landed?.includes.map(({ title, mission_id }) => `“${title}” (${mission_id})`) ?? []
  const along = others.length ? `, and with it the work of ${others.join(', ')}` : ''
  const again = mission.status === 'done'
  const change: Partial<Mission> = {
    ...takenBack(mission, commit, by),
    ...(again && { status: 'review' as const, result: null, candidate }),
    undo: null,
    landing_at: null,
    status_reason: {
      code: 'undone',
      text: `It was undone${along}; its work is kept${again ? ' and can land again' : ''}.`,
      try: again ? `fleet land ${mission.id}` : undefined,
    },
  }
  const includes = mission.landed?.includes.map(({ mission_id }) => mission_id) ?? []
  return step(mission, change, by, 'undone', { data: { commit, includes, requested_by: mission.undo?.by ?? null } })
}

/** Work that landed with the undone landing is kept, as before. */
export const undoneWith = (mission: Mission, commit: string, by: By): Step =>
  step(mission, { ...takenBack(mission, commit, by), result: 'kept' }, by, 'undone', {
    data: { commit, with: mission.landed?.with },
  })

/** The undo cannot be done; the mission stays landed and says why. */
export const undoFailed = (mission: Mission, why: StatusReason, by: By): Step =>
  step(mission, { undo: null, landing_at: null, status_reason: why }, by, 'undo_failed', { cause: why.text })
