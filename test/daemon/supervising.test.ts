import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually, FULL } from '../kit/fleet.ts'
import { aScene } from '../kit/scene.ts'

test('a second server on one home exits 1 while fifty tasks go on, and all fifty finish', {
  timeout: 120_000,
}, async () => {
  const { fleet, project } = await aScene({ env: { FLEET_MAX_CONCURRENT: '50' }, project: { max_concurrent: 50 } })
  const log = join(fleet.root, 'log')
  // Fifty loops with short pauses would keep two processors busy.
  const wait = `echo + >> '${log}'; until [ -e '${log}.open' ]; do sleep 1; done`
  const missions = await Promise.all(
    Array.from({ length: 50 }, (_, i) => fleet.mission(project, `${wait}; echo - >> '${log}'; echo ${i} > ${i}.txt`)),
  )
  const lines = (sign: string): number =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter(line => line === sign).length
  await eventually('all to be at work', () => existsSync(log) && lines('+') === 50)
  const before = await Promise.all(missions.map(async ({ id }) => (await fleet.show(id)).sessions[0]!.pid))

  for (let times = 0; times < 3; times++) {
    const second = await fleet.fleetCommand(['up', '--into-log'])
    expect(second.code).toBe(1)
    expect(second.stderr).toMatch(/is held by process \d+/)
  }
  expect(lines('-')).toBe(0)
  const after = await Promise.all(missions.map(({ id }) => fleet.show(id)))
  expect(after.map(({ sessions }) => sessions[0]!.pid)).toEqual(before)

  writeFileSync(`${log}.open`, '')
  for (const { id } of missions) {
    const done = await fleet.until(id, 'done', 'failed', 'needs_input', 'review')
    expect(done).toMatchObject({ status: 'done', result: 'landed', failures: 0 })
    expect(done.sessions).toHaveLength(1)
  }
  expect([lines('+'), lines('-')]).toEqual([50, 50])
})

test.each(FULL ? (['stop', 'kill'] as const) : (['stop'] as const))(
  '%s and start five times during a task: it has not failed, and finishes',
  async how => {
    const { fleet, repo, project, gate } = await aScene()
    const held = gate('held')
    const { id } = await fleet.mission(project, `${held.wait}; echo x > x.txt`)
    await eventually('it is at work', () => held.reached())
    const pid = await eventually('its process', async () => (await fleet.show(id)).sessions[0]!.pid)
    for (let times = 0; times < 5; times++) {
      await fleet[how]()
      expect(await fleet.show(id)).toMatchObject({ status: 'running', failures: 0, sessions: [{ pid, outcome: null }] })
      await fleet.start()
      const adopted = async () => (await fleet.events()).filter(({ kind }) => kind === 'adopted').length
      await eventually('it is taken up', async () => (await adopted()) === times + 1)
    }
    held.open()
    const done = await fleet.until(id, 'done', 'failed', 'needs_input')
    expect(done).toMatchObject({
      status: 'done',
      result: 'landed',
      failures: 0,
      sessions: [{ outcome: 'completed', pid }],
    })
    expect(done.sessions).toHaveLength(1)
    expect(await repo.readOn('main', 'x.txt')).toBe('x')
  },
)

test('an agent that exits 0 without a result is tried so often and no more, and the reason stays', async () => {
  const { fleet, project } = await aScene()
  const log = join(fleet.root, 'tries')
  const { id } = await fleet.mission(project, `echo try >> '${log}'; exit 0`, { max_retries: 1 })
  const over = await fleet.until(id, 'failed', 'done', 'needs_input')
  expect(over).toMatchObject({
    status: 'failed',
    result: null,
    failures: 2,
    status_reason: {
      code: 'nothing_done',
      text: expect.stringMatching(/changed nothing and did not report that nothing was needed\. It was tried 2 times/),
      try: expect.stringContaining('fleet logs'),
    },
  })
  expect(over.sessions).toHaveLength(2)
  expect(readFileSync(log, 'utf8')).toBe('try\n'.repeat(2))
  expect((await fleet.fleetCommand(['mission', 'show', id])).stdout).toContain('It was tried 2 times')
})
