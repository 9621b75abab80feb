import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually, ROOT } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'

test('an error in a timer is reported once and does not end the server, which recovers when the fault is over', async () => {
  const { fleet, project } = await aScene({ start: false })
  const [failing, done] = ['failing', 'done'].map(name => join(fleet.root, name)) as [string, string]
  const { child } = await fleet.start({
    node: ['--import', join(ROOT, 'test/fixtures/failing-disk.mjs')],
    env: { FAILING_DISK: failing },
  })
  const work = `until [ -e '${done}' ]; do echo working; sleep 0.1; done; echo a > a.txt`
  const mission = await fleet.mission(project, work)
  const [session] = (await fleet.until(mission.id, 'running')).sessions
  const followed = join(fleet.root, 'home/sessions', session!.id, 'agent-1/times')
  await eventually('it is followed', () => existsSync(followed))

  writeFileSync(failing, '')
  const log = join(fleet.root, 'home/logs/server.log')
  const timers = ['sessions, tick', `following of session ${session!.id}`]
  const told = (timer: string): number => readFileSync(log, 'utf8').split(`"msg":"${timer}"`).length - 1
  await eventually(
    'both timers to have met it',
    () => timers.every(told) || child.exitCode !== null,
    () => readFileSync(log, 'utf8'),
  )
  expect(child.exitCode).toBeNull()
  rmSync(failing)
  writeFileSync(done, '')

  expect(await fleet.until(mission.id, 'done')).toMatchObject({ result: 'landed' })
  expect(timers.map(told)).toEqual([1, 1])
})
