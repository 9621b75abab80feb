import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Identity, identityOf, isAlive, membersOf, signal } from '../../../src/runner/processes.ts'
import { stopTree } from '../../../src/runner/stopping.ts'
import { aFleet, eventually, type TestFleet } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

const GRACE_SECONDS = 1

/**
 * Ignores TERM. One grandchild runs in its own process session far from the worktree, and another has an empty
 * environment.
 */
const stubborn = (fleet: TestFleet): string => `
trap '' TERM
cat > '${fleet.root}/forever.sh' <<'SCRIPT'
trap '' TERM
echo $$ > "$1"
while :; do sleep 0.1; done
SCRIPT
(cd /; setsid sh '${fleet.root}/forever.sh' '${fleet.root}/orphan.pid' &)
env -i /usr/bin/setsid /bin/sh '${fleet.root}/forever.sh' '${fleet.root}/hidden.pid' &
echo half > half.txt
echo $$ > '${fleet.root}/agent.pid'
while :; do sleep 0.1; done`

async function pidIn(file: string): Promise<Identity> {
  return eventually(file, () => {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    return text.endsWith('\n') ? identityOf(Number(text)) : undefined
  })
}

const treeOf = (fleet: TestFleet): Promise<Identity[]> =>
  Promise.all(['agent', 'orphan', 'hidden'].map(name => pidIn(join(fleet.root, `${name}.pid`))))

test('an agent that ignores TERM is gone with its whole tree in time; its work stays on its branch', async () => {
  const { fleet, repo, project } = await aScene({ env: { FLEET_STOP_GRACE: String(GRACE_SECONDS) } })
  const { id } = await fleet.mission(project, stubborn(fleet))
  const tree = await treeOf(fleet)
  expect(tree.every(isAlive)).toBe(true)

  const asked = performance.now()
  await fleet.call('cancel_mission', { mission_id: id })
  await eventually('nothing of it lives', () => !tree.some(isAlive))
  expect(performance.now() - asked).toBeLessThan((GRACE_SECONDS + 2) * 1000)

  const mission = await fleet.until(id, 'cancelled')
  const session = mission.sessions[0]!
  expect(fleet.processes(session.id)).toEqual([])
  expect(session).toMatchObject({ status: 'ended', outcome: 'cancelled', outcome_reason: 'A person cancelled it.' })
  expect(await repo.readOn(mission.branch!, 'half.txt')).toBe('half')
  expect(await repo.filesOn('main')).toEqual(['README.md'])

  const again = await fleet.http(`/api/missions/${id}/cancel`, { method: 'POST', body: '{}' })
  expect(again.status).toBe(409)
  expect(await again.text()).toContain('cancelled')
})

test('asking to cancel while it is being cancelled is a polite no', async () => {
  const { fleet, project } = await aScene()
  const { id } = await fleet.mission(project, stubborn(fleet))
  await treeOf(fleet)
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => fleet.http(`/api/missions/${id}/cancel`, { method: 'POST', body: '{}' })),
  )
  expect(answers.map(answer => answer.status).sort()).toEqual([200, 409, 409, 409, 409])
  await fleet.until(id, 'cancelled')
})

test('an agent that ends at TERM keeps what it wrote on its way out, and a retry starts afresh', async () => {
  const { fleet, repo, project, gate } = await aScene()
  const held = gate('work')
  const { id } = await fleet.mission(project, `trap 'echo bye > last.txt; exit 0' TERM; ${held.wait}; echo x > x.txt`)
  await eventually('at work', () => held.reached())
  await fleet.call('cancel_mission', { mission_id: id })
  const cancelled = await fleet.until(id, 'cancelled')
  expect(await repo.readOn(cancelled.branch!, 'last.txt')).toBe('bye')

  held.open()
  await fleet.call('retry_mission', { mission_id: id })
  expect((await fleet.until(id, 'done')).result).toBe('landed')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'x.txt'])
  const kept = await eventually('the first try under a ref', () =>
    repo
      .git('for-each-ref', '--format=%(refname)', 'refs/fleet')
      .then(refs => refs.split('\n').find(ref => ref.endsWith('/1'))),
  )
  expect(await repo.readOn(kept, 'last.txt')).toBe('bye')
})

test('a mission that is queued is cancelled at once and never runs', async () => {
  const { fleet, repo, project } = await aScene()
  await fleet.call('pause')
  const { id } = await fleet.mission(project, 'echo x > x.txt')
  await fleet.call('cancel_mission', { mission_id: id })
  expect((await fleet.show(id)).status).toBe('cancelled')
  await fleet.call('unpause')
  await fleet.until((await fleet.mission(project, 'echo y > y.txt')).id, 'done')
  expect(await fleet.show(id)).toMatchObject({ status: 'cancelled', sessions: [] })
  expect(await repo.filesOn('main')).toEqual(['README.md', 'y.txt'])
})

test('cancelled during its setup command: the command is ended and the agent never starts', async () => {
  const { fleet, project } = await aScene()
  const [pid, ran] = [join(fleet.root, 'setup.pid'), join(fleet.root, 'ran')]
  await fleet.call('update_project', {
    project_id: project.id,
    setup_command: `echo $$ > '${pid}'; while :; do sleep 0.1; done`,
  })
  const { id } = await fleet.mission(project, `touch '${ran}'; echo x > x.txt`)
  const setup = await pidIn(pid)

  await fleet.call('cancel_mission', { mission_id: id })
  const mission = await fleet.until(id, 'cancelled', 'failed', 'done')
  expect(mission.status).toBe('cancelled')
  expect(mission.sessions).toMatchObject([{ outcome: 'cancelled' }])
  expect(isAlive(setup)).toBe(false)
  expect(existsSync(ran)).toBe(false)
})

test('cancelled during a check of its landing: the check is ended, nothing lands, the queue goes on', async () => {
  const { fleet, repo, project } = await aScene()
  const pid = join(fleet.root, 'check.pid')
  const command = `[ -e quick.txt ] || { echo $$ > '${pid}'; while :; do sleep 0.1; done; }`
  await fleet.call('update_project', { project_id: project.id, checks: [{ name: 'slow', command }] })
  const { id } = await fleet.mission(project, 'echo x > x.txt')
  const check = await pidIn(pid)
  expect((await fleet.show(id)).status).toBe('landing')
  const next = await fleet.mission(project, 'echo x > quick.txt')

  await fleet.call('cancel_mission', { mission_id: id })
  const mission = await fleet.until(id, 'cancelled', 'review', 'done')
  expect(mission.status).toBe('cancelled')
  expect(isAlive(check)).toBe(false)
  expect(await repo.readOn(mission.branch!, 'x.txt')).toBe('x')
  expect((await fleet.until(next.id, 'done')).result).toBe('landed')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'quick.txt'])
})

test('cancelled while no server runs: the next one carries it out', async () => {
  const { fleet, repo, project } = await aScene()
  const { id } = await fleet.mission(project, stubborn(fleet))
  const tree = await treeOf(fleet)
  await fleet.kill()
  await fleet.call('cancel_mission', { mission_id: id })
  expect(tree.every(isAlive)).toBe(true)

  await fleet.start()
  const mission = await fleet.until(id, 'cancelled')
  expect(tree.some(isAlive)).toBe(false)
  expect(await repo.readOn(mission.branch!, 'half.txt')).toBe('half')
})

test('a process that ends by itself leaves nothing behind', async () => {
  const { fleet, project } = await aScene()
  const pid = join(fleet.root, 'left.pid')
  const { id } = await fleet.mission(
    project,
    `(setsid sh -c 'echo $$ > "${pid}"; sleep 600' &); until [ -s '${pid}' ]; do sleep 0.02; done; echo x > x.txt`,
  )
  const left = await pidIn(pid)
  await fleet.until(id, 'done')
  expect(isAlive(left)).toBe(false)
  expect((await fleet.events()).some(event => event.kind === 'swept' && event.mission_id === id)).toBe(true)
})

test('two homes on one repository never touch each other’s agents', async () => {
  const { fleet: one, repo, project, gate } = await aScene()
  const two = await aFleet()
  onTestFinished(() => two.remove())
  await two.start()
  const same = await two.project(repo.path)
  const held = gate('other')
  const mine = await one.mission(project, stubborn(one))
  const theirs = await two.mission(same, `echo $$ > '${two.root}/agent.pid'; ${held.wait}; echo theirs > theirs.txt`)
  const [tree, other] = [await treeOf(one), await pidIn(join(two.root, 'agent.pid'))]

  await one.call('cancel_mission', { mission_id: mine.id })
  await one.until(mine.id, 'cancelled')
  expect(tree.some(isAlive)).toBe(false)
  expect(isAlive(other)).toBe(true)

  // Neither a restart, which ends leftover processes, nor the end of its own agents affects the other home.
  await one.kill()
  await one.start()
  await one.until((await one.mission(project, 'echo mine > mine.txt')).id, 'done')
  expect(isAlive(other)).toBe(true)
  held.open()
  expect((await two.until(theirs.id, 'done', 'review')).result).toBe('landed')
})

test('a reused pid is never signalled', async () => {
  const stranger = spawn('sleep', ['600'], { stdio: 'ignore' })
  onTestFinished(() => void stranger.kill('SIGKILL'))
  const identity = await eventually('the stranger', () => identityOf(stranger.pid!))
  const earlier = { ...identity, started: String(Number(identity.started) - 1) }
  const lastBoot = { ...identity, boot: 'another boot' }

  for (const reused of [earlier, lastBoot]) {
    expect(isAlive(reused)).toBe(false)
    expect(signal(reused, 'SIGKILL')).toBe(false)
    const belonging = {
      mark: 'nobody/nothing',
      root: reused,
      worktree: null,
      known: new Map([[reused.pid, earlier.started]]),
    }
    expect(membersOf(belonging)).toEqual([])
    expect(await stopTree(() => belonging, 0)).toBe(0)
  }
  expect(isAlive(identity)).toBe(true)
  expect(signal(identity, 'SIGKILL')).toBe(true)
})
