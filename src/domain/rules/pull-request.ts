import type { Mission, PullCheck, PullRequest, StatusReason } from '../records/mission.ts'
import type { Report } from '../records/report.ts'
import { clipped } from '../text.ts'
import * as landings from './landing.ts'
import type { By, Step } from './life.ts'
import * as life from './life.ts'

/** The pauses between tries double. After this many tries a person has to ask. */
export const MAX_UNANSWERED = 10
const LONGEST_PAUSE_SECONDS = 3600
/** The status reason of a mission that waits for its pull request. */
const CODE = 'pull_request'

type Proposed = Mission & { pull_request: PullRequest }

export const isWaiting = (mission: Mission): mission is Proposed =>
  mission.status === 'review' && mission.status_reason?.code === CODE && mission.pull_request?.state === 'open'

export const isAskedAbout = (
  mission: Mission,
): mission is Proposed & { pull_request: PullRequest & { look_at: string } } =>
  isWaiting(mission) && mission.pull_request.look_at !== null

/** What GitHub says about an open pull request, for a person. */
export interface Standing {
  changesWanted: boolean
  inConflict: boolean
  /** It was merged, but the base branch here cannot follow. */
  cannotFollow: string | null
  /** Why GitHub could not be asked when a person wanted to know. */
  notAnswered: string | null
  /** The checks that GitHub runs on it; absent: not known this time. */
  checks?: PullCheck[]
}
export const JUST_OPEN: Standing = { changesWanted: false, inConflict: false, cannotFollow: null, notAnswered: null }

function reasonOf({ id }: Mission, { url, checks }: PullRequest, standing: Standing): StatusReason {
  const ask = `fleet land ${id} asks at once`
  const resume = `fleet mission resume ${id} --message "…"`
  if (standing.cannotFollow)
    return { code: CODE, text: `Its pull request ${url} is merged. ${standing.cannotFollow}`, try: ask }
  if (standing.changesWanted)
    return { code: CODE, text: `Changes were requested in its pull request: ${url}`, try: resume }
  if (standing.inConflict)
    return { code: CODE, text: `Its pull request is in conflict with the base branch: ${url}`, try: resume }
  const failed = checks.filter(({ state }) => state === 'failed').map(({ name }) => name)
  if (failed.length && !standing.notAnswered)
    return { code: CODE, text: `Checks failed on its pull request (${failed.join(', ')}): ${url}`, try: resume }
  if (standing.notAnswered)
    return {
      code: CODE,
      text: `GitHub could not be asked about its pull request ${url}. ${standing.notAnswered}`,
      try: ask,
    }
  return { code: CODE, text: `Its pull request waits to be merged: ${url}`, try: `Merge or close it; ${ask}` }
}

/** What the checks of a pull request come to; null: it has none. */
export function ciOf(checks: readonly PullCheck[]): PullCheck['state'] | null {
  const states = checks.map(({ state }) => state)
  return states.includes('failed') ? 'failed' : states.includes('running') ? 'running' : (states[0] ?? null)
}

/** It is open, and GitHub is asked about it from now on. */
export function opened(mission: Mission, made: PullRequest, standing: Standing, by: By): Step {
  const pull_request = { ...made, checks: standing.checks ?? made.checks }
  const why = reasonOf(mission, pull_request, standing)
  const { url, number } = pull_request
  const change = { pull_request, status_reason: why, ...BACK_TO_REVIEW }
  const kind = mission.pull_request?.state === 'open' ? 'landing_waits' : 'pull_request_opened'
  return life.step(mission, change, by, kind, { cause: why.text, data: { code: CODE, url, number } })
}
const BACK_TO_REVIEW = { status: 'review', landing_commit: null, approval: null, cancel_requested: false } as const

/** It is still open. An event is written only if there is news. */
export function stillOpen(mission: Proposed, standing: Standing, next: { by: By; look_at: string }): Step {
  const { checks: before } = mission.pull_request
  const checks = standing.checks ?? before
  const pull_request = { ...mission.pull_request, checks, look_at: next.look_at, unanswered: 0 }
  const why = reasonOf(mission, pull_request, standing)
  if (why.text === mission.status_reason?.text && ciOf(checks) === ciOf(before))
    return { mission: { ...mission, pull_request }, events: [] }
  const change = { pull_request, status_reason: why }
  return life.step(mission, change, next.by, 'landing_waits', { cause: why.text, data: { code: why.code } })
}

/** GitHub could not be asked. It is asked again after growing pauses, and not for ever. */
export function unanswered(mission: Proposed, problem: string, by: By, everySeconds: number): Step {
  const times = mission.pull_request.unanswered + 1
  if (times < MAX_UNANSWERED) {
    const seconds = Math.max(everySeconds, Math.min(everySeconds * 2 ** times, LONGEST_PAUSE_SECONDS))
    const pull_request = { ...mission.pull_request, unanswered: times, look_at: after(by.now, seconds) }
    return { mission: { ...mission, pull_request }, events: [] }
  }
  const pull_request = { ...mission.pull_request, unanswered: times, look_at: null }
  const text = `Its pull request ${pull_request.url} could not be asked about ${times} times in a row. ${problem}`
  const why = { code: CODE, text, try: `fleet land ${mission.id} asks again` }
  return life.step(mission, { pull_request, status_reason: why }, by, 'landing_waits', {
    cause: text,
    data: { code: CODE },
  })
}

export function closed(mission: Mission, by: By): Step {
  const pull_request = { ...mission.pull_request!, state: 'closed' as const, look_at: null }
  const why = {
    code: 'pull_request_closed',
    text: `Its pull request was closed without being merged: ${pull_request.url}`,
    try: `fleet mission resume ${mission.id} --message "…", or fleet land ${mission.id} to open another`,
  }
  return life.toReview({ ...mission, pull_request }, why, by)
}

export function merged(mission: Mission, landing: landings.Brought, by: By): Step {
  const { commit } = landing
  const pull_request = { ...mission.pull_request!, state: 'merged' as const, merge_commit: commit, look_at: null }
  return landings.landed({ ...mission, pull_request }, landing, by)
}

export const after = (now: string, seconds: number): string => new Date(Date.parse(now) + seconds * 1000).toISOString()

const MAX_BODY_CHARS = 50_000
const MAX_TITLE_CHARS = 250

/** The text of a pull request: what the agent reported, and what git and the checks saw. */
export function proposalOf(
  mission: Pick<Mission, 'id' | 'title'> & Partial<Pick<Mission, 'pull_text'>>,
  report: Report | undefined,
  checks: readonly string[],
): { title: string; body: string } {
  const list = (title: string, items: readonly string[]): string[] =>
    items.length ? [`### ${title}`, items.map(item => `- ${item}`).join('\n')] : []
  const parts = report
    ? [
        report.summary,
        ...list('Done', report.what_done),
        ...list('Tested', report.what_tested),
        ...list('Not tested', report.what_untested),
        ...list('Open', report.what_open),
        ...list('Next steps', report.next_steps),
        ...list('Errors', report.errors_encountered),
      ]
    : []
  const proof = checks.length ? [`Checks that passed on this commit: ${checks.join(', ')}.`] : []
  const wanted = mission.pull_text
  const words = wanted?.body === undefined ? parts : [wanted.body]
  const body = [...words, ...proof].filter(part => part.trim()).join('\n\n')
  return {
    title: clipped((wanted?.title ?? mission.title).replace(/\s+/g, ' ').trim(), MAX_TITLE_CHARS),
    body: `${body ? `${clipped(body, MAX_BODY_CHARS)}\n\n` : ''}Fleet-Mission: ${mission.id}\n`,
  }
}
