import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { all } from '../../../src/fleet/records.ts'
import { eventually, scaled } from '../../kit/fleet.ts'
import { randomFrom } from '../../kit/random.ts'
import { aScene } from '../../kit/scene.ts'
import { aTeam } from '../../kit/team.ts'

const SEED = 20_261

/**
 * Every message is numbered, and each recipient writes down what it was told. Where a member has answered by the time
 * of its next message, that one goes on in the same thread. A reply is written by the recipient itself, so what was
 * acted on twice would have two replies.
 */
test(
  'messages while servers are killed: none lost, none acted on twice, in order within a thread',
  async () => {
    const members = scaled(20, 50)
    const messages = scaled(2_000, 100_000)
    const kills = scaled(10, 500)
    const limits = { FLEET_MAIL_PER_MINUTE: '1000000', FLEET_WAKES_PER_HOUR: '1000000', FLEET_MAX_CONCURRENT: '6' }
    const s = await aScene({ env: { ...limits, FLEET_REPLY_WITHIN: '86400' } })
    const handles = [...Array(members).keys()].map(n => `m${n}`)
    const crew = await aTeam(s, handles, { max_members: members })
    const random = randomFrom(SEED)

    const memberIds = new Map((await crew.show()).members.map(({ handle, id }) => [handle, id]))
    const answered = new Set<string>()
    /** The newest answer of a member, unless the thread went on from it before. */
    const toGoOnFrom = async (handle: string): Promise<string | undefined> => {
      const equals = [memberIds.get(handle)!, memberIds.get('operator')!]
      const query = { index: 'pair', equals, newestFirst: true, limit: 1 }
      const newest = (await s.fleet.fleet.store.find('deliveries', query)).items[0]?.value.mail_id
      if (newest === undefined || answered.has(newest)) return undefined
      answered.add(newest)
      return newest
    }

    const ids: string[] = []
    const sent = (async () => {
      for (let n = 0; n < messages; n++) {
        const key = `k${n}`
        const to = handles[n % members]!
        const newest = await toGoOnFrom(to)
        const path = newest ? `/api/mail/${newest}/reply` : '/api/mail'
        const letter = { body: `${n}`, needs: 'reply' }
        const body = JSON.stringify(newest ? letter : { ...letter, team_id: crew.team.id, to })
        // A request that a kill cut off is sent again with the same key.
        for (;;) {
          const answer = await s.fleet
            .http(path, { method: 'POST', headers: { 'idempotency-key': key }, body })
            .catch(() => undefined)
          if (answer?.status === 200) {
            ids.push(((await answer.json()) as { id: string }).id)
            break
          }
          await pause(20)
        }
      }
    })()
    for (let n = 0; n < kills; n++) {
      await pause(100 + random() * 900)
      await s.fleet.kill()
      await s.fleet.start()
    }
    await sent
    const states = async () => {
      const found: Record<string, number> = {}
      for await (const { value } of all(s.fleet.fleet, 'deliveries', 'id'))
        if (value.needs === 'reply') found[value.state] = (found[value.state] ?? 0) + 1
      return found
    }
    await eventually(
      'every message is answered',
      async () => (await states()).replied === messages,
      async () => JSON.stringify(await states()),
      scaled(900_000, 7_200_000),
    )
    expect(new Set(ids).size).toBe(messages)
    // The replies are what was acted on.
    const own = new Set(ids)
    const replies = new Map<string, number>()
    for await (const { value } of all(s.fleet.fleet, 'mail', 'id'))
      if (value.reply_to && own.has(value.reply_to)) replies.set(value.reply_to, (replies.get(value.reply_to) ?? 0) + 1)
    expect([...replies.values()].filter(count => count !== 1)).toEqual([])
    expect(replies.size).toBe(messages)
    // What each was told the first time is in the order in which it was sent, so it is within each thread.
    const told = crew.told()
    for (const handle of handles) {
      const its = new Set(ids.filter((_, n) => handles[n % members] === handle))
      const first = [...new Set(told.filter(({ id }) => its.has(id)).map(({ body }) => Number(body)))]
      expect(first).toEqual(first.toSorted((one, other) => one - other))
    }
    const threads = Map.groupBy(new Map(told.map(each => [each.id, each])).values(), ({ thread }) => thread)
    expect([...threads.values()].filter(({ length }) => length > 1).length).toBeGreaterThan(members)
    console.log(`${messages} messages, ${members} members, ${kills} kills: lost 0, acted on twice 0`)
  },
  scaled(1_200_000, 10_800_000),
)
