import { expect, test } from 'vitest'
import type { Caller } from './operation.ts'
import { aMember, twoTeams } from './teams.testkit.ts'

interface Board {
  posts: { id: string; payload: unknown; read: boolean; from: { handle: string }; target: { handle: string } | null }[]
  cursor?: string
}
const payloads = ({ posts }: Board) => posts.map(({ payload }) => payload)

test('every member posts and reads in its own team, under its own name', async () => {
  const { ask, owner, one, two } = await twoTeams()
  await ask(one.bob, 'blackboard_post', { message_type: 'status', payload: 'Tide is low.' })
  await ask(one.lea, 'blackboard_post', { message_type: 'directive', payload: { do: ['wait'] }, target_handle: 'bob' })
  await ask(owner, 'blackboard_post', { team_id: two.id, message_type: 'status', payload: 'secret' })
  const board = await ask<Board>(one.bob, 'blackboard_read')
  expect(board.posts).toMatchObject([
    { payload: { do: ['wait'] }, from: { handle: 'lea', role: 'team-lead' }, target: { handle: 'bob' }, read: false },
    { payload: 'Tide is low.', from: { handle: 'bob', role: 'worker' }, target: null, read: true },
  ])
  // No field says who asks, and no other team exists.
  for (const field of ['sender_handle', 'from', 'reader_handle'])
    await expect(
      ask(one.bob, 'blackboard_post', { message_type: 'status', payload: 'x', [field]: 'lea' }),
    ).rejects.toThrow()
  await expect(ask(one.bob, 'blackboard_read', { team_id: two.id })).rejects.toThrow(/and of no other/)
  const [foreign] = (await ask<Board>(two.bob, 'blackboard_read')).posts
  for (const name of ['blackboard_mark_read', 'blackboard_archive'])
    await expect(ask(one.lea, name, { post_ids: [foreign!.id] }), name).rejects.toThrow(/There is no post/)
  await expect(
    ask(one.bob, 'blackboard_post', { message_type: 'status', payload: 'x', target_handle: 'nobody' }),
  ).rejects.toThrow(/no member "nobody"/)
})

test('read is said per reader, and filters keep the order and the pages', async () => {
  const { ask, one } = await twoTeams()
  for (let n = 0; n < 12; n++)
    await ask(one.lea, 'blackboard_post', {
      ...{ message_type: n % 2 ? 'status' : 'request', payload: `${n}` },
      ...{ priority: n === 3 ? 'critical' : 'normal', ...(n % 3 === 0 && { target_handle: 'bob' }) },
    })
  const read = (input: object = {}) => ask<Board>(one.bob, 'blackboard_read', input)
  expect(payloads(await read({ for_me: true }))).toEqual(['9', '6', '3', '0'])
  expect(payloads(await read({ priority: 'critical' }))).toEqual(['3'])
  const seen: unknown[] = []
  let cursor: string | undefined
  do {
    const page = await read({ message_type: 'status', limit: 2, cursor })
    seen.push(...payloads(page))
    cursor = page.cursor
  } while (cursor)
  expect(seen).toEqual(['11', '9', '7', '5', '3', '1'])
  const { posts } = await read()
  const some = posts.slice(0, 5).map(({ id }) => id)
  expect(await ask(one.bob, 'blackboard_mark_read', { post_ids: some })).toEqual({ marked: 5 })
  expect(await ask(one.bob, 'blackboard_mark_read', { post_ids: some })).toEqual({ marked: 0 })
  expect((await read({ unread_only: true })).posts).toHaveLength(7)
  expect((await ask<Board>(one.lea, 'blackboard_read', { unread_only: true })).posts).toEqual([])
})

test('many readers at once all count', async () => {
  const { ask, one, owner, save } = await twoTeams()
  const { id } = await ask<{ id: string }>(one.lea, 'blackboard_post', { message_type: 'status', payload: 'x' })
  const crowd = await Promise.all([...Array(8).keys()].map(n => aMember({ ask, owner, save }, one, 'p1', `m${n}`)))
  const marks = await Promise.all(
    crowd.map(caller => ask<{ marked: number }>(caller, 'blackboard_mark_read', { post_ids: [id] })),
  )
  expect(marks.map(({ marked }) => marked)).toEqual(Array(8).fill(1))
  for (const caller of crowd)
    expect((await ask<Board>(caller, 'blackboard_read', { unread_only: true })).posts).toEqual([])
})

test('whoever wrote a post archives it, and those who steer archive any, one by one or by age', async () => {
  const { ask, owner, one } = await twoTeams()
  const post = (who: Caller, payload: string) =>
    ask<{ id: string }>(who, 'blackboard_post', { team_id: one.id, message_type: 'status', payload })
  const ofLea = await post(one.lea, 'lea')
  const ofBob = await post(one.bob, 'bob')
  await expect(ask(one.bob, 'blackboard_archive', { post_ids: [ofLea.id] })).rejects.toThrow(/lea wrote this post/)
  await expect(ask(one.bob, 'blackboard_archive', { older_than_hours: 0 })).rejects.toThrow(/only posts of its own/)
  await expect(ask(one.bob, 'blackboard_archive', {})).rejects.toThrow(/only one of them/)
  expect(await ask(one.bob, 'blackboard_archive', { post_ids: [ofBob.id] })).toEqual({ archived: 1 })
  expect(payloads(await ask<Board>(one.bob, 'blackboard_read'))).toEqual(['lea'])
  expect(await ask(one.lea, 'blackboard_archive', { older_than_hours: 1 })).toEqual({ archived: 0 })
  expect(await ask(owner, 'blackboard_archive', { team_id: one.id, older_than_hours: 0 })).toEqual({ archived: 1 })
  expect(payloads(await ask<Board>(one.bob, 'blackboard_read'))).toEqual([])
  expect(payloads(await ask<Board>(one.bob, 'blackboard_read', { archived: true }))).toEqual(['bob', 'lea'])
})

test('a swarm has a board of its own', async () => {
  const { ask, one } = await twoTeams()
  await ask(one.lea, 'swarm_create', { name: 'divers' })
  await expect(ask(one.bob, 'swarm_create', { name: 'mine' })).rejects.toThrow(/does not lead the team/)
  await expect(ask(one.bob, 'swarm_kill', { swarm_id: 'divers' })).rejects.toThrow(/does not lead the team/)
  await ask(one.bob, 'blackboard_post', { swarm_id: 'divers', message_type: 'status', payload: 'deep' })
  await ask(one.bob, 'blackboard_post', { message_type: 'status', payload: 'wide' })
  expect(payloads(await ask<Board>(one.lea, 'blackboard_read', { swarm_id: 'divers' }))).toEqual(['deep'])
  expect(payloads(await ask<Board>(one.lea, 'blackboard_read'))).toEqual(['wide'])
})

test('people read with teams.read, and write with mail.send', async () => {
  const { ask, one, two } = await twoTeams()
  const person = (role: 'worker' | 'monitor') =>
    ({ kind: 'person', id: role, name: role, grants: [{ role, project_id: 'p1' }], limit: null }) as const
  await ask(one.bob, 'blackboard_post', { message_type: 'status', payload: 'x' })
  expect((await ask<Board>(person('monitor'), 'blackboard_read', { team_id: one.id })).posts).toHaveLength(1)
  const post = { team_id: one.id, message_type: 'status', payload: 'y' }
  await expect(ask(person('monitor'), 'blackboard_post', post)).rejects.toThrow(/mail.send/)
  expect(await ask(person('worker'), 'blackboard_post', post)).toMatchObject({ from: { role: 'a person' } })
  await expect(ask(person('worker'), 'blackboard_archive', { team_id: one.id, older_than_hours: 0 })).rejects.toThrow(
    /only posts of its own/,
  )
  await expect(ask(person('worker'), 'blackboard_read', { team_id: two.id })).rejects.toThrow(/There is no team/)
})

test('a payload that is too long is refused, and hostile text stays text', async () => {
  const { ask, one } = await twoTeams()
  const long = { message_type: 'status', payload: { text: 'x'.repeat(100_001) } }
  await expect(ask(one.bob, 'blackboard_post', long)).rejects.toThrow(/more than 100000 characters/)
  const hostile = '\u001b[2J</script><img onerror=1>\u2028"'
  await ask(one.bob, 'blackboard_post', { message_type: 'status', payload: hostile })
  expect(payloads(await ask<Board>(one.bob, 'blackboard_read'))).toEqual([hostile])
})
