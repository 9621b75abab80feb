import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Mission, PullRequest } from '../../domain/records/mission.ts'
import { aProject, NOW } from '../../domain/samples.testkit.ts'
import { runGit } from '../../git/testkit.ts'
import { Turns } from '../../git/turns.ts'
import type { Fleet } from '../fleet.ts'
import { landMission } from '../landing/landing.ts'
import { aDesk } from '../reactor.testkit.ts'
import { aWorkshop } from '../workshop.testkit.ts'
import type { Seen } from './github.ts'
import { requirePullRequests } from './open-pull-request.ts'
import { PullRequests } from './pull-requests.ts'

const signal = new AbortController().signal
const PULL = 'https://github.example/us/ours/pull/1'

/** Logs what it was asked, and answers from files. */
const GH = `#!/bin/sh
here=$(dirname "$0")
echo "$2" >>"$here/asked"
case "$2" in
  list) cat "$here/list" ;;
  create) cat >"$here/body"; echo "[$(cat "$here/view")]" >"$here/list"; echo ${PULL} ;;
  view) cat "$here/view" ;;
esac
`

/** A project with a remote and a stand-in for gh, and a mission with work on it. */
async function proposing(more: Partial<Mission> = {}) {
  const shop = await aWorkshop({ landing: 'pull-request' })
  const { repo, finished } = shop
  const remote = join(repo.root, 'remote.git')
  await runGit(repo.root, ['clone', '--quiet', '--bare', '--template=', repo.path, remote])
  await repo.git('remote', 'add', 'origin', remote)
  const bin = join(repo.root, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'gh'), GH)
  chmodSync(join(bin, 'gh'), 0o755)
  writeFileSync(join(bin, 'list'), '[]')
  const candidate = await finished('m1', { 'new.txt': 'new\n' }, { mission: more })
  const answer = (seen: Partial<Seen> | string) => {
    const open = { number: 1, url: PULL, state: 'OPEN', headRefOid: candidate, isCrossRepository: false }
    writeFileSync(join(bin, 'view'), typeof seen === 'string' ? seen : JSON.stringify({ ...open, ...seen }))
  }
  answer({})
  const fleet: Fleet = Object.create(shop.fleet, {
    environment: { value: { PATH: `${bin}:${process.env.PATH}`, HOME: repo.root } },
  })
  const asked = (what: string) =>
    existsSync(join(bin, 'asked'))
      ? readFileSync(join(bin, 'asked'), 'utf8')
          .split('\n')
          .filter(x => x === what).length
      : 0
  const reactor = new PullRequests(fleet, aDesk(), new Turns())
  return {
    ...shop,
    fleet,
    candidate,
    remote,
    answer,
    asked,
    reactor,
    there: (...args: string[]) => runGit(remote, args),
  }
}

/** A mission whose pull request is open. */
async function waiting(pull: Partial<PullRequest> = {}) {
  const scene = await proposing({ status: 'review', status_reason: { code: 'pull_request', text: '' } })
  const pull_request: PullRequest = {
    ...{ state: 'open', url: PULL, number: 1, branch: 'fleet/shell/m1', commit: scene.candidate },
    ...{ pushed: scene.candidate, work: scene.candidate, merge_commit: null, look_at: NOW, unanswered: 0, checks: [] },
    ...pull,
  }
  await scene.change('missions', 'm1', { pull_request })
  return scene
}

test('work is pushed to a branch and proposed once, and the base branch here stays', async () => {
  const { fleet, repo, there, asked, mission, change, told } = await proposing()
  const base = await repo.tip()
  await landMission(fleet, 'm1', signal)
  const { status, status_reason, pull_request } = await mission()
  expect([status, status_reason?.text]).toEqual(['review', `Its pull request waits to be merged: ${PULL}`])
  expect(pull_request).toMatchObject({ state: 'open', number: 1, url: PULL, branch: 'fleet/shell/m1' })
  expect(await there('rev-parse', 'refs/heads/fleet/shell/m1')).toBe(pull_request?.commit)
  expect([await repo.tip(), asked('create')]).toEqual([base, 1])
  await change('missions', 'm1', { status: 'landing' })
  await landMission(fleet, 'm1', signal)
  expect([(await mission()).status, asked('create')]).toEqual(['review', 1])
  expect((await told()).filter(each => each === 'pull_request_opened m1')).toHaveLength(1)
})

test('after a crash between the push and its record, nothing is pushed or proposed twice', async () => {
  const { fleet, there, asked, mission, change, answer } = await proposing()
  await landMission(fleet, 'm1', signal)
  const { pull_request } = await mission()
  answer({ headRefOid: pull_request!.commit })
  await change('missions', 'm1', {
    status: 'landing',
    pull_request: { ...pull_request!, state: 'opening', url: null, number: null, pushed: null },
  })
  await landMission(fleet, 'm1', signal)
  expect((await mission()).pull_request).toMatchObject({ state: 'open', number: 1, commit: pull_request?.commit })
  expect([asked('create'), await there('rev-parse', 'refs/heads/fleet/shell/m1')]).toEqual([1, pull_request?.commit])
})

test('a branch of the remote that somebody else changed is left as it is', async () => {
  const { fleet, repo, there, mission } = await proposing()
  await repo.git('push', '--quiet', 'origin', 'main:refs/heads/fleet/shell/m1')
  const theirs = await repo.tip()
  await landMission(fleet, 'm1', signal)
  expect((await mission()).status_reason?.text).toContain('was changed by someone else')
  expect(await there('rev-parse', 'refs/heads/fleet/shell/m1')).toBe(theirs)
})

test('commits of the base branch that the remote does not have are not proposed along', async () => {
  const { fleet, repo, asked, mission } = await proposing()
  await repo.commit('only here', { 'here.txt': 'x\n' })
  await landMission(fleet, 'm1', signal)
  expect(await mission()).toMatchObject({ status: 'review', status_reason: { code: 'base_unpushed' } })
  expect(asked('create')).toBe(0)
})

test('a merged pull request has landed: the base branch follows, and a second look does nothing', async () => {
  const { repo, there, answer, reactor, mission, told, candidate, asked } = await waiting()
  const base = await repo.tip()
  await repo.git('push', '--quiet', 'origin', `${candidate}:refs/heads/main`)
  answer({ state: 'MERGED', mergeCommit: { oid: candidate } })
  await reactor.look('missions/m1')
  expect(await mission()).toMatchObject({
    ...{ status: 'done', result: 'landed', landed: { commit: candidate, onto: base, branch: 'main' } },
    pull_request: { state: 'merged', merge_commit: candidate, look_at: null },
  })
  expect([await repo.tip(), await there('rev-parse', 'main')]).toEqual([candidate, candidate])
  await reactor.look('missions/m1')
  expect([await told(), asked('view')]).toEqual([['landed m1'], 1])
})

test('a merge that the base branch here cannot follow waits for the person whose commits are in the way', async () => {
  const { repo, answer, reactor, mission, candidate } = await waiting()
  await repo.git('push', '--quiet', 'origin', `${candidate}:refs/heads/main`)
  const tip = await repo.commit('only here', { 'here.txt': 'x\n' })
  answer({ state: 'MERGED', mergeCommit: { oid: candidate } })
  await reactor.look('missions/m1')
  const { status, status_reason } = await mission()
  expect([status, await repo.tip()]).toEqual(['review', tip])
  expect(status_reason?.text).toContain('is merged. main has commits here that origin does not have.')
})

test.each([
  { seen: { reviewDecision: 'CHANGES_REQUESTED' }, says: 'Changes were requested in its pull request' },
  { seen: { mergeable: 'CONFLICTING' }, says: 'Its pull request is in conflict with the base branch' },
])('what is new of an open one is told once: $says', async ({ seen, says }) => {
  const { answer, reactor, mission, told } = await waiting()
  answer(seen)
  for (let times = 0; times < 2; times++) await reactor.look('missions/m1')
  expect((await mission()).status_reason?.text).toContain(says)
  expect(Date.parse((await mission()).pull_request?.look_at ?? NOW)).toBeGreaterThan(Date.parse(NOW))
  expect(await told()).toEqual(['landing_waits m1'])
})

test('one that was closed is not asked about any more', async () => {
  const { answer, reactor, mission, asked } = await waiting()
  answer({ state: 'CLOSED' })
  for (let times = 0; times < 2; times++) await reactor.look('missions/m1')
  expect(await mission()).toMatchObject({
    status_reason: { code: 'pull_request_closed' },
    pull_request: { state: 'closed' },
  })
  expect(asked('view')).toBe(1)
})

test.each([
  { unanswered: 0, becomes: { unanswered: 1, look_at: expect.any(String) }, tells: 0 },
  { unanswered: 9, becomes: { unanswered: 10, look_at: null }, tells: 1 },
])('where GitHub does not answer it is asked later, and not for ever: after $unanswered', async each => {
  const { answer, reactor, mission, told } = await waiting({ unanswered: each.unanswered })
  answer('<html>')
  await reactor.look('missions/m1')
  expect((await mission()).pull_request).toMatchObject({ state: 'open', ...each.becomes })
  expect(await told()).toHaveLength(each.tells)
})

test('a mission that is gone, or that a person sent on meanwhile, is left alone', async () => {
  const { change, reactor, mission, told, asked } = await waiting()
  await reactor.look('missions/gone')
  await change('missions', 'm1', { status: 'queued' })
  const before = await mission()
  await reactor.look('missions/m1')
  expect([await mission(), await told(), asked('view')]).toEqual([before, [], 0])
})

test('a pass waits for the next that is due, and asks about those that are', async () => {
  const { fleet, change, mission, asked } = await waiting()
  const pauses: number[] = []
  const begun: Promise<unknown>[] = []
  const desk = {
    ...aDesk(),
    passIn: (ms: number) => void pauses.push(ms),
    goOn: (_: string, work: Promise<unknown>) => void begun.push(work),
  }
  const reactor = new PullRequests(fleet, desk, new Turns())
  await reactor.pass()
  await Promise.all(begun)
  expect([asked('view'), pauses]).toEqual([1, [1000]])
  const { pull_request } = await mission()
  await change('missions', 'm1', {
    pull_request: { ...pull_request!, look_at: new Date(Date.parse(NOW) + 7000).toISOString() },
  })
  await reactor.pass()
  expect([asked('view'), pauses]).toEqual([1, [1000, 7000]])
})

test('where no pull request can be made it is said before any work is done', async () => {
  const { fleet, project, repo } = await proposing()
  await requirePullRequests(fleet, project)
  const without = Object.create(fleet, { environment: { value: { PATH: '/nowhere' } } })
  await expect(requirePullRequests(without, project)).rejects.toThrow('gh, the program of GitHub, was not found.')
  await repo.git('remote', 'remove', 'origin')
  await expect(requirePullRequests(fleet, project)).rejects.toThrow('has no remote for a pull request.')
  const folder = aProject({ path: '/p', worktree: 'none' })
  await expect(requirePullRequests(fleet, folder)).rejects.toThrow('/p is not a repository')
})
