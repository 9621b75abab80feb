import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Reservation } from '../domain/records/reservation.ts'
import { NOW } from '../domain/samples.testkit.ts'
import { eventsOf } from '../fleet/records.testkit.ts'
import { current } from '../fleet/records.ts'
import { Reservations } from '../fleet/teamwork/reservations-reactor.ts'
import { aMember, twoTeams } from './teams.testkit.ts'

interface Reserved {
  file: string
  handle: string
  until: string
  overlaps: { handle: string; file: string }[]
}
interface Listed {
  reservations: Reserved[]
}

test('fifty overlapping claims at once each get a clear answer, and every pair is known to at least one', async () => {
  const { ask, owner, save, one } = await twoTeams()
  await ask(owner, 'change_team', { team_id: one.id, max_members: 60 })
  const crowd = []
  for (let n = 0; n < 50; n++) crowd.push(await aMember({ ask, owner, save }, one, 'p1', `m${n}`))
  const answers = await Promise.all(
    crowd.map((who, n) => ask<Reserved>(who, 'team_claim', { file: n % 2 ? 'src/**/*.ts' : 'src/parser' })),
  )
  const told = new Set(
    answers.flatMap(({ handle, overlaps }) => overlaps.map(other => [handle, other.handle].sort().join())),
  )
  expect(told.size).toBe((50 * 49) / 2)
  const { reservations } = await ask<Listed>(one.lea, 'team_reservations', {})
  expect(reservations.map(({ overlaps }) => overlaps.length)).toEqual(Array(50).fill(49))
  // The same again is the same reservation.
  await ask(crowd[0]!, 'team_claim', { file: './src/parser' })
  expect((await ask<Listed>(one.lea, 'team_reservations', {})).reservations).toHaveLength(50)
}, 30_000)

test('members reserve in their own team only, so many at most, and release their own', async () => {
  const { ask, owner, one, two } = await twoTeams()
  await ask(two.bob, 'team_claim', { file: 'src' })
  const mine = await ask<Reserved>(one.bob, 'team_claim', { file: 'src/', reason: 'a new parser' })
  expect(mine).toMatchObject({ file: 'src/', handle: 'bob', until: 'session', overlaps: [] })
  await expect(ask(one.bob, 'team_claim', { team_id: two.id, file: 'src' })).rejects.toThrow(/of no other/)
  await expect(ask(one.bob, 'team_claim', { file: '/etc/passwd' })).rejects.toThrow(/outside the project/)
  await expect(ask(one.bob, 'team_claim', { file: 'a\nb' })).rejects.toThrow(/control characters/)
  const theirs = await ask<Reserved>(one.lea, 'team_claim', { file: 'src/a.ts' })
  expect(theirs.overlaps).toMatchObject([{ handle: 'bob', file: 'src/', reason: 'a new parser' }])
  await expect(ask(one.bob, 'team_release', { handle: 'lea' })).rejects.toThrow(/only what it reserved itself/)
  expect(await ask(one.lea, 'team_release', { handle: 'bob', file: 'src/' })).toEqual({ released: ['src/'] })
  expect(await ask(one.bob, 'team_release', {})).toEqual({ released: [] })
  const list = async (input: object) =>
    (await ask<Listed>(owner, 'team_reservations', { team_id: one.id, ...input })).reservations.map(({ file }) => file)
  expect(await list({ file: 'src' })).toEqual(['src/a.ts'])
  expect(await list({ file: 'docs' })).toEqual([])
  expect(await list({ mine: true })).toEqual([])
  for (let n = 0; n < 20; n++) await ask(one.bob, 'team_claim', { file: `f${n}.ts` })
  await expect(ask(one.bob, 'team_claim', { file: 'f20.ts' })).rejects.toThrow(/20 reservations already/)
})

test('a reservation ends with its session, and its holder is told; one of a person stays', async () => {
  const { ask, owner, fleet, change, one } = await twoTeams()
  await ask(one.bob, 'team_claim', { file: 'src/a.ts' })
  await ask(one.bob, 'team_claim', { file: 'src/b.ts' })
  expect(await ask(owner, 'team_claim', { team_id: one.id, file: 'docs' })).toMatchObject({ until: 'released' })
  const reactor = new Reservations(fleet)
  const lookAtAll = async () => {
    for await (const ref of reactor.unfinished()) await reactor.look(ref)
  }
  await lookAtAll()
  const files = async () =>
    (await ask<Listed>(owner, 'team_reservations', { team_id: one.id })).reservations.map(({ file }) => file)
  expect(await files()).toEqual(['docs', 'src/a.ts', 'src/b.ts'])
  await change('sessions', (one.bob as { session_id: string }).session_id, { status: 'ended' })
  await lookAtAll()
  await lookAtAll()
  expect(await files()).toEqual(['docs'])
  const ended = (await eventsOf(fleet)).filter(({ kind }) => kind === 'reservation_ended')
  expect(ended.map(({ data }) => data.files)).toEqual([['src/a.ts', 'src/b.ts']])
  const { messages } = await ask<{ messages: { body: string; deliveries: { to: string }[] }[] }>(owner, 'list_mail', {
    team_id: one.id,
  })
  expect(messages).toMatchObject([
    { body: expect.stringContaining('src/b.ts: the session that made it is over'), deliveries: [{ to: 'bob' }] },
  ])
})

test('whoever is at work and takes messages is told of an overlap, once until they have read it', async () => {
  const { ask, owner, change, fleet, one } = await twoTeams()
  const { session_id } = one.lea as { session_id: string }
  const { roster } = (await current(fleet, 'teams', one.id)).value
  await change('members', roster.find(({ handle }) => handle === 'lea')!.member_id, { session_id })
  await change('sessions', session_id, { agent: 'claude' })
  await ask(one.lea, 'team_claim', { file: 'src' })
  await ask(one.bob, 'team_claim', { file: 'src/a.ts', reason: 'a fix' })
  await ask(one.bob, 'team_claim', { file: 'src/b.ts' })
  await ask(one.bob, 'team_claim', { file: 'docs' })
  const mail = async () =>
    (await ask<{ messages: { body: string; deliveries: object[] }[] }>(owner, 'list_mail', { team_id: one.id }))
      .messages
  expect(await mail()).toMatchObject([
    {
      body: expect.stringMatching(/^bob is about to change src\/a\.ts and says "a fix"\. You reserved src\./),
      deliveries: [{ to: 'lea', state: 'queued' }],
    },
  ])
  await ask(one.lea, 'read_mail')
  await ask(one.bob, 'team_claim', { file: 'src/c.ts' })
  expect(await mail()).toHaveLength(2)
})

test('a reservation of a task ends with the task, and one of a member that leaves with the member', async () => {
  const { ask, owner, fleet, save, change, one, mission } = await twoTeams()
  const { id: _, ...bob } = one.bob as unknown as { id: string; session_id: string; mission_id: string }
  await save('missions', { ...(await mission(bob.mission_id)), id: 'task' })
  await change('sessions', bob.session_id, { mission_id: 'task' })
  expect(await ask(one.bob, 'team_claim', { file: 'src' })).toMatchObject({ until: 'task' })
  await ask(one.lea, 'team_claim', { file: 'docs' })
  const reactor = new Reservations(fleet)
  const left = async () => {
    for await (const ref of reactor.unfinished()) await reactor.look(ref)
    const { reservations } = await ask<Listed>(owner, 'team_reservations', { team_id: one.id })
    return reservations.map(({ handle }) => handle)
  }
  await change('sessions', bob.session_id, { status: 'ended' })
  expect(await left()).toEqual(['lea', 'bob'])
  await change('missions', 'task', { status: 'done' })
  expect(await left()).toEqual(['lea'])
  await ask(owner, 'dismiss_member', { team_id: one.id, member: 'lea' })
  expect(await left()).toEqual([])
  expect((await current(fleet, 'teams', one.id)).value.roster.map(({ handle }) => handle)).toEqual(['operator', 'bob'])
})

test('others are served while patterns that were made to be slow are compared', async () => {
  const { ask, save, owner, one } = await twoTeams()
  const slow = (n: number) => `${'*a'.repeat(80)}${n}`
  const of = { team_id: one.id, project_id: 'p1', created_at: NOW }
  const holder = (n: number) => ({ member_id: `m${n % 10}`, handle: `m${n % 10}`, role: 'worker' })
  const all = [...Array(200).keys()].map(n =>
    Reservation.parse({ ...of, id: `r${n}`, file: slow(n), holder: holder(n) }),
  )
  for (const each of all) await save('reservations', each)
  let served = 0
  let isOver = false
  const others = (async () => {
    for (; !isOver; served++) await nextTurn()
  })()
  await ask(owner, 'team_reservations', { team_id: one.id, file: slow(0) })
  isOver = true
  await others
  expect(served).toBeGreaterThanOrEqual(8)
})
