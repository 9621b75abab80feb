import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LINER } from '../../agents/stand-ins.ts'
import { eventually, NODE, readJson } from '../../kit/fleet.ts'
import { aScene } from '../../kit/scene.ts'
import { aTeam } from '../../kit/team.ts'

const LIMIT_MS = 4000

/** A declared agent whose provider refuses it once, for a while. Each run notes how it was called. */
const client = (calls: string) => `import { existsSync, readFileSync, writeFileSync } from 'node:fs'
const print = line => console.log(JSON.stringify(line))
const prompt = readFileSync(0, 'utf8')
const calls = existsSync(${JSON.stringify(calls)}) ? JSON.parse(readFileSync(${JSON.stringify(calls)}, 'utf8')) : []
calls.push({ at: Date.now(), resumes: process.argv.find(each => each.startsWith('--continue=')) ?? null, prompt })
writeFileSync(${JSON.stringify(calls)}, JSON.stringify(calls))
print({ kind: 'hello', thread: 'harbour' })
if (calls.length === 2) {
  print({ kind: 'wait', until: new Date(Date.now() + ${LIMIT_MS}).toISOString(), words: 'Too many requests.' })
  print({ kind: 'bye', status: 'bad', words: 'Too many requests.' })
  process.exit(1)
}
print({ kind: 'bill', tokens: { in: 10, out: 5 }, usd: 0 })
print({ kind: 'bye', status: 'good', words: 'Done.' })
`

interface Call {
  at: number
  resumes: string | null
  prompt: string
}

test('a member that its provider refuses waits for the time it was told, and goes on with the same mail and conversation', async () => {
  const s = await aScene({ start: false })
  const noted = join(s.fleet.root, 'calls.json')
  const file = join(s.fleet.root, 'client.mjs')
  writeFileSync(file, client(noted))
  const agent = { ...LINER, command: [NODE, file] }
  writeFileSync(join(s.fleet.fleet.home.path, 'agents.json'), JSON.stringify({ agents: [agent] }))
  await s.fleet.start()
  const crew = await aTeam(s, [])
  await crew.add('ada', { agent: 'liner', charter: 'You look after the harbour.' })
  const heard = (id: string) =>
    eventually(
      `message ${id} is heard`,
      async () => (await crew.mail(id)).deliveries[0]!.state === 'heard',
      async () => JSON.stringify([await crew.mail(id), await crew.member('ada')]),
    )
  await heard((await crew.send('ada', 'The first tide.', { wake: true })).id)
  const rests = () => eventually('it is idle', async () => (await crew.member('ada')).state === 'idle')
  await rests()

  const { id } = await crew.send('ada', 'The second tide.', { wake: true })
  await eventually('it waits', async () => /limit/.test((await crew.member('ada')).waits_for ?? ''))
  // A server that is killed meanwhile changes nothing.
  await s.fleet.kill()
  await s.fleet.start()
  await heard(id)
  await rests()

  const calls = readJson<Call[]>(noted)
  expect(calls.map(({ resumes }) => resumes)).toEqual([null, '--continue=harbour', '--continue=harbour'])
  expect(calls.map(({ prompt }) => prompt.includes(id))).toEqual([false, true, true])
  expect(calls[2]!.at - calls[1]!.at).toBeGreaterThanOrEqual(LIMIT_MS)
  // It is no failure of the member.
  expect(await crew.member('ada')).toMatchObject({ health: { state: 'healthy', restarts: 0, done: [] } })
  const { sessions } = await s.fleet.show((await crew.member('ada')).mission_id)
  expect(sessions.map(({ outcome }) => outcome)).toEqual(['completed', 'rate_limited', 'completed'])
}, 120_000)
