import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LINER } from '../../agents/stand-ins.ts'
import { eventually, NODE } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { aTeam } from '../../kit/team.ts'

/** A declared agent whose first conversation is full as soon as it has read its prompt. Then it waits to be stopped. */
const client = (asked: string) => `import { appendFileSync, readFileSync } from 'node:fs'
const print = line => console.log(JSON.stringify(line))
const prompt = readFileSync(0, 'utf8')
const full = prompt.includes('> The first tide')
appendFileSync(${JSON.stringify(asked)}, JSON.stringify(prompt) + '\\n')
print({ kind: 'hello', thread: full ? 'first' : 'second' })
print({ kind: 'say', words: 'I look at the water.' })
print({ kind: 'room', used: full ? 150_000 : 10 })
if (full && !prompt.includes('context window was full')) setInterval(() => {}, 60_000)
else print({ kind: 'bye', status: 'good', words: 'Done.' })
`

test('what a full conversation was asked and has not answered is told to the one that goes on', async () => {
  const s = await aScene({ start: false })
  const asked = join(s.fleet.root, 'asked')
  const file = join(s.fleet.root, 'client.mjs')
  writeFileSync(file, client(asked))
  const room = { event: 'context', when: { kind: 'room' }, used: 'used' }
  const says = { event: 'text', when: { kind: 'say' }, text: 'words' }
  const agent = { ...LINER, command: [NODE, file], context_limit: 200_000, events: [...LINER.events, room, says] }
  writeFileSync(join(s.fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [agent] }))
  await s.fleet.call('update_project', { project_id: s.project.id, context_limit_percent: 50 })
  await s.fleet.start()
  const crew = await aTeam(s, [])
  await crew.add('ada', { agent: 'liner', charter: 'You look after the harbour.' })
  const told = await crew.send('ada', 'The last tide was low.')
  const { id } = await crew.send('ada', 'The first tide: when is it?', { needs: 'reply' })
  const state = async () => (await crew.mail(id)).deliveries[0] as unknown as { state: string; times_handed: number }
  const sessions = async () => (await s.fleet.show((await crew.member('ada')).mission_id)).sessions
  await eventually(
    'the second conversation was told',
    async () => (await state()).times_handed === 2 && (await state()).state === 'heard',
    async () => JSON.stringify([await state(), await crew.member('ada'), await sessions()]),
  )
  expect((await sessions())[0]).toMatchObject({ outcome: 'handed_over' })
  // What needs no answer is told once.
  expect((await crew.mail(told.id)).deliveries).toMatchObject([{ state: 'heard', times_handed: 1 }])
}, 120_000)
