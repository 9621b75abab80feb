import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { z } from 'zod'
import { storeOf } from '../../src/config/store.ts'
import type { Event } from '../../src/domain/records/event.ts'
import { liveSessions } from '../../src/fleet/dispatch/capacity.ts'
import { type Fleet, makeFleet } from '../../src/fleet/fleet.ts'
import { markOf } from '../../src/fleet/sessions/environment.ts'
import { operationNamed } from '../../src/operations/index.ts'
import type { MissionDetail, MissionView } from '../../src/operations/views.ts'
import { openHome } from '../../src/platform/home.ts'
import { openKeys } from '../../src/platform/keys.ts'
import { membersOf } from '../../src/runner/processes.ts'
import { openStore } from '../../src/store/index.ts'
import { aSchema, dropSchema } from '../../src/store/postgres/schema.testkit.ts'

export const ROOT = join(import.meta.dirname, '../..')
export const NODE = join(ROOT, 'node_modules/node/bin/node')
export const LAUNCHER = join(ROOT, 'bin/fleet.js')

/** The full run multiplies every count by this. */
export const FULL = process.env.FLEET_TEST_SCALE === 'full'
/** Whether fleets are on PostgreSQL: `npm run test:postgres <file…>` sees to it. */
export const ON_POSTGRES = process.env.FLEET_TEST_STORE === 'postgresql'
export const scaled = (small: number, full: number): number => (FULL ? full : small)

type Detail = z.infer<typeof MissionDetail>

export interface TestFleet {
  root: string
  /** Where its records are, unless they are in its home. */
  schema: { url: string; name: string } | undefined
  fleet: Fleet
  /** Starts a real server and waits until it answers. */
  start(options?: {
    env?: Record<string, string>
    node?: string[]
    args?: string[]
    /** As a person does it, on whichever Node the program chooses. */
    byItself?: boolean
  }): Promise<{ url: string; child: ChildProcess }>
  /** SIGKILL: the server cannot clean up. */
  kill(): Promise<void>
  /** SIGTERM, as `fleet down` does. */
  stop(): Promise<void>
  call<T = Record<string, unknown>>(operation: string, input?: object): Promise<T>
  http(path: string, init?: RequestInit): Promise<Response>
  fleetCommand(
    args: string[],
    options?: { cwd?: string; env?: Record<string, string>; input?: string },
  ): Promise<{ code: number; stdout: string; stderr: string }>
  /** Adds a repository as a project whose work lands automatically. */
  project(path: string, settings?: object): Promise<{ id: string }>
  /** Creates a mission and queues it: a script, unless it or its project names another agent. */
  mission(project: { id: string }, script: string, settings?: object): Promise<MissionView>
  /** Lands like a person who looks first: what is shown is what lands. */
  land(id: string, settings?: object): Promise<MissionView>
  show(id: string): Promise<Detail>
  until(id: string, ...statuses: string[]): Promise<Detail>
  events(): Promise<Event[]>
  /** Every process that carries the mark of a session of this home. */
  processes(sessionId: string): number[]
  remove(): Promise<void>
}

/** A home in a temporary folder, or in one that has a home already, with a real server in a separate process. */
export async function aFleet(options: { env?: Record<string, string>; root?: string } = {}): Promise<TestFleet> {
  const root = options.root ?? realpathSync(mkdtempSync(join(tmpdir(), 'flotilla-test-')))
  const home = openHome(join(root, 'home'))
  const isChosen = options.root !== undefined || options.env?.FLEET_STORE !== undefined
  const env = cleanEnvironment(root, { ...(isChosen ? {} : storeVariables()), ...options.env })
  const store = await openStore(storeOf(home, env), { migrate: true })
  const fleet = makeFleet({ home, keys: openKeys(home), store, environment: env })
  /** Projects whose agent the test has chosen. */
  const haveAgent = new Set<string>()
  const isScript = (project: string | undefined): boolean =>
    !haveAgent.has(project ?? '') && !options.env?.FLEET_DEFAULT_AGENT
  let server: ChildProcess | undefined
  let url = ''
  let made = 0

  const schema = env.POSTGRESQL_SCHEMA ? { url: env.FLEET_STORE!, name: env.POSTGRESQL_SCHEMA } : undefined
  const kit: TestFleet = {
    ...{ root, fleet, schema },
    async start({ env: extra = {}, node = [], args = [], byItself = false } = {}) {
      const known = url ? [] : ['--port', '0']
      const [command, ...before] = byItself ? [LAUNCHER] : [NODE, ...node, LAUNCHER]
      const child = spawn(command!, [...before, 'up', ...known, ...args], {
        env: { ...env, ...extra },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      server = child
      url = await announced(child)
      return { url, child }
    },
    async kill() {
      await ended(server, 'SIGKILL')
    },
    async stop() {
      await ended(server, 'SIGTERM')
    },
    async call<T>(name: string, given: { project_id?: string; agent?: string; stages?: object[] } = {}) {
      if (name === 'update_project' && given.project_id && given.agent) haveAgent.add(given.project_id)
      const input = ofScripts(name, given, isScript)
      const operation = operationNamed(name)
      if (!operation || operation.kind === 'stream') throw new Error(`no such operation: ${name}`)
      const context = { fleet, caller: { kind: 'owner' as const }, signal: new AbortController().signal }
      return (await operation.run(context, operation.input.parse(input))) as T
    },
    http: async (path, init = {}) =>
      fetch(url + path, {
        ...init,
        headers: {
          authorization: `Bearer ${await fleet.keys.ownerToken()}`,
          ...(init.body ? { 'content-type': 'application/json' } : {}),
          ...init.headers,
        },
      }),
    fleetCommand: (args, { cwd = root, env: extra = {}, input } = {}) =>
      run(LAUNCHER, args, { cwd, env: { ...env, ...extra }, input }),
    async project(path, settings: { agent?: string } = {}) {
      const project = await kit.call<{ id: string }>('create_project', {
        name: made++ ? `test-${made}` : 'test',
        path,
        landing: 'auto',
        ...settings,
      })
      if (settings.agent) haveAgent.add(project.id)
      return project
    },
    mission: (project, script, settings = {}) =>
      kit.call('create_mission', {
        project_id: project.id,
        title: 'a mission',
        detailed_prompt: script,
        auto_dispatch: true,
        ...settings,
      }),
    async land(id, settings = {}) {
      const { candidate } = await kit.call<{ candidate: { commit: string } | null }>('get_review', { mission_id: id })
      return kit.call('land_mission', { mission_id: id, expected: candidate?.commit, ...settings })
    },
    show: id => kit.call<Detail>('get_mission', { mission_id: id }),
    until: (id, ...statuses) =>
      eventually(
        `mission ${id} ${statuses.join(' or ')}`,
        async () => {
          const mission = await kit.show(id)
          return statuses.includes(mission.status) ? mission : undefined
        },
        async () =>
          JSON.stringify(
            await kit.show(id).then(({ status, status_reason, waits_for }) => ({ status, status_reason, waits_for })),
          ),
      ),
    async events() {
      const events: Event[] = []
      let after: string | undefined
      for (;;) {
        const page = await store.events({ after, limit: 500 })
        events.push(...page.events)
        after = page.cursor
        if (page.events.length < 500) return events
      }
    },
    processes: sessionId =>
      membersOf({ mark: markOf(fleet, sessionId), root: null, worktree: null, known: new Map() }).map(
        member => member.pid,
      ),
    async remove() {
      await kit.stop()
      for (const session of await liveSessions(fleet)) for (const pid of kit.processes(session.id)) endProcess(pid)
      await store.close()
      if (schema) await dropSchema(schema)
      await rm(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  return kit
}

interface Asked {
  project_id?: string
  agent?: string
  stages?: object[]
}

/** Tests give agents scripts, unless they or the project name another agent. */
function ofScripts(name: string, input: Asked, isScript: (project: string | undefined) => boolean): Asked {
  if (!isScript(input.project_id)) return input
  if (name === 'create_mission') return { agent: 'shell', ...input }
  if (name === 'create_workflow' && input.stages)
    return {
      ...input,
      stages: input.stages.map(stage => ('executor' in stage ? stage : { agent: 'shell', ...stage })),
    }
  // The planner of the kit proposes scripts too.
  if (name === 'plan_project' || name === 'start_loop') return { scripts: true, ...input } as Asked
  return input
}

/** With FLEET_TEST_STORE=postgresql, each fleet has its records in a schema of its own, which is dropped with it. */
function storeVariables(): Record<string, string> {
  if (!ON_POSTGRES) return {}
  const { url, schema } = aSchema()
  return { FLEET_STORE: url, POSTGRESQL_SCHEMA: schema! }
}

export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // It ended by itself in between.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Keeps the developer's own fleet, git and agents out of the tests. */
function cleanEnvironment(root: string, extra: Record<string, string> = {}): Record<string, string> {
  const { PATH = '', LANG = 'C.UTF-8', TMPDIR } = process.env
  return {
    PATH: `${join(ROOT, 'node_modules/node/bin')}:${PATH}`,
    LANG,
    HOME: root,
    FLEET_HOME: join(root, 'home'),
    FLEET_STOP_GRACE: '1',
    ...(TMPDIR && { TMPDIR }),
    ...extra,
  }
}

function announced(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const take = (chunk: Buffer): void => {
      text += chunk
      const url = /is up at (http\S+)/.exec(text)?.[1]
      if (url) resolve(url)
    }
    child.stdout?.on('data', take)
    child.stderr?.on('data', take)
    child.once('exit', code => reject(new Error(`the server ended with ${code} before it was up:\n${text}`)))
  })
}

async function ended(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise(resolve => child.once('exit', resolve))
  child.kill(signal)
  await gone
}

export function run(
  file: string,
  args: string[],
  { cwd, env, input }: { cwd: string; env: Record<string, string>; input?: string },
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(NODE, [file, ...args], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', chunk => {
      stdout += chunk
    })
    child.stderr.on('data', chunk => {
      stderr += chunk
    })
    child.once('error', reject).once('close', code => resolve({ code: code ?? -1, stdout, stderr }))
    // A command that ends before it has read everything closes the pipe; its exit code says why.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

const PATIENCE_MS = 40_000

/** Waits for a condition, not for the clock. If it never holds, the error says what it saw. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  saw?: () => Promise<string> | string,
  patience = PATIENCE_MS,
): Promise<NonNullable<T>> {
  const end = performance.now() + patience
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found as NonNullable<T>
    if (performance.now() > end)
      throw new Error(`waited ${patience} ms for ${what}${saw ? `; saw ${await saw()}` : ''}`)
    await pause(20)
  }
}

export const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T
