import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { shortId } from '../../../src/domain/ids.ts'
import { eventually } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { aTeam, type MailView } from '../../kit/team.ts'

test('mail wakes an idle member, which hears it, replies, and is idle again', async () => {
  const s = await aScene()
  const crew = await aTeam(s, ['ada'])
  expect(await crew.member('ada')).toMatchObject({ state: 'idle', session_id: null })
  const { id } = await crew.send('ada', 'Is the harbour clear?', { needs: 'reply' })
  await eventually('a reply', async () => (await crew.mail(id)).deliveries[0]!.state === 'replied')
  await eventually('it is idle', async () => (await crew.member('ada')).state === 'idle')
  const { messages } = await s.fleet.call<{ messages: MailView[] }>('read_mail', {})
  expect(messages).toMatchObject([{ thread: id, body: 'heard: Is the harbour clear?', from: { handle: 'ada' } }])

  // The same worktree and mission, another session.
  const { session_id } = await crew.member('ada')
  await crew.send('ada', 'And now?', { needs: 'reply' })
  await eventually('both were told', () => crew.told().length === 2)
  await eventually('another session', async () => (await crew.member('ada')).session_id !== session_id)
  const [one, other] = await Promise.all(
    [session_id!, (await crew.member('ada')).session_id!].map(id => s.fleet.fleet.store.get('sessions', id)),
  )
  expect(other!.value.worktree).toBe(one!.value.worktree)
  // Its mission is in no list, and counts nowhere.
  expect((await s.fleet.call<{ missions: unknown[] }>('list_missions', {})).missions).toEqual([])
  expect((await s.fleet.call<{ counts: object }>('count_missions', {})).counts).toEqual({})
})

test('mail that needs nothing waits for the next turn, unless it is to wake', async () => {
  const s = await aScene()
  const crew = await aTeam(s, ['ada'])
  const quiet = await crew.send('ada', 'For your information.')
  await crew.send('ada', 'Now, please.', { wake: true })
  await eventually('both were told', () => crew.told().length === 2)
  expect(crew.told().map(({ body }) => body)).toEqual(['For your information.', 'Now, please.'])
  await eventually('heard', async () => (await crew.mail(quiet.id)).deliveries[0]!.state === 'heard')
})

test('a member without work of its own sees the base branch as it is at each wake', async () => {
  const s = await aScene({ repository: { files: { 'tide.txt': 'low\n' } } })
  const crew = await aTeam(s, [])
  await crew.add('ada', { charter: `cat tide.txt >> '${s.fleet.root}/seen'; echo looked` })
  const look = async (n: number) => {
    await crew.send('ada', 'Look.', { wake: true })
    await eventually(`look ${n}`, async () => {
      const member = await crew.member('ada')
      const session = member.session_id && (await s.fleet.fleet.store.get('sessions', member.session_id))
      return member.state === 'idle' && session && session.value.number === n
    })
  }
  await look(1)
  await s.repo.commit('high tide', { 'tide.txt': 'high\n' })
  await look(2)
  await look(3)
  await s.repo.commit('spring tide', { 'tide.txt': 'spring\n' })
  await look(4)
  expect(readFileSync(`${s.fleet.root}/seen`, 'utf8')).toBe('low\nhigh\nhigh\nspring\n')
})

test('a member that crashes is started again, and gets the same mail', async () => {
  const s = await aScene()
  const crew = await aTeam(s, [])
  const seen = `${s.fleet.root}/seen`
  // It fails the first time, after it has read its mail.
  await crew.add('ada', { charter: `cat "$FLEET_MAIL_FILE" >> '${seen}'; [ "$(wc -l < '${seen}')" -gt 1 ] && echo ok` })
  const { id } = await crew.send('ada', 'Once.', { needs: 'ack' })
  await eventually('heard', async () => (await crew.mail(id)).deliveries[0]!.state === 'heard')
  await eventually('it is idle', async () => (await crew.member('ada')).state === 'idle')
  const lines = readFileSync(seen, 'utf8').trim().split('\n')
  expect(lines.map(line => JSON.parse(line).id)).toEqual([id, id])
})

test('a paused member, and a paused team, wait; what waits says why', async () => {
  const s = await aScene()
  const crew = await aTeam(s, ['ada'])
  const ada = { team_id: crew.team.id, member: 'ada' }
  await s.fleet.call('change_member', { ...ada, paused: true })
  await s.fleet.call('change_team', { team_id: crew.team.id, paused: true })
  const { id } = await crew.send('ada', 'Hello?', { needs: 'reply' })
  await eventually('held', async () => /paused/.test((await crew.member('ada')).waits_for ?? ''))
  await s.fleet.call('change_team', { team_id: crew.team.id, paused: false })
  await eventually('still held', async () => /ada is paused/.test((await crew.member('ada')).waits_for ?? ''))
  expect((await crew.mail(id)).deliveries).toMatchObject([{ state: 'queued' }])
  await s.fleet.call('change_member', { ...ada, paused: false })
  await eventually('a reply', async () => (await crew.mail(id)).deliveries[0]!.state === 'replied')
})

test('whoever is dismissed gets nothing more, the senders learn it, and the name can be used again', async () => {
  const s = await aScene()
  const crew = await aTeam(s, ['ada'])
  const held = s.gate('busy')
  await crew.add('bob', { charter: held.wait })
  await crew.send('bob', 'Work.', { wake: true })
  await eventually('bob works', () => held.reached())
  const { id } = await crew.send('bob', 'And this?', { needs: 'reply' })
  const before = await crew.member('bob')
  await s.fleet.call('dismiss_member', { team_id: crew.team.id, member: 'bob', reason: 'No longer needed.' })
  await eventually('bounced', async () => (await crew.mail(id)).deliveries[0]!.state === 'bounced')
  expect((await crew.mail(id)).deliveries[0]!.reason).toBe('bob was dismissed.')
  await expect(crew.send('bob', 'Anybody?')).rejects.toThrow(/no member "bob"/)
  await s.fleet.until(before.mission_id, 'cancelled')
  const again = await crew.add('bob')
  expect(again.id).not.toBe(before.id)
  await eventually('no process is left', () => s.fleet.processes(before.session_id ?? '').length === 0)
})

test('agents that answer each other without end are held back, and a person can let them go on', async () => {
  const s = await aScene({ env: { FLEET_MAIL_HOPS: '3', FLEET_MAIL_PER_MINUTE: '100' } })
  const crew = await aTeam(s, [])
  await crew.add('ada', { charter: crew.chatter('bob') })
  await crew.add('bob', { charter: crew.chatter('ada') })
  await crew.send('ada', 'Hello', { wake: true })
  const messages = async () => (await s.fleet.call<{ messages: MailView[] }>('list_mail', {})).messages
  const held = await eventually('one is held', async () =>
    (await messages()).find(({ deliveries }) => deliveries[0]!.held !== null),
  )
  expect(held.body).toBe('Hello!!!!!')
  expect(held.deliveries[0]!.held).toMatch(/answered each other 4 times in this thread; the limit is 3/)
  await eventually('both are idle', async () => (await crew.show()).members.every(({ state }) => state === 'idle'))
  expect(await messages()).toHaveLength(6)
  await s.fleet.call('release_mail', { mail_id: held.id })
  await eventually('they go on', async () => (await messages()).length === 7)
})

test('mail to a person waits in their inbox, on the page and in the terminal, and is counted once everywhere', async () => {
  const s = await aScene()
  const crew = await aTeam(s, [])
  await crew.add('ada', { charter: crew.chatter('operator') })
  await crew.send('ada', 'Shall we sail?', { wake: true })
  const inbox = () => s.fleet.call<{ count: number; mail: (MailView & { team: string })[] }>('list_inbox', {})
  await eventually('it asks', async () => (await inbox()).count === 1)
  const [asked] = (await inbox()).mail
  expect(asked).toMatchObject({ team: 'crew', body: 'Shall we sail?!', from: { handle: 'ada' } })
  expect(asked!.deliveries).toMatchObject([{ to: 'operator', state: 'queued' }])
  expect(await s.fleet.call('system_status', {})).toMatchObject({ needs_you: 1 })
  expect(await s.fleet.call('get_overview', {})).toMatchObject({ needs_you: { count: 1, mail: 1 } })
  const { stdout, stderr, code } = await s.fleet.fleetCommand(['inbox'])
  expect(stdout).toMatch(/Mail \(1\)\n\S+ {2}ada of crew: Shall we sail\?!/)
  expect(stderr).toContain(`fleet mail reply ${shortId(asked!.id)} "<answer>"`)
  expect(code).toBe(3)

  // Reading does not answer it.
  const read = { team_id: crew.team.id, thread: 'another' }
  await s.fleet.call('read_mail', read)
  expect((await inbox()).mail[0]!.deliveries).toMatchObject([{ state: 'queued' }])
  await s.fleet.call('read_mail', { ...read, thread: asked!.thread })
  expect((await inbox()).mail[0]!.deliveries).toMatchObject([{ state: 'heard' }])
  await s.fleet.call('decline_mail', { mail_id: asked!.id, reason: 'Not today' })
  expect(await inbox()).toMatchObject({ count: 0, mail: [] })
})

test('a member is woken only so often within an hour', async () => {
  const s = await aScene({ env: { FLEET_WAKES_PER_HOUR: '2' } })
  const crew = await aTeam(s, ['ada'])
  for (const n of [1, 2]) {
    const { id } = await crew.send('ada', `${n}`, { needs: 'reply' })
    await eventually(`reply ${n}`, async () => (await crew.mail(id)).deliveries[0]!.state === 'replied')
    await eventually('it is idle', async () => (await crew.member('ada')).state === 'idle')
  }
  const { id } = await crew.send('ada', '3', { needs: 'reply' })
  await eventually('held', async () =>
    /woke it 2 times within an hour/.test((await crew.member('ada')).waits_for ?? ''),
  )
  expect((await crew.mail(id)).deliveries[0]!.state).toBe('queued')
})

test('an answer that is overdue is asked for, then the lead is told, then the operator; each once', async () => {
  const s = await aScene({ env: { FLEET_REPLY_WITHIN: '1' } })
  const crew = await aTeam(s, [])
  // It hears its mail, and answers nothing.
  await crew.add('ada', { charter: 'echo heard' })
  await crew.add('lea', { charter: 'echo heard', role: 'team-lead' })
  const { id } = await crew.send('ada', 'Well?', { needs: 'reply', subject: 'The plan' })
  const fromFleet = async () =>
    (await s.fleet.call<{ messages: MailView[] }>('list_mail', {})).messages.filter(
      ({ from }) => from.handle === 'fleet',
    )
  await eventually('three reminders', async () => (await fromFleet()).length === 3)
  const told = (await fromFleet()).reverse().map(({ deliveries, body }) => [deliveries.map(({ to }) => to), body])
  expect(told).toEqual([
    [['ada'], expect.stringMatching(/Your answer to message \w+ \("The plan"\) of operator is overdue/)],
    [['lea'], expect.stringMatching(/ada has not answered message/)],
    [['operator'], expect.stringMatching(/ada has not answered message/)],
  ])
  expect((await crew.mail(id)).deliveries[0]!.state).toBe('heard')
})
