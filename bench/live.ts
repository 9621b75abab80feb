import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { aFleet, eventually, NODE, type TestFleet } from '../test/kit/fleet.ts'
import { type Bench, ms, percentile, preciseNow, type Row } from './figure.ts'
import { cpuSeconds, memory, serverProcesses, sum } from './processes.ts'
import { repositories } from './repositories.ts'

const SESSIONS = 50
const LINES_PER_SECOND = 200
const WATCHERS = 20
/** Pipes that are read without a fleet at the same time, to see what the machine itself needs. */
const BARE = 2
const GENERATOR = join(import.meta.dirname, 'lines.ts')

/** Many agents that print, and people who watch. */
export const live: Bench = async scale => {
  const seconds = scale.of(30, 5)
  const [repository] = await repositories(1)
  const fleet = await aFleet({ env: { FLEET_MAX_CONCURRENT: String(SESSIONS) } })
  try {
    const { url, child } = await fleet.start()
    const project = await fleet.project(repository!.path)
    const pipes = Array.from({ length: SESSIONS + BARE }, (_, i) => join(fleet.root, `lines-${i}`))
    execFileSync('mkfifo', pipes)
    const after = await fleet.fleet.store.tail()
    const token = await fleet.fleet.keys.ownerToken()
    const events = new Watcher(`${url}/api/events/stream?after=${after}`, token)
    const sessions = await startSessions(fleet, project, pipes.slice(0, SESSIONS))
    const watchers = sessions.slice(0, WATCHERS).map(id => new Watcher(`${url}/api/sessions/${id}/stream`, token))
    await Promise.all([events, ...watchers].map(watcher => watcher.open))
    const bare = pipes.slice(SESSIONS).map(pipe => new BareReader(pipe))
    // One of its processes is there only while there is something to start.
    const server = serverProcesses(child.pid!)
    const used = () => sum(server.map(cpuSeconds))
    const held = (which: 'VmHWM' | 'VmRSS') => sum(server.map(pid => memory(pid, which)))

    const idle = held('VmRSS')
    const before = used()
    const generator = spawn(NODE, [GENERATOR, String(seconds), String(LINES_PER_SECOND), ...pipes], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const cost = JSON.parse(String((await once(generator.stdout, 'data'))[0])) as { seconds: number; cpu: number }
    const cores = (used() - before) / cost.seconds
    const load = cost.cpu + sum(sessions.flatMap(id => fleet.processes(id)).map(cpuSeconds))
    generator.stdin.end()
    await Promise.all(watchers.map(watcher => watcher.ended))
    const wrong = [
      ...watchers.map(watcher => mistakesIn(watcher.lines, seconds * LINES_PER_SECOND)),
      await missedEvents(fleet, events, after),
    ]

    return [
      exact(sum(wrong), watchers.length * seconds * LINES_PER_SECOND),
      {
        figure: `${SESSIONS} × ${LINES_PER_SECOND} lines/s, line to watcher, p95`,
        measured: ms(
          percentile(
            watchers.flatMap(watcher => watcher.delays),
            0.95,
          ),
        ),
        floor: `${ms(
          percentile(
            bare.flatMap(reader => reader.delays),
            0.95,
          ),
        )} (a pipe)`,
        demanded: '< 150 ms',
        met:
          percentile(
            watchers.flatMap(watcher => watcher.delays),
            0.95,
          ) < 150,
      },
      {
        figure: `${SESSIONS} × ${LINES_PER_SECOND} lines/s, processor of the server`,
        measured: `${cores.toFixed(2)} cores`,
        floor: `${(load / cost.seconds).toFixed(2)} cores (printing the lines)`,
        demanded: '< 1 core',
        met: cores < 1,
      },
      {
        figure: `${SESSIONS} × ${LINES_PER_SECOND} lines/s, most memory of the server`,
        measured: `${held('VmHWM').toFixed(0)} MiB`,
        floor: `${idle.toFixed(0)} MiB (before the first line)`,
        demanded: '< 300 MiB',
        met: held('VmHWM') < 300,
      },
    ]
  } finally {
    await fleet.remove()
    await repository!.remove()
  }
}

async function startSessions(fleet: TestFleet, project: { id: string }, pipes: string[]): Promise<string[]> {
  const missions: string[] = []
  for (const pipe of pipes)
    missions.push((await fleet.mission(project, `exec cat '${pipe}'`, { mission_type: 'explore' })).id)
  return eventually('every agent at work', async () => {
    const { items } = await fleet.fleet.store.find('sessions', { index: 'live', limit: SESSIONS })
    const running = items.filter(({ value }) => value.status === 'running')
    return running.length === missions.length ? running.map(({ value }) => value.id) : undefined
  })
}

/** How many lines are lost, doubled or out of order. */
function mistakesIn(numbers: readonly number[], total: number): number {
  const misplaced = numbers.filter((number, i) => number !== i).length
  return misplaced + Math.max(0, total - numbers.length)
}

async function missedEvents(fleet: TestFleet, watcher: Watcher, after: string): Promise<number> {
  // Output that arrives later would be missing on one side.
  const { store } = fleet.fleet
  await eventually(
    'every session over',
    async () => (await store.find('sessions', { index: 'live', limit: 1 })).items.length === 0,
  )
  const there = (await store.events({ after, limit: 500 })).events.map(event => event.cursor)
  if (there.length === 500) throw new Error('more events than one page')
  await eventually('the last event', () => watcher.ids.at(-1) === there.at(-1))
  watcher.close()
  return there.filter((cursor, i) => cursor !== watcher.ids[i]).length + Math.abs(watcher.ids.length - there.length)
}

function exact(wrong: number, lines: number): Row {
  return {
    figure: `${SESSIONS} × ${LINES_PER_SECOND} lines/s, ${WATCHERS} watchers and one of the events`,
    measured: `${wrong} lost or doubled`,
    floor: `${lines} lines`,
    demanded: 'none',
    met: wrong === 0,
  }
}

/** The number and the age of a line as the generator writes it. */
function readLine(text: string): { number: number; delay: number } {
  const [number, written] = text.split(' ', 2).map(Number) as [number, number]
  return { number, delay: preciseNow() - written }
}

/** A watcher like a browser: an event stream over HTTP. */
class Watcher {
  readonly lines: number[] = []
  readonly delays: number[] = []
  readonly ids: string[] = []
  readonly open: Promise<IncomingMessage[]>
  readonly ended: Promise<unknown>
  readonly #request: ReturnType<typeof get>
  #id = ''

  constructor(url: string, token: string) {
    this.#request = get(url, { agent: false, headers: { authorization: `Bearer ${token}` } })
    this.open = once(this.#request, 'response')
    this.ended = this.open.then(async ([response]) => {
      if (response?.statusCode !== 200) throw new Error(`${url} answers ${response?.statusCode}`)
      for await (const line of createInterface({ input: response })) this.#take(line)
    })
    // Closing it ends with an error that nobody awaits.
    this.ended.catch(() => {})
  }

  close(): void {
    this.#request.destroy()
  }

  #take(line: string): void {
    if (line.startsWith('id: ')) this.#id = line.slice('id: '.length)
    if (!line.startsWith('data: ')) return
    // A ping also has an id, the last one again, but no data.
    this.ids.push(this.#id)
    const { text } = JSON.parse(line.slice('data: '.length)) as { text?: string }
    if (text === undefined) return
    const { number, delay } = readLine(text)
    this.lines.push(number)
    this.delays.push(delay)
  }
}

class BareReader {
  readonly delays: number[] = []

  constructor(pipe: string) {
    const cat: ChildProcess = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'inherit'] })
    createInterface({ input: cat.stdout! }).on('line', line => this.delays.push(readLine(line).delay))
  }
}
