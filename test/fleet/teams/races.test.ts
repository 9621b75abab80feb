import { expect, test } from 'vitest'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { aTeam, type MailView } from '../../kit/team.ts'

const OWNER = undefined

/** Hundreds of requests on a machine that does other things, too. */
const BUSY = { timeout: 240_000 }

interface Refusal {
  error: { message: string; facts?: Record<string, unknown> }
}

/** A team on a running server, and everybody over HTTP. */
async function aCrew(settings: object = {}) {
  const s = await aScene()
  const crew = await aTeam(s, [], settings)
  const post = async <T>(token: string | undefined, path: string, body: object = {}) => {
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
    const answer = await s.fleet.http(path, { method: 'POST', body: JSON.stringify(body), headers })
    return { status: answer.status, body: (await answer.json()) as T & Refusal }
  }
  /** A member that nobody wakes: nothing is handed to it before it acts. */
  const joined = async (handle: string): Promise<string> => {
    const { body } = await post<{ token: string }>(OWNER, `/api/teams/${crew.team.id}/join`, { handle })
    return body.token
  }
  return { ...s, crew, post, joined }
}

test('20 at once with room for 5, five of them with one name: five members, one per name', async () => {
  const { crew, post } = await aCrew({ max_members: 5 })
  const wanted = [...Array(5).fill('same'), ...[...Array(15).keys()].map(n => `m${n}`)]
  const answers = await Promise.all(
    wanted.map(handle =>
      post(OWNER, `/api/teams/${crew.team.id}/members`, { handle, agent: 'shell', charter: crew.script }),
    ),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
  const refused = answers.filter(({ status }) => status !== 200)
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([409]))
  for (const { body } of refused)
    expect(body.error.message).toMatch(/is full: it may have 5 agents|already has a member called same/)
  const { members } = await crew.show()
  expect(members.filter(({ mission_id }) => mission_id)).toHaveLength(5)
  expect(new Set(members.map(({ handle }) => handle)).size).toBe(6)
})

test(
  '200 times acknowledging and cancelling at once: exactly one wins, and the other is told what is',
  BUSY,
  async () => {
    const { crew, post, joined } = await aCrew()
    const zoe = await joined('zoe')
    const won: Record<string, number> = {}
    for (let n = 0; n < 200; n++) {
      const { id } = await crew.send('zoe', `${n}`, { needs: 'ack' })
      const ack = () => post(zoe, `/api/mail/${id}/ack`)
      // Whoever is asked first often wins, so they take turns.
      const first = n % 2 ? ack() : undefined
      const taking = post<{ cancelled: unknown[]; kept: unknown[] }>(OWNER, `/api/mail/${id}/cancel`)
      const [acked, taken] = await Promise.all([first ?? ack(), taking])
      const { state } = (await crew.mail(id)).deliveries[0]!
      if (state === 'acked') {
        expect([acked.status, taken.status, taken.body.cancelled.length]).toEqual([200, 200, 0])
        expect(taken.body.kept).toMatchObject([{ state: 'acked' }])
      } else {
        expect([state, acked.status, taken.body.cancelled.length]).toEqual(['cancelled', 409, 1])
        expect(acked.body.error.message).toBe('This message is cancelled already.')
      }
      won[state] = (won[state] ?? 0) + 1
    }
    expect(Object.keys(won).toSorted()).toEqual(['acked', 'cancelled'])
  },
)

test('50 claim one task at once: one has it, and the others are told who', BUSY, async () => {
  const { crew, post, joined } = await aCrew({ max_members: 60 })
  const tokens = new Map<string, string>()
  for (let n = 0; n < 50; n++) tokens.set(`m${n}`, await joined(`m${n}`))
  const task = await post<{ id: string }>(OWNER, '/api/team-tasks', { team_id: crew.team.id, title: 'Paint the pier' })
  const { id } = task.body
  const answers = await Promise.all(
    [...tokens].map(async ([handle, token]) => ({ handle, ...(await post(token, `/api/team-tasks/${id}/take`)) })),
  )
  const winners = answers.filter(({ status }) => status === 200)
  expect(winners).toHaveLength(1)
  const { handle } = winners[0]!
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused.map(({ status, body }) => [status, body.error.message])).toEqual(
    Array(49).fill([409, `${handle} has the task ${id} already.`]),
  )
})

test('of 20 replies to one message at once, one counts', async () => {
  const { crew, post, joined } = await aCrew()
  const zoe = await joined('zoe')
  const { id } = await crew.send('zoe', 'Which pier is free?', { needs: 'reply' })
  const answers = await Promise.all(
    [...Array(20).keys()].map(n => post<MailView>(zoe, `/api/mail/${id}/reply`, { body: `${n}` })),
  )
  const [counts, ...more] = answers.filter(({ status }) => status === 200)
  expect(more).toEqual([])
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused.map(({ body }) => body.error.message)).toEqual(Array(19).fill('This message is replied already.'))
  const { body } = await post<{ messages: MailView[] }>(OWNER, '/api/mail/read', {})
  expect(body.messages.map(each => each.id)).toEqual([counts!.body.id])
})

test('the same key sends one message, and not another one', async () => {
  const s = await aScene()
  const crew = await aTeam(s, ['ada'])
  const send = (body: string) =>
    s.fleet.http('/api/mail', {
      method: 'POST',
      headers: { 'idempotency-key': 'k1' },
      body: JSON.stringify({ team_id: crew.team.id, to: 'ada', body, needs: 'reply' }),
    })
  const answers = await Promise.all(
    [...Array(10).keys()].map(async () => (await (await send('Once.')).json()) as MailView),
  )
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
  expect((await send('Other.')).status).toBe(409)
  await eventually('told', () => crew.told().length === 1)
})
