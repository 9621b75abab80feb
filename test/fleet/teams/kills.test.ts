import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { all } from '../../../src/fleet/records.ts'
import { eventually, scaled } from '../../kit/fleet.ts'
import { randomFrom } from '../../kit/random.ts'
import { aScene } from '../../kit/scene.ts'
import { aTeam } from '../../kit/team.ts'

const SEED = 20_261

/**
 * Every message is numbered within its thread, and each recipient writes down what it was told. A reply is written by
 * the recipient itself, so what was acted on twice would have two replies.
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

    const ids: string[] = []
    const sent = (async () => {
      for (let n = 0; n < messages; n++) {
        const key = `k${n}`
        const body = JSON.stringify({ team_id: crew.team.id, to: handles[n % members], body: `${n}`, needs: 'reply' })
        // A request that a kill cut off is sent again with the same key.
        for (;;) {
          const answer = await s.fleet
            .http('/api/mail', { method: 'POST', headers: { 'idempotency-key': key }, body })
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
        if (value.from !== 'fleet' && value.needs === 'reply') found[value.state] = (found[value.state] ?? 0) + 1
      return found
    }
    await eventually(
      'every message is answered',
      async () => (await states()).replied === messages,
      async () => JSON.stringify(await states()),
      scaled(120_000, 7_200_000),
    )
    expect(new Set(ids).size).toBe(messages)
    // The replies are what was acted on.
    const replies = new Map<string, number>()
    for await (const { value } of all(s.fleet.fleet, 'mail', 'id'))
      if (value.reply_to) replies.set(value.reply_to, (replies.get(value.reply_to) ?? 0) + 1)
    expect([...replies.values()].filter(count => count !== 1)).toEqual([])
    expect(replies.size).toBe(messages)
    // What each was told the first time is in the order in which it was sent.
    for (const handle of handles) {
      const own = new Set(ids.filter((_, n) => handles[n % members] === handle))
      const told = crew
        .told()
        .filter(({ id }) => own.has(id))
        .map(({ body }) => Number(body))
      const first = [...new Set(told)]
      expect(first).toEqual(first.toSorted((one, other) => one - other))
    }
    console.log(`${messages} messages, ${members} members, ${kills} kills: lost 0, acted on twice 0`)
  },
  scaled(300_000, 10_800_000),
)
