import { expect, test } from 'vitest'
import { eventually, scaled } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { aTeam, type MailView } from '../../kit/team.ts'

const settled = async <T>(work: Promise<T>[]) => {
  const results = await Promise.allSettled(work)
  return {
    done: results.flatMap(each => (each.status === 'fulfilled' ? [each.value] : [])),
    refused: results.flatMap(each => (each.status === 'rejected' ? [String(each.reason.message)] : [])),
  }
}

test('20 at once with room for 5, five of them with one name: five members, one per name', async () => {
  const s = await aScene()
  const crew = await aTeam(s, [], { max_members: 5 })
  const handles = [...Array(15).keys()].map(n => `m${n}`)
  const wanted = [...Array(5).fill('same'), ...handles]
  const { done, refused } = await settled(wanted.map(handle => crew.add(handle)))
  expect(done).toHaveLength(5)
  expect(refused.every(why => /is full: it may have 5 agents|already has a member called same/.test(why))).toBe(true)
  const { members } = await crew.show()
  expect(members.filter(({ mission_id }) => mission_id)).toHaveLength(5)
  expect(new Set(members.map(({ handle }) => handle)).size).toBe(6)
})

test('acknowledging and cancelling at once: exactly one wins, and the other is told what is', async () => {
  const s = await aScene({ start: false })
  const crew = await aTeam(s, [])
  const { id: service } = await s.fleet.call<{ id: string }>('add_service', {
    ...{ name: 'bot', grants: [{ role: 'coordinator', project_id: s.project.id }] },
  })
  // Both are people, so nobody hands the messages over before they act.
  const operation = async (name: string, input: object) => {
    const { operationNamed } = await import('../../../src/operations/index.ts')
    const found = operationNamed(name)!
    if (found.kind === 'stream') throw new Error(name)
    const grants = [{ role: 'coordinator' as const, project_id: s.project.id }]
    const caller = { kind: 'service' as const, id: service, name: 'bot', grants, limit: null }
    return found.run({ fleet: s.fleet.fleet, caller, signal: new AbortController().signal }, found.input.parse(input))
  }
  await operation('send_mail', { team_id: crew.team.id, to: 'operator', body: 'I am here.' })
  const pairs = scaled(50, 200)
  const outcomes: string[] = []
  for (let n = 0; n < pairs; n++) {
    const { id } = await crew.send('bot', `${n}`, { needs: 'ack' })
    const acts = [operation('ack_mail', { mail_id: id }), s.fleet.call('cancel_mail', { mail_id: id })]
    const [acked, cancelled] = await Promise.allSettled(n % 2 ? acts : acts.reverse())
    const [ack, cancel] = n % 2 ? [acked, cancelled] : [cancelled, acked]
    const { state } = (await crew.mail(id)).deliveries[0]!
    const taken = cancel!.status === 'fulfilled' && (cancel!.value as { cancelled: unknown[] }).cancelled.length === 1
    const won = [ack!.status === 'fulfilled' && 'acked', taken && 'cancelled'].filter(Boolean)
    expect(won).toEqual([state])
    outcomes.push(state)
  }
  expect(outcomes.length).toBe(pairs)
})

test('of many replies to one message, one counts', async () => {
  const s = await aScene({ start: false })
  const crew = await aTeam(s, [])
  const operator = await crew.member('operator')
  // A message to the operator, from the fleet's own hand.
  const { sendMail } = await import('../../../src/fleet/teams/mail.ts')
  const letter = {
    to: ['operator'],
    body: 'Which one?',
    subject: '',
    priority: 'normal',
    deadline: null,
    reply_to: null,
  } as const
  const { mail } = await sendMail(
    s.fleet.fleet,
    crew.team.id,
    'fleet',
    { ...letter, needs: 'decision', wake: false },
    'fleet',
  )
  expect(operator.handle).toBe('operator')
  await crew.add('ada')
  const tries = [...Array(20).keys()].map(n =>
    s.fleet.call<MailView>('send_mail', { team_id: crew.team.id, to: 'ada', body: `${n}` }),
  )
  expect((await settled(tries)).done).toHaveLength(20)
  const replies = [...Array(20).keys()].map(() => s.fleet.call('ack_mail', { mail_id: mail.id }))
  const { refused } = await settled(replies)
  expect(refused).toEqual([])
  await expect(s.fleet.call('decline_mail', { mail_id: mail.id, reason: 'no' })).rejects.toThrow(/acked already/)
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
