import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually, scaled, type TestFleet } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'

const titled = (title: string, ...depends_on: { id: string }[]) => ({
  title,
  depends_on: depends_on.map(({ id }) => id),
})
const startOf = async (fleet: TestFleet, id: string) => (await fleet.show(id)).sessions[0]!.created_at

test('A, then B and C, then D, which is told what both report', async () => {
  const { fleet, repo, project } = await aScene()
  const a = await fleet.mission(project, 'echo a > a.txt; echo A made the ground', titled('A'))
  const b = await fleet.mission(project, 'cat a.txt > b.txt; echo B built "the" $(left)', titled('B', a))
  const c = await fleet.mission(project, 'cat a.txt > c.txt; echo C built the right', titled('C', a))
  const script = 'cat b.txt c.txt > d.txt; cp "$FLEET_PROMPT_FILE" "$FLEET_ARTIFACT_DIR/told"'
  const d = await fleet.mission(project, script, titled('D', b, c))
  const done = await fleet.until(d.id, 'done', 'failed')

  expect(done.result).toBe('landed')
  expect(await repo.readOn('main', 'd.txt')).toBe('a\na')
  const [endOfA, endOfB, endOfC] = await Promise.all([a, b, c].map(async ({ id }) => (await fleet.show(id)).landed!.at))
  expect((await startOf(fleet, b.id)) >= endOfA!).toBe(true)
  expect((await startOf(fleet, c.id)) >= endOfA!).toBe(true)
  expect((await startOf(fleet, d.id)) >= [endOfB!, endOfC!].sort()[1]!).toBe(true)

  const { prompt } = await fleet.call<{ prompt: string }>('get_session', { session_id: done.sessions[0]!.id })
  expect(readFileSync(join(fleet.fleet.home.task(d.id), 'artifacts/told'), 'utf8')).toBe(prompt)
  expect(prompt.startsWith(script)).toBe(true)
  for (const part of ['### B', 'B built', 'b.txt (added)', '### C', 'C built the right', 'c.txt (added)'])
    expect(prompt).toContain(part)
  expect(prompt).not.toContain('A made the ground')
})

test('a failed dependency blocks by name, and retrying it unblocks', async () => {
  const { fleet, project } = await aScene()
  const once = join(fleet.root, 'once')
  const a = await fleet.mission(project, 'echo a > a.txt', titled('A'))
  const b = await fleet.mission(
    project,
    `if mkdir '${once}' 2>/dev/null; then echo broken >&2; exit 3; fi; echo b > b.txt`,
    titled('B', a),
  )
  const c = await fleet.mission(project, 'echo c > c.txt', titled('C', a))
  const d = await fleet.mission(project, 'echo d > d.txt', titled('D', b, c))
  await fleet.until(b.id, 'failed')
  await fleet.until(c.id, 'done')
  expect(await fleet.show(d.id)).toMatchObject({
    status: 'queued',
    waits_for: [{ kind: 'blocked', on: [b.id], text: `blocked by B (${b.id})` }],
  })

  await fleet.call('retry_mission', { mission_id: b.id })
  expect((await fleet.until(d.id, 'done', 'failed')).result).toBe('landed')
  expect(
    (await fleet.events()).filter(event => event.kind === 'dependency_met').map(event => event.mission_id),
  ).toContain(d.id)
})

test('a cancelled dependency blocks too, and a waiting one is named', async () => {
  const { fleet, project, gate } = await aScene()
  const held = gate('a')
  const a = await fleet.mission(project, `${held.wait}; echo a > a.txt`, titled('A'))
  const b = await fleet.mission(project, 'echo b > b.txt', titled('B', a))
  await eventually('A at work', () => held.reached())
  expect((await fleet.show(b.id)).waits_for).toMatchObject([
    { kind: 'dependencies', on: [a.id], text: `waiting for A (${a.id})` },
  ])
  await fleet.call('cancel_mission', { mission_id: a.id })
  await fleet.until(a.id, 'cancelled')
  expect((await fleet.show(b.id)).waits_for).toMatchObject([{ kind: 'blocked', on: [a.id] }])
  expect((await fleet.show(a.id)).dependents.map(({ id }) => id)).toEqual([b.id])
})

test('a cycle, an unknown id and a self-dependency are refused when written', async () => {
  const { fleet, project } = await aScene({ start: false })
  const draft = (title: string, ...on: { id: string }[]) =>
    fleet.mission(project, 'true', { ...titled(title, ...on), auto_dispatch: false })
  const edit = (mission: { id: string }, ...on: { id: string }[]) =>
    fleet.call('update_mission', { mission_id: mission.id, depends_on: on.map(({ id }) => id) })
  const a = await draft('A')
  const b = await draft('B', a)
  const c = await draft('C', b)
  await expect(edit(a, a)).rejects.toThrow(/depends_on: would make a circle/)
  await expect(edit(a, c)).rejects.toThrow(/depends_on: would make a circle/)
  await expect(edit(a, { id: 'zzzzzzzzzzzz' })).rejects.toThrow(/no mission "zzzzzzzzzzzz"/)
  await expect(draft('D', { id: 'zzzzzzzzzzzz' })).rejects.toThrow(/no mission/)
  expect((await fleet.show(a.id)).depends_on).toEqual([])
})

test('a mission is no part of itself: circles of parents are refused when written', async () => {
  const { fleet, project } = await aScene({ start: false })
  const draft = (title: string, parent?: { id: string }) =>
    fleet.mission(project, 'true', { title, parent_mission_id: parent?.id, auto_dispatch: false })
  const edit = (mission: { id: string }, parent: { id: string }) =>
    fleet.call('update_mission', { mission_id: mission.id, parent_mission_id: parent.id })
  const a = await draft('A')
  const b = await draft('B', a)
  const c = await draft('C', b)
  await expect(edit(a, a)).rejects.toThrow(/parent_mission_id: would make a circle/)
  await expect(edit(a, c)).rejects.toThrow(/parent_mission_id: would make a circle/)
  await edit(c, a)
  expect((await fleet.show(a.id)).children.map(({ id }) => id).sort()).toEqual([b.id, c.id].sort())
})

// In the short circle, each half names the other's mission. In the long one, the halves have no record in common.
test.each([
  { circle: ['A', 'B'], known: [], second: ['B', 'A'] },
  {
    circle: ['A', 'B', 'C', 'D'],
    known: [
      ['B', 'C'],
      ['D', 'A'],
    ],
    second: ['C', 'D'],
  },
])(
  'two people who write the halves of the circle $circle at once: one is refused, every time',
  async ({ circle, known, second }) => {
    const { fleet, project } = await aScene()
    const rounds = scaled(12, 120)
    type Half = { mission_id: string; depends_on: string[] }
    const here = (half: Half) =>
      fleet.call('update_mission', half).then(
        () => 200,
        error => error.status as number,
      )
    const over = async ({ mission_id, depends_on }: Half) =>
      (await fleet.http(`/api/missions/${mission_id}`, { method: 'PUT', body: JSON.stringify({ depends_on }) })).status
    for (let round = 0; round < rounds; round++) {
      const made = await Promise.all(
        circle.map(
          async title => [title, await fleet.mission(project, 'true', { title, auto_dispatch: false })] as const,
        ),
      )
      const ids = new Map(made.map(([title, { id }]) => [title, id]))
      const half = (from: string, to: string) => ({ mission_id: ids.get(from)!, depends_on: [ids.get(to)!] })
      for (const [from, to] of known) await fleet.call('update_mission', half(from!, to!))
      // Sometimes both go through the server, sometimes both run in this process, and sometimes one of each.
      const [first, last] = [round % 3 === 0 ? here : over, round % 3 === 2 ? over : here]
      const answers = await Promise.all([first(half('A', 'B')), last(half(second[0]!, second[1]!))])
      expect(answers.sort()).toEqual([200, 400])
    }
  },
)

test('dependents of kept work start from it, several merged, and land once that work was approved', async () => {
  const { fleet, repo, project } = await aScene()
  const a = await fleet.mission(project, 'echo a > a.txt', { ...titled('A'), landing: 'never' })
  const b = await fleet.mission(project, 'echo b > b.txt', { ...titled('B'), landing: 'never' })
  const c = await fleet.mission(project, 'cat a.txt b.txt > c.txt', titled('C', a, b))
  const waits = await fleet.until(c.id, 'review', 'done', 'failed')
  expect([(await fleet.show(a.id)).result, (await fleet.show(b.id)).result]).toEqual(['kept', 'kept'])
  expect(waits.status_reason?.code).toBe('unapproved')
  expect(await repo.filesOn('main')).toEqual(['README.md'])
  for (const { id } of [a, b]) await fleet.land(id)
  for (const { id } of [a, b]) await fleet.until(id, 'done', 'review')
  await fleet.land(c.id)
  const done = await fleet.until(c.id, 'done', 'review')
  expect(done.result).toBe('landed')
  expect(done.report?.files_changed).toEqual([{ path: 'c.txt', change: 'added' }])
  expect(await repo.readOn('main', 'c.txt')).toBe('a\nb')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'a.txt', 'b.txt', 'c.txt'])
})

test('kept work that cannot be merged is the reason the dependent does not start', async () => {
  const { fleet, project } = await aScene()
  const a = await fleet.mission(project, 'echo a > same.txt', { ...titled('A'), landing: 'never' })
  const b = await fleet.mission(project, 'echo b > same.txt', { ...titled('B'), landing: 'never' })
  const c = await fleet.mission(project, 'true', titled('C', a, b))
  const failed = await fleet.until(c.id, 'failed', 'done')
  expect(failed.status_reason).toMatchObject({ code: 'dispatch_failed', text: expect.stringContaining('same.txt') })
  expect(failed.sessions).toEqual([])
})

test('under review a dependent says whose review it waits for, or goes on from the branch', async () => {
  const { fleet, repo, project } = await aScene({ project: { landing: 'review' } })
  const a = await fleet.mission(project, 'echo a > a.txt', titled('A'))
  const waits = await fleet.mission(project, 'cat a.txt > b.txt', titled('B', a))
  const eager = await fleet.mission(project, 'cat a.txt > c.txt', { ...titled('C', a), start_from: 'branch' })
  await fleet.until(a.id, 'review')
  await fleet.until(eager.id, 'review', 'failed')
  expect(await fleet.show(waits.id)).toMatchObject({
    status: 'queued',
    waits_for: [{ kind: 'review', on: [a.id], text: `waiting for review of A (${a.id})` }],
  })
  expect((await fleet.show(eager.id)).report?.files_changed).toEqual([{ path: 'c.txt', change: 'added' }])
  expect(await repo.filesOn('main')).toEqual(['README.md'])

  await fleet.land(a.id)
  await fleet.until(waits.id, 'review')
  await fleet.land(eager.id)
  await fleet.land(waits.id)
  for (const { id } of [eager, waits]) expect((await fleet.until(id, 'done', 'review')).result).toBe('landed')
  expect(await repo.filesOn('main')).toEqual(['README.md', 'a.txt', 'b.txt', 'c.txt'])
})
