import { expect, test } from 'vitest'
import { twoTeams } from './teams.testkit.ts'

const STANDS = { goal: 'Paint the pier', now: 'Primed.' }
interface Shown {
  id: string
  state: string
}

test('a checkpoint is decided once, by its addressee', async () => {
  const { ask, owner, one, two } = await twoTeams()
  const { id } = await ask<Shown>(one.lea, 'checkpoint_create', { ...STANDS, to_handle: 'bob' })
  const decide = { checkpoint_id: id, outcome: 'x' }
  for (const who of [one.lea, owner])
    for (const name of ['checkpoint_accept', 'checkpoint_reject'])
      await expect(ask(who, name, decide)).rejects.toThrow(/addressed to bob/)
  for (const name of ['checkpoint_accept', 'checkpoint_reject', 'get_checkpoint', 'checkpoint_load'])
    await expect(
      ask(two.bob, name, name === 'get_checkpoint' || name === 'checkpoint_load' ? { checkpoint_id: id } : decide),
      name,
    ).rejects.toThrow(/There is no checkpoint/)
  const acts = [...Array(50).keys()].map(n =>
    ask<Shown>(one.bob, n % 2 ? 'checkpoint_accept' : 'checkpoint_reject', { checkpoint_id: id, outcome: `${n}` }),
  )
  const results = await Promise.allSettled(acts)
  const won = results.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []))
  expect(won).toHaveLength(1)
  expect(await ask(one.bob, 'get_checkpoint', { checkpoint_id: id })).toEqual(won[0])
  const lost = results.flatMap(each => (each.status === 'rejected' ? [String(each.reason.message)] : []))
  expect(new Set(lost)).toEqual(new Set([`This checkpoint is ${won[0]!.state} already.`]))
  // Lea is told once.
  const { messages } = await ask<{ messages: { body: string }[] }>(one.lea, 'read_mail')
  expect(messages).toMatchObject([{ body: expect.stringMatching(new RegExp(`^bob ${won[0]!.state} checkpoint`)) }])
})

test('a checkpoint is addressed to its author unless somebody is named, and is listed per addressee and state', async () => {
  const { ask, owner, one } = await twoTeams()
  const own = await ask<Shown>(one.bob, 'checkpoint_create', STANDS)
  const other = await ask<Shown>(one.bob, 'checkpoint_create', { ...STANDS, to_handle: 'operator' })
  expect(own).toMatchObject({ from: { handle: 'bob' }, to: { handle: 'bob' }, state: 'open' })
  await ask(owner, 'checkpoint_accept', { checkpoint_id: other.id })
  const list = async (input: object) =>
    (await ask<{ checkpoints: Shown[] }>(one.lea, 'checkpoint_list', input)).checkpoints.map(({ id }) => id)
  expect(await list({})).toEqual([other.id, own.id])
  expect(await list({ state: 'open' })).toEqual([own.id])
  expect(await list({ to_handle: 'operator' })).toEqual([other.id])
  expect(await list({ to_handle: 'operator', state: 'rejected' })).toEqual([])
  await expect(ask(one.bob, 'checkpoint_create', { ...STANDS, to_handle: 'nobody' })).rejects.toThrow(/no member/)
  await expect(ask(one.bob, 'checkpoint_create', { ...STANDS, from_handle: 'lea' })).rejects.toThrow(/not a field/)
})

test('an agent loads for itself; a lead or a person loads for others', async () => {
  const { ask, owner, one, fleet } = await twoTeams()
  await expect(ask(one.bob, 'checkpoint_load')).rejects.toThrow(/no checkpoint for "bob"/)
  const { id } = await ask<Shown>(one.lea, 'checkpoint_create', { ...STANDS, to_handle: 'bob' })
  const loading = async () => {
    const { loading } = (await fleet.store.get('checkpoints', id))!.value
    return loading && (await fleet.store.get('members', loading.member_id))!.value.handle
  }
  await ask(one.bob, 'checkpoint_load')
  expect(await loading()).toBe('bob')
  await expect(ask(one.bob, 'checkpoint_load', { checkpoint_id: id, member: 'lea' })).rejects.toThrow(/only for itself/)
  await ask(one.lea, 'checkpoint_load', { checkpoint_id: id })
  expect(await loading()).toBe('lea')
  await ask(owner, 'checkpoint_load', { checkpoint_id: id })
  expect(await loading()).toBe('bob')
  await expect(ask(owner, 'checkpoint_load', { checkpoint_id: id, member: 'operator' })).rejects.toThrow(/is a person/)
})
