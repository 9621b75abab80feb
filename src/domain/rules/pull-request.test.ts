import { expect, test } from 'vitest'
import type { Mission, PullRequest } from '../records/mission.ts'
import { aMission } from '../samples.testkit.ts'
import {
  closed,
  isAskedAbout,
  isWaiting,
  JUST_OPEN,
  MAX_UNANSWERED,
  merged,
  opened,
  proposalOf,
  stillOpen,
  unanswered,
} from './pull-request.ts'

const by = { actor: 'fleet', now: '2026-01-01T00:00:00.000Z' }
const later = '2026-01-01T00:02:00.000Z'
const pr: PullRequest = {
  state: 'open',
  url: 'https://github.example/us/ours/pull/7',
  number: 7,
  branch: 'fleet/shell/x/1',
  commit: 'c',
  pushed: 'c',
  work: 'w',
  merge_commit: null,
  look_at: by.now,
  unanswered: 0,
  checks: [],
}
const landing = aMission({ status: 'landing' })
const waiting = (): Mission & { pull_request: PullRequest } => {
  const { mission } = opened(landing, pr, JUST_OPEN, by)
  if (!isWaiting(mission)) throw new Error('it does not wait')
  return mission
}

test('one that is open is asked about, and told of only when there is news', () => {
  const mission = waiting()
  expect(mission).toMatchObject({ status: 'review', status_reason: { text: expect.stringContaining(pr.url!) } })
  expect(isAskedAbout(mission)).toBe(true)
  const same = stillOpen(mission, JUST_OPEN, { by, look_at: later })
  expect(same.events).toEqual([])
  expect(same.mission.pull_request?.look_at).toBe(later)
  const news = stillOpen(mission, { ...JUST_OPEN, changesWanted: true }, { by, look_at: later })
  expect(news.events).toMatchObject([
    { kind: 'landing_waits', cause: expect.stringContaining('Changes were requested') },
  ])
})

test('what cannot be asked is asked later and later, and then no more', () => {
  let mission: Mission = waiting()
  const pauses: number[] = []
  while (isAskedAbout(mission)) {
    mission = unanswered(mission, 'No net.', by, 120).mission
    const { look_at } = mission.pull_request!
    if (look_at) pauses.push((Date.parse(look_at) - Date.parse(by.now)) / 1000)
  }
  expect(pauses).toEqual([240, 480, 960, 1920, 3600, 3600, 3600, 3600, 3600])
  expect(mission.pull_request?.unanswered).toBe(MAX_UNANSWERED)
  expect(mission.status_reason?.text).toMatch(/10 times in a row\. No net\.$/)
})

test('merged it has landed as that commit; closed it goes back to a person', () => {
  const done = merged(waiting(), { commit: 'm', onto: 'b', branch: 'main' }, by).mission
  expect(done).toMatchObject({ status: 'done', result: 'landed', landed: { commit: 'm', onto: 'b', branch: 'main' } })
  expect(done.pull_request).toMatchObject({ state: 'merged', merge_commit: 'm', look_at: null })
  const back = closed(waiting(), by).mission
  expect(back).toMatchObject({ status: 'review', status_reason: { code: 'pull_request_closed' } })
  expect(isAskedAbout(back)).toBe(false)
})

test('the text of one without a report names the mission and nothing else', () => {
  expect(proposalOf({ id: 'm1', title: ' Two\nlines ' }, undefined, [])).toEqual({
    title: 'Two lines',
    body: 'Fleet-Mission: m1\n',
  })
})
