import { type ChildProcess, spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { identityOf, isAlive } from '../../../src/runner/processes.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

/** A process with a mark, like one that an agent left behind. */
function stray(mark: string): ChildProcess {
  const child = spawn('sleep', ['600'], { env: { FLEET_SESSION: mark }, detached: true, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

test('what a session leaves running is ended with it', async () => {
  const { fleet, project } = await aScene()
  const { id } = await fleet.mission(project, 'setsid sleep 600 & echo $! > pid.txt')
  const mission = await fleet.until(id, 'done')
  expect(fleet.processes(mission.sessions[0]!.id)).toEqual([])
  expect((await fleet.events()).map(event => event.kind)).toContain('swept')
})

test('a starting server ends what sessions of this home left behind, and nothing else', async () => {
  const { fleet, project, gate } = await aScene()
  const done = await fleet.until((await fleet.mission(project, 'echo x > x.txt')).id, 'done')
  const held = gate('live')
  const live = await fleet.mission(project, held.wait)
  await eventually('the second runs', () => held.reached())
  const session = (await fleet.show(live.id)).session_id!
  await fleet.kill()

  const home = fleet.fleet.home.id
  const left = stray(`${home}/${done.sessions[0]!.id}`)
  const others = [
    stray(`${home}/${session}`),
    stray(`${home}/nosuchsession`),
    stray(`otherhome/${done.sessions[0]!.id}`),
  ]
  const identity = identityOf(left.pid!)!
  await fleet.start()
  await eventually('the stray is gone', () => !isAlive(identity))
  for (const child of others) expect(child.signalCode).toBeNull()
  held.open()
})
