import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import type { TranscriptEvent } from '../../src/domain/records/transcript.ts'
import { outputOf } from '../../src/operations/aliases/claude-fleet/events.ts'
import { aBrowser } from '../../src/server/browser.testkit.ts'
import { aReader, type Heard } from '../../src/server/topics.testkit.ts'
import { eventually, scaled } from '../kit/fleet.ts'
import { Follower } from '../kit/follower.ts'
import { ledger } from '../kit/known.ts'
import { aScene, type Scene } from '../kit/scene.ts'

async function scene(options: Parameters<typeof aScene>[0] = {}) {
  const s = await aScene({ ...options, start: false })
  let { url } = await s.fleet.start()
  const token = await s.fleet.fleet.keys.ownerToken()
  const follow = (topic: string, after?: string): Follower => {
    const follower = new Follower(topic, () => ({ url, token }), after)
    const running = follower.run()
    onTestFinished(async () => {
      follower.end()
      await running
    })
    return follower
  }
  const killed = async () => {
    await s.fleet.kill()
    url = (await s.fleet.start()).url
  }
  return { ...s, token, follow, killed, url: () => url }
}

/** Random numbers that a failing test can be run with again. */
function dice(): (below: number) => number {
  let state = Number(process.env.FLEET_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
  console.log(`FLEET_TEST_SEED=${state}`)
  return below => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return state % below
  }
}

const cursors = (all: readonly { cursor: string }[]): string[] => all.map(({ cursor }) => cursor)

test('whatever is cut or killed, each topic brings every event once and in order', async () => {
  const s = await scene()
  const { fleet } = s.fleet
  const throwDice = dice()
  const draft = () =>
    s.fleet.call<{ id: string }>('create_mission', { project_id: s.project.id, title: 'm', prompt: 'true' })
  const missions = [await draft(), await draft(), await draft()]
  const start = await fleet.store.tail()
  const topics = ['fleet', `project:${s.project.id}`, ...missions.map(({ id }) => `mission:${id}`)]
  // Several follow the fleet, so that some are cut in the middle of much to read.
  const followers = [...topics, 'fleet', 'fleet'].map(topic => s.follow(topic, start))

  const writing = new AbortController()
  const written = (async () => {
    for (let n = 0; !writing.signal.aborted; n++) {
      const mission = missions[throwDice(missions.length)]!
      const about = throwDice(4) ? { project_id: s.project.id, mission_id: mission.id } : {}
      const event = { kind: 'commented', time: fleet.now(), actor: 'person', ...about, data: { n } } as const
      await fleet.store.commit({ changes: [], events: Array.from({ length: 1 + throwDice(20) }, () => event) })
      await pause(throwDice(15))
    }
  })()
  for (let round = 0; round < scaled(40, 400); round++) {
    if (throwDice(10) === 0) await s.killed()
    else {
      const follower = followers[throwDice(followers.length)]!
      // On a busy machine it may not be back yet from the last time.
      await eventually('it is connected', () => follower.isConnected)
      follower.cut()
    }
    await pause(throwDice(60))
  }
  writing.abort()
  await written

  const all = (await s.fleet.events()).filter(({ cursor }) => Number(cursor) > Number(start))
  for (const follower of followers) {
    const [kind, id] = follower.topic.split(':')
    const wanted = all.filter(event => kind === 'fleet' || event[`${kind}_id` as 'project_id'] === id)
    expect(wanted.length).toBeGreaterThan(20)
    await eventually(
      `${follower.topic} has seen all`,
      () => follower.seen.length >= wanted.length,
      () => `${follower.seen.length} of ${wanted.length}, refused ${JSON.stringify(follower.refused)}`,
    )
    expect(cursors(follower.seen)).toEqual(cursors(wanted))
    expect(follower.seen.map(({ data }) => data)).toEqual(wanted)
    expect(follower.refused).toEqual([])
  }
  expect(followers.reduce((sum, { connections }) => sum + connections, 0)).toBeGreaterThan(followers.length + 10)
}, 180_000)

const PRINT =
  'for i in 1 2 3 4 5 6 7 8 9 10; do echo "line $i of $FLEET_TASK_ID"; echo "warning $i" >&2; sleep 0.05; done'

const transcriptOf = async (s: Scene, session: string): Promise<(TranscriptEvent & { cursor: string })[]> =>
  (await s.fleet.call<{ events: TranscriptEvent[] }>('read_transcript', { session_id: session, limit: 500 })).events

const newestSession = async (s: Scene, mission: string): Promise<string> =>
  eventually('a session', async () => (await s.fleet.show(mission)).sessions.at(-1)?.id)

test('the transcript of a session comes as it grows, once and in order, and ends', async () => {
  const s = await scene()
  const gate = s.gate('half')
  const { id } = await s.fleet.mission(s.project, `${PRINT}\n${gate.wait}\n${PRINT}\necho x > x`)
  const session = await newestSession(s, id)
  const follower = s.follow(`session:${session.slice(0, 10)}`)
  for (let n = 0; n < 10; n++) {
    follower.cut()
    await pause(30)
  }
  await eventually('the first half', () => gate.reached())
  await s.killed()
  gate.open()
  await s.fleet.until(id, 'done')
  const end = await eventually('the end', () => follower.seen.find(({ kind }) => kind === 'end'))
  expect(end).toMatchObject({ topic: `session:${session}`, data: { outcome: 'completed' } })
  const wanted = await transcriptOf(s, session)
  const seen = follower.seen.filter(({ kind }) => kind !== 'end').map(({ data }) => data as TranscriptEvent)
  // What was printed on standard error has no fixed place between the lines of standard output.
  const on = (stream: string, all: TranscriptEvent[]) =>
    all.flatMap(each => (each.stream === stream ? each.event_id : []))
  for (const stream of ['stdout', 'stderr', 'sent']) expect(on(stream, seen)).toEqual(on(stream, wanted))
  expect(wanted.length).toBeGreaterThanOrEqual(40)
  expect(follower.refused).toEqual([])
})

test('clients of claude-fleet see workers and tasks by the names they know, also if they are cut off', async () => {
  const s = await scene({ env: { FLEET_MAX_CONCURRENT: '2' } })
  const { names, call, forgotten } = ledger('claude-fleet', 'event')
  const follower = s.follow('claude-fleet')
  await eventually('it follows', () => follower.hasCursor)
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.push((await s.fleet.mission(s.project, `${PRINT}\necho ${n} > file-${n}`)).id)
  const cutting = setInterval(() => follower.cut(), 70)
  onTestFinished(() => clearInterval(cutting))
  for (const id of ids) await s.fleet.until(id, 'done')
  clearInterval(cutting)
  await s.killed()
  const of = (type: string) => follower.seen.filter(each => each.type === type)
  await eventually(
    'all are resolved',
    () => ids.every(id => of('task_updated').some(({ task }) => task.id === id && task.status === 'resolved')),
    () => JSON.stringify(follower.seen.map(({ type }) => type)),
  )
  for (const id of ids) {
    const session = await newestSession(s, id)
    const about = (each: Heard) => [each.handle, each.worker?.handle].includes(session)
    const story = follower.seen.filter(about)
    expect(story.map(({ type }) => type).filter((type, n, all) => type !== all[n - 1])).toEqual([
      'task_assigned',
      'worker_spawned',
      'worker_output',
      'worker_dismissed',
    ])
    expect(story.filter(({ type }) => type !== 'worker_output')).toMatchObject([
      { topic: 'claude-fleet', task: { id, subject: 'a mission', teamName: 'test', blockedBy: [] } },
      { worker: { id: session, teamName: 'test', state: expect.any(String), spawnedAt: expect.any(String) } },
      { handle: session },
    ])
    const printed = (await transcriptOf(s, session)).flatMap(event => outputOf(event) ?? [])
    const told = story.flatMap(({ output }) => (output as string) ?? [])
    for (const begin of ['line', 'warning'])
      expect(told.filter(text => text.startsWith(begin))).toEqual(printed.filter(text => text.startsWith(begin)))
    expect(told).toHaveLength(printed.length)
    expect(printed).toContain(`line 10 of ${id}`)
    expect(of('task_created').filter(({ task }) => task.id === id)).toHaveLength(1)
  }
  for (const { name } of names) if (of(name).length) call(name)
  // The others are of teams: claude-fleet-live.test.ts.
  expect(forgotten().filter(name => /^(worker_(?!health|restarted)|task_)/.test(name))).toEqual([])
  expect(follower.refused).toEqual([])
})

test('readers that never read cost a bounded amount of memory, and others are served meanwhile', async () => {
  const s = await scene()
  const { fleet } = s.fleet
  const pid = (JSON.parse(readFileSync(`${fleet.home.path}/holder.json`, 'utf8')) as { pid: number }).pid
  const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
  const stuck = Array.from({ length: 20 }, () => {
    const socket = new WebSocket(`${s.url().replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${s.token}` },
    })
    onTestFinished(() => socket.terminate())
    socket.on('error', () => {})
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'subscribe', topics: ['fleet', `project:${s.project.id}`] })),
    )
    socket.once('message', () => socket.pause())
    return socket
  })
  await eventually('all are connected', () => stuck.every(({ isPaused }) => isPaused))
  const { browser } = await aBrowser(s.url(), s.token)
  const { json } = await browser.ask('POST', '/api/live', { body: {} })
  const page = aReader(s.url(), { ticket: json.ticket, origin: s.url() })
  page.say({ type: 'subscribe', topics: ['fleet'] })
  await page.hears({ type: 'subscribed' })
  const before = memory()
  const padding = 'x'.repeat(50_000)
  let slowest = 0
  let halfway = 0
  for (let n = 0; n < 60; n++) {
    const event = { kind: 'commented', time: fleet.now(), actor: 'person', project_id: s.project.id } as const
    await fleet.store.commit({
      changes: [],
      events: Array.from({ length: 20 }, () => ({ ...event, data: { padding } })),
    })
    await fleet.store.commit({ changes: [], events: [{ ...event, data: { n } }] })
    const since = performance.now()
    await page.hears({ type: 'event', data: { data: { n } } })
    slowest = Math.max(slowest, performance.now() - since)
    if (n === 30) halfway = memory() - before
  }
  const grown = memory() - before
  console.log(
    `60 MB of events for 40 subscriptions that nobody reads: ${Math.round(grown)} MB more memory, others waited at most ${Math.round(slowest)} ms`,
  )
  // It does not grow with what is written.
  expect(grown - halfway).toBeLessThan(60)
  expect(grown).toBeLessThan(250)
  expect(slowest).toBeLessThan(5000)
})
