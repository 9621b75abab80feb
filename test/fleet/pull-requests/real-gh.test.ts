import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aRepository } from '../../../src/git/testkit.ts'
import { eventually } from '../../kit/fleet.ts'
import { aLoopbackGitHub, withoutGh } from '../../kit/loopback-github.ts'
import { aScene } from '../../kit/scene.ts'

const missing = withoutGh()
const check = { name: 'build', detailsUrl: 'https://ci.test/1', conclusion: '' }

test.skipIf(missing)(
  `with the real gh: a pull request is opened from review, its CI is followed, and it is merged${missing ? ` (${missing})` : ''}`,
  async ({ onTestFinished }) => {
    const repo = await aRepository({ files: { 'a.txt': 'a\n' } })
    onTestFinished(() => repo.remove())
    const github = await aLoopbackGitHub(repo, join(repo.root, 'github'))
    const { fleet } = await aScene({ env: { ...github.env, FLEET_PULL_REQUEST_EVERY: '86400' } })
    const project = await fleet.project(repo.path, { landing: 'review' })
    const post = async (path: string, body: object) => {
      const answer = await fleet.http(path, { method: 'POST', body: JSON.stringify(body) })
      return { status: answer.status, said: JSON.stringify(await answer.json()) }
    }
    const until = (what: string, is: (mission: Awaited<ReturnType<typeof fleet.show>>) => boolean) =>
      eventually(
        what,
        async () => {
          const mission = await fleet.show(id)
          return is(mission) ? mission : undefined
        },
        async () =>
          JSON.stringify(await fleet.show(id).then(({ status, status_reason }) => ({ status, status_reason }))),
      )
    const { id } = await fleet.mission(project, 'echo b > b.txt', { title: 'Add b' })
    const { candidate } = await fleet.until(id, 'review')
    const expected = candidate!.commit

    // Only the work that was shown is proposed.
    expect((await post(`/api/missions/${id}/pull-request`, { expected: '0'.repeat(40) })).status).toBe(409)
    expect(github.pulls).toEqual([])
    github.setChecks([{ ...check, status: 'IN_PROGRESS' }])
    expect(await post(`/api/missions/${id}/pull-request`, { expected })).toMatchObject({ status: 200 })
    const open = await until('it is open', ({ pull_request }) => pull_request?.state === 'open')
    expect(open.pull_request).toMatchObject({
      number: 1,
      url: 'https://github.test/us/ours/pull/1',
      checks: [{ name: 'build', state: 'running', url: 'https://ci.test/1' }],
    })
    expect(github.pulls).toMatchObject([{ head: open.branch, base: 'main', title: 'Add b' }])
    expect(await github.git('show', `${open.branch}:b.txt`)).toBe('b')

    // A check fails. Asking is what Refresh does.
    github.setChecks([{ ...check, status: 'COMPLETED', conclusion: 'FAILURE' }])
    await fleet.land(id)
    const failed = await until('CI failed', ({ pull_request }) => pull_request?.checks[0]?.state === 'failed')
    expect(failed.status_reason?.text).toContain('Checks failed on its pull request (build)')

    // Offline: nothing is lost, and it is said.
    github.setOffline(true)
    const away = await post(`/api/missions/${id}/pull-request/merge`, { expected })
    expect(away.status).toBeGreaterThanOrEqual(500)
    expect(away.said).toContain('gh pr merge failed')
    await fleet.land(id)
    await until('it says so', ({ status_reason }) => !!status_reason?.text.includes('GitHub could not be asked'))
    github.setOffline(false)

    // Merged at GitHub, and the base branch here follows.
    github.setChecks([{ ...check, status: 'COMPLETED', conclusion: 'SUCCESS' }])
    expect((await post(`/api/missions/${id}/pull-request/merge`, { expected: '0'.repeat(40) })).status).toBe(409)
    expect(await post(`/api/missions/${id}/pull-request/merge`, { expected })).toMatchObject({ status: 200 })
    const done = await until('it landed', ({ status }) => status === 'done')
    expect(done).toMatchObject({ result: 'landed', pull_request: { state: 'merged' } })
    expect(await repo.tip()).toBe(github.pulls[0]!.mergeCommit!.oid)
    expect(await repo.readOn('main', 'b.txt')).toBe('b')
    const merges = github.asked.filter(({ query }) => query.includes('mutation PullRequestMerge'))
    expect(merges.map(({ variables }) => variables.input?.expectedHeadOid)).toEqual([open.pull_request!.commit])
  },
)

test.skipIf(missing)(
  `with the real gh: a branch that somebody pushed to is not merged${missing ? ` (${missing})` : ''}`,
  async ({ onTestFinished }) => {
    const repo = await aRepository({ files: { 'a.txt': 'a\n' } })
    onTestFinished(() => repo.remove())
    const github = await aLoopbackGitHub(repo, join(repo.root, 'github'))
    const { fleet } = await aScene({ env: { ...github.env, FLEET_PULL_REQUEST_EVERY: '86400' } })
    const project = await fleet.project(repo.path, { landing: 'pull-request' })
    const { id } = await fleet.mission(project, 'echo b > b.txt', { title: 'Add b' })
    const { candidate, branch } = await eventually('it is open', async () => {
      const mission = await fleet.show(id)
      return mission.pull_request?.state === 'open' ? mission : undefined
    })
    const who = ['-c', 'user.name=x', '-c', 'user.email=x@x']
    const theirs = await github.git(...who, 'commit-tree', `${branch}^{tree}`, '-p', branch!, '-m', 'sneaked in')
    await github.git('update-ref', `refs/heads/${branch}`, theirs)
    const answer = await fleet.http(`/api/missions/${id}/pull-request/merge`, {
      method: 'POST',
      body: JSON.stringify({ expected: candidate!.commit }),
    })
    expect([answer.ok, await answer.text()]).toEqual([false, expect.stringContaining('Head branch was modified')])
    expect(github.pulls[0]!.state).toBe('OPEN')
    expect((await fleet.show(id)).status).toBe('review')
  },
)
