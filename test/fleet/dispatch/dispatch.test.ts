import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

test('a hundred simultaneous requests to dispatch one mission make one session', async () => {
  const { fleet, project } = await aScene()
  const { id } = await fleet.mission(project, 'echo once >> made.txt', { auto_dispatch: false })
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => fleet.http(`/api/missions/${id}/dispatch`, { method: 'POST', body: '{}' })),
  )

  const accepted = answers.filter(answer => answer.status < 300)
  expect(accepted.length).toBeGreaterThan(0)
  // A call that comes when the mission already runs is refused.
  for (const answer of answers) if (answer.status >= 300) expect(answer.status).toBe(409)
  const mission = await fleet.until(id, 'done')
  expect(mission.sessions).toHaveLength(1)
  const starts = (await fleet.events()).filter(event => event.kind === 'session_starting')
  expect(starts).toHaveLength(1)
})

interface Span {
  start: number
  end: number
}

/** How many spans overlap at the busiest moment. */
function mostAtOnce(spans: Span[]): number {
  const moments = spans.flatMap(({ start, end }) => [
    { at: start, change: 1 },
    { at: end, change: -1 },
  ])
  moments.sort((a, b) => a.at - b.at || a.change - b.change)
  let now = 0
  return Math.max(...moments.map(({ change }) => (now += change)))
}

function spansIn(log: string): Span[] {
  const spans = new Map<string, Span>()
  for (const line of readFileSync(log, 'utf8').trim().split('\n')) {
    const [what, who, nanoseconds] = line.split(' ') as ['start' | 'end', string, string]
    spans.set(who, { start: 0, end: Number.POSITIVE_INFINITY, ...spans.get(who), [what]: Number(nanoseconds) })
  }
  return [...spans.values()]
}

const timed = (log: string, work: string): string =>
  `echo "start $FLEET_TASK_ID $(date +%s%N)" >> '${log}'; ${work}; echo "end $FLEET_TASK_ID $(date +%s%N)" >> '${log}'`

test('with room for five, forty missions all finish and never more than five trees live', {
  timeout: 120_000,
}, async () => {
  const { fleet, repo, project } = await aScene({ env: { FLEET_MAX_CONCURRENT: '5' } })
  const log = join(fleet.root, 'spans')
  // A child of the agent does the work, so that the process tree lives as long as any of it.
  const missions = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      fleet.mission(project, timed(log, `sh -c 'sleep 0.1; echo ${i} > file-${i}.txt'`)),
    ),
  )
  const full = await eventually('someone says that the fleet is full', async () => {
    const shown = await Promise.all(missions.slice(-5).map(({ id }) => fleet.show(id)))
    return shown.flatMap(mission => mission.waits_for).find(reason => reason.kind === 'slot')
  })
  expect(full.text).toContain('the fleet is full')

  for (const { id } of missions) expect((await fleet.until(id, 'done', 'failed', 'review')).result).toBe('landed')
  const spans = spansIn(log)
  expect(spans).toHaveLength(40)
  expect(mostAtOnce(spans)).toBeGreaterThan(1)
  expect(mostAtOnce(spans)).toBeLessThanOrEqual(5)
  expect((await repo.filesOn('main')).filter(file => file.startsWith('file-'))).toHaveLength(40)
})

test('a project and an agent can have less room than the fleet', async () => {
  const { fleet, project, repository } = await aScene({
    env: { FLEET_MAX_CONCURRENT: '6', FLEET_MAX_PER_AGENT: 'shell=3' },
    project: { max_concurrent: 2 },
  })
  const second = await fleet.project((await repository()).path)
  const [narrow, wide] = [join(fleet.root, 'narrow'), join(fleet.root, 'wide')]
  const work = 'sleep 0.15; echo x > "$FLEET_TASK_ID"'
  const missions = await Promise.all([
    ...Array.from({ length: 5 }, () => fleet.mission(project, timed(narrow, work))),
    ...Array.from({ length: 5 }, () => fleet.mission(second, timed(wide, work))),
  ])
  const reasons = new Set<string>()
  await eventually('all done', async () => {
    const shown = await Promise.all(missions.map(({ id }) => fleet.show(id)))
    for (const mission of shown)
      for (const reason of mission.waits_for) if (reason.kind === 'slot') reasons.add(reason.text)
    return shown.every(mission => mission.status === 'done')
  })
  expect(mostAtOnce(spansIn(narrow))).toBeLessThanOrEqual(2)
  expect(mostAtOnce([...spansIn(narrow), ...spansIn(wide)])).toBeLessThanOrEqual(3)
  expect([...reasons].join()).toMatch(/the project is full|this agent is full/)
})

test('higher priority goes first, then what waited longest', async () => {
  const { fleet, project } = await aScene({ env: { FLEET_MAX_CONCURRENT: '1' } })
  const order = join(fleet.root, 'order')
  const named = (name: string, priority: number) =>
    fleet.mission(project, `echo ${name} >> '${order}'; echo x > ${name}.txt`, { title: name, priority })
  await fleet.call('pause')
  const missions = [
    await named('old', 0),
    await named('young', 0),
    await named('urgent', 5),
    await named('some-day', -5),
    await named('urgent-too', 5),
  ]
  await fleet.call('unpause')
  for (const { id } of missions) await fleet.until(id, 'done')
  expect(readFileSync(order, 'utf8').trim().split('\n')).toEqual(['urgent', 'urgent-too', 'old', 'young', 'some-day'])
})

test('a paused project starts nothing and holds up no other; what runs goes on', async () => {
  const { fleet, project, gate, repository } = await aScene()
  const other = await fleet.project((await repository()).path)
  const held = gate('running')
  const running = await fleet.mission(project, `${held.wait}; echo x > x.txt`)
  await eventually('the first one at work', () => held.reached())

  await fleet.call('pause', { project_id: project.id })
  const waiting = await fleet.mission(project, 'echo y > y.txt')
  const elsewhere = await fleet.mission(other, 'echo z > z.txt')
  await fleet.until(elsewhere.id, 'done')
  held.open()
  await fleet.until(running.id, 'done')
  const shown = await fleet.show(waiting.id)
  expect(shown).toMatchObject({ status: 'queued', waits_for: [{ kind: 'paused', text: 'project test is paused' }] })

  await fleet.call('pause')
  await fleet.call('unpause', { project_id: project.id })
  expect((await fleet.show(waiting.id)).waits_for).toMatchObject([{ kind: 'paused', text: 'the fleet is paused' }])
  // A paused fleet stays paused after a restart.
  await fleet.stop()
  await fleet.start()
  expect((await fleet.show(waiting.id)).status).toBe('queued')
  await fleet.call('unpause')
  await fleet.until(waiting.id, 'done')
})
