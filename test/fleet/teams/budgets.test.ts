import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LINER } from '../../agents/stand-ins.ts'
import { eventually, NODE } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { aTeam } from '../../kit/team.ts'

const EACH_USD = 0.6

/** A declared agent whose every session costs the same. */
const CLIENT = `process.stdin.resume()
for (const line of [
  { kind: 'hello', thread: 'a-thread' },
  { kind: 'bill', tokens: { in: 10, out: 10 }, usd: ${EACH_USD} },
  { kind: 'bye', status: 'good', words: 'Done.' },
]) console.log(JSON.stringify(line))
process.stdin.destroy()
`

async function aCrew(settings: object = {}) {
  const s = await aScene({ start: false })
  const client = join(s.fleet.root, 'client.mjs')
  writeFileSync(client, CLIENT)
  const agent = { ...LINER, name: 'biller', command: [NODE, client] }
  writeFileSync(join(s.fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [agent] }))
  await s.fleet.start()
  const crew = await aTeam(s, [], settings)
  const add = (handle: string, more: object = {}) =>
    crew.add(handle, { agent: 'biller', charter: 'You look after the harbour.', ...more })
  const state = async (id: string) => (await crew.mail(id)).deliveries[0]!
  const shown = async (handle: string, id: string) => JSON.stringify([await crew.member(handle), await state(id)])
  return {
    ...{ ...s, crew, add, state },
    /** Wakes a member, and waits until it has heard and is idle again. */
    async works(handle: string) {
      const { id } = await crew.send(handle, 'To work!', { wake: true })
      const done = async () => (await state(id)).state === 'heard' && (await crew.member(handle)).state === 'idle'
      await eventually(`${handle} has worked`, done, () => shown(handle, id))
    },
    async is(handle: string, wanted: string, { id }: { id: string }) {
      const there = async () => (await crew.member(handle)).state === wanted
      await eventually(`${handle} is ${wanted}`, there, () => shown(handle, id))
      return crew.member(handle)
    },
    heard: ({ id }: { id: string }) => eventually('it is heard', async () => (await state(id)).state === 'heard'),
    sessions: async (handle: string) => (await s.fleet.show((await crew.member(handle)).mission_id)).sessions.length,
  }
}

test('mail wakes nobody of a team that has spent its budget, and says so, until a person raises it', async () => {
  const { crew, add, works, state, heard, sessions, fleet } = await aCrew({ max_budget_usd: 1 })
  for (const handle of ['ada', 'bob']) await add(handle)
  await works('ada')
  await works('bob')
  const mail = await crew.send('ada', 'And again', { needs: 'reply' })
  const why = 'The budget of the team crew, $1, is spent.'
  await eventually('it waits', async () => (await crew.member('ada')).waits_for === why)
  expect(await state(mail.id)).toMatchObject({ state: 'queued', reason: expect.stringContaining(why) })
  // The server that comes next holds it too.
  await fleet.kill()
  await fleet.start()
  const other = await crew.send('bob', 'You too', { wake: true })
  await eventually('it waits', async () => (await crew.member('bob')).waits_for === why)
  expect([await sessions('ada'), await sessions('bob')]).toEqual([1, 1])
  await fleet.call('change_team', { team_id: crew.team.id, max_budget_usd: 5 })
  for (const each of [mail, other]) await heard(each)
}, 120_000)

test('a member that has spent its own budget waits for a person, and goes on with its mail once it is raised', async () => {
  const { crew, add, works, is, state, heard, sessions, fleet } = await aCrew()
  await add('ada', { max_budget_usd: 1 })
  await add('bob')
  await works('ada')
  await works('ada')
  const mail = await crew.send('ada', 'And again', { needs: 'reply' })
  const { waits_for, mission_id } = await is('ada', 'needs_input', mail)
  expect(waits_for).toMatch(/It reached its budget of \$1/)
  expect((await state(mail.id)).state).toBe('queued')
  expect(await sessions('ada')).toBe(2)
  const { missions } = await fleet.call<{ missions: { id: string }[] }>('list_inbox', {})
  expect(missions.map(({ id }) => id)).toEqual([mission_id])
  // Nobody else has to wait for it.
  await works('bob')
  await fleet.call('update_mission', { mission_id, max_budget_usd: 5 })
  await fleet.call('resume_mission', { mission_id })
  await heard(mail)
  await is('ada', 'idle', mail)
  expect(await sessions('ada')).toBe(3)
}, 120_000)
