import { expect, test } from 'vitest'
import { readDaemon } from '../../../src/store/index.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { aTeam, type MailView } from '../../kit/team.ts'

interface Joined {
  member: string
  token: string
}

async function aCrew() {
  const s = await aScene()
  const crew = await aTeam(s, [])
  const join = (more: object = {}) =>
    s.fleet.call<Joined>('join_team', { team_id: crew.team.id, handle: 'zoe', ...more })
  /** Asks as the session that joined. */
  const as = (token: string) => async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${readDaemon(s.fleet.fleet.home.path)!.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
    })
    return { status: answer.status, body: (await answer.json()) as { messages?: MailView[] } }
  }
  return { ...s, crew, join, as }
}

test('a session of a person reads and answers mail, is never woken, and its token ends with its dismissal', async () => {
  const { fleet, crew, join, as } = await aCrew()
  const { token } = await join()
  const zoe = as(token)
  const waiting = zoe('POST', '/api/mail/read', { wait_seconds: 20 })
  const { id } = await crew.send('zoe', 'When is high tide?', { needs: 'reply' })
  expect((await waiting).body.messages).toMatchObject([{ id, body: 'When is high tide?' }])
  expect((await zoe('POST', `/api/mail/${id}/reply`, { body: 'At noon.' })).status).toBe(200)
  expect((await crew.mail(id)).deliveries[0]).toMatchObject({ state: 'replied', heard_by: 'tool' })

  const second = await crew.send('zoe', 'And low tide?', { wake: true })
  expect(second.deliveries[0]!.reason).toContain('cannot be woken')
  expect((await crew.member('zoe')).state).toBe('idle')

  // It speaks for that member, and for nobody else.
  expect((await zoe('POST', `/api/teams/${crew.team.id}/members`, { handle: 'eve' })).status).toBe(403)
  await fleet.call('dismiss_member', { team_id: crew.team.id, member: 'zoe' })
  await eventually('its token is refused', async () => (await zoe('POST', '/api/mail/read', {})).status === 401)
  await eventually('bounced', async () => (await crew.mail(second.id)).deliveries[0]!.state === 'bounced')
})

test('a token ends when its time is over or it leaves, and the member can join again', async () => {
  const { fleet, crew, join, as } = await aCrew()
  const short = await join({ hours: 0.01 })
  await expect(join()).rejects.toThrow(/has joined already/)
  await fleet.call('leave_team', { team_id: crew.team.id, member: 'zoe' })
  expect((await as(short.token)('POST', '/api/mail/read', {})).status).toBe(401)
  const again = await join()
  expect(again.member).toBe(short.member)
  expect((await as(again.token)('POST', '/api/mail/read', {})).status).toBe(200)
  await expect(fleet.call('capture_member', { team_id: crew.team.id, member: 'zoe' })).rejects.toThrow(/a person/)
})
