import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { all } from '../../../src/fleet/records.ts'
import { eventually, scaled } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { aTeam, type MailView } from '../../kit/team.ts'

const MEMBERS = 4
const LIMITS = { FLEET_MAIL_PER_MINUTE: '1000000', FLEET_WAKES_PER_HOUR: '1000000', FLEET_MAX_CONCURRENT: '6' }

/**
 * The next message is sent when the session that answered the last one is about to end. How long that takes is learned
 * on the way, so half of the messages come just before the end and half just after it.
 */
test(
  'a message sent in the very moment in which a member goes idle is acted on, each time',
  async () => {
    const rounds = scaled(80, 1000)
    const s = await aScene({ env: LIMITS })
    const handles = [...Array(MEMBERS).keys()].map(n => `m${n}`)
    const crew = await aTeam(s, handles)
    const { store } = s.fleet.fleet
    const isAtWork = async (memberId: string): Promise<boolean> => {
      const session = (await store.get('members', memberId))?.value.session_id
      return session ? (await store.get('sessions', session))?.value.status !== 'ended' : false
    }
    const came = { atWork: 0, idle: 0 }
    const ids: string[] = []
    const talk = async (handle: string) => {
      const { id: memberId } = await crew.member(handle)
      let wait = 20
      for (let n = 0; n < rounds / MEMBERS; n++) {
        const body = JSON.stringify({ team_id: crew.team.id, to: handle, body: `${n}`, needs: 'reply' })
        const answer = await s.fleet.http('/api/mail', { method: 'POST', body })
        const { id } = (await answer.json()) as MailView
        ids.push(id)
        await eventually(
          `${handle} to act on message ${n}`,
          async () => (await crew.mail(id)).deliveries[0]!.state === 'replied',
          async () => JSON.stringify([await crew.member(handle), await crew.mail(id)]),
        )
        await pause(wait)
        const atWork = await isAtWork(memberId)
        came[atWork ? 'atWork' : 'idle']++
        wait = atWork ? wait * 1.3 + 1 : wait / 1.3
      }
    }
    await Promise.all(handles.map(talk))
    const replies = new Map<string, number>()
    for await (const { value } of all(s.fleet.fleet, 'mail', 'id'))
      if (value.reply_to) replies.set(value.reply_to, (replies.get(value.reply_to) ?? 0) + 1)
    expect(ids.map(id => replies.get(id))).toEqual(Array(rounds).fill(1))
    expect(Math.min(came.atWork, came.idle), JSON.stringify(came)).toBeGreaterThan(rounds / 10)
    console.log(`${rounds} messages: ${came.atWork} while it was at work, ${came.idle} when it had just gone idle`)
  },
  scaled(240_000, 3_600_000),
)
