import { expect, test } from 'vitest'
import type { Member } from '../domain/records/team.ts'
import { type Letter, sendMail } from '../fleet/teams/mail.ts'
import { twoTeams } from './teams.testkit.ts'

const LETTER = { subject: '', priority: 'normal', needs: 'none', deadline: null, reply_to: null, wake: false } as const

async function aSender() {
  const { ask, owner, fleet, one } = await twoTeams()
  const lea = await ask<Member>(owner, 'get_member', { team_id: one.id, member: 'lea' })
  const send = (more: Partial<Letter>) =>
    sendMail(fleet, one.id, lea, { ...LETTER, to: ['bob'], body: 'Hello', key: 'k', ...more }, 'lea')
  return { send }
}

test('a message with broken characters is the same one the second time, however long it is', async () => {
  for (const length of [10, 40_000]) {
    const { send } = await aSender()
    const body = `${'x'.repeat(length)}\ud800`
    const { mail } = await send({ body })
    expect((await send({ body })).mail.id).toBe(mail.id)
    await expect(send({ body: `${body}.` })).rejects.toThrow('This key was used for another message.')
  }
})

test('the same words to somebody else, or in answer to something else, are another message', async () => {
  const { send } = await aSender()
  const { mail } = await send({})
  await expect(send({ to: ['operator'] })).rejects.toThrow('This key was used for another message.')
  await expect(send({ reply_to: mail.id })).rejects.toThrow('This key was used for another message.')

  const answer = { key: 'answer', reply_to: mail.id }
  const sent = await send(answer)
  expect((await send({ ...answer, to: ['bob'] })).mail.id).toBe(sent.mail.id)
  await expect(send({ ...answer, reply_to: sent.mail.id })).rejects.toThrow('This key was used for another message.')
})

test('what a swarm was told is told once, although somebody joined it in the meantime', async () => {
  const { send } = await aSender()
  const { mail } = await send({ isSwarm: true })
  expect((await send({ isSwarm: true, to: ['bob', 'operator'] })).mail.id).toBe(mail.id)
})
