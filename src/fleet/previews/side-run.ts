import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Exit } from '../../agents/index.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { KEPT_TITLES, type KeptProcess } from '../../domain/records/side-process.ts'
import { pushGuardEnvironment } from '../../git/index.ts'
import { newestLaunch, nextLaunch, outputOf } from '../../platform/launch-folder.ts'
import { agentEnvironment } from '../../runner/environment.ts'
import { adoptJob, isCutShort, type Job, startJob } from '../../runner/jobs.ts'
import { type Belonging, descendants, keptMark, type Seen } from '../../runner/processes.ts'
import { stopTree, sweep } from '../../runner/stopping.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { current, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { commandEnvironment } from '../sessions/launch.ts'
import { preparePlace, setUp } from '../sessions/prepare.ts'
import { commandWithin } from '../sessions/sandbox.ts'
import { worktreeTurns } from '../worktrees/retiring.ts'
import { addressesFor, firstAnswering, freePort, plain } from './port.ts'
import { belongingOf, changeKept, KEPT_LAUNCH, keptEnded, launchesOfKept } from './processes.ts'

const LOOK_EVERY_MS = 200
const PRINTED_BYTES = 64 * 1024
const LAST_LINES_CHARS = 1500

/** One program that is kept running, from its start, or from where an earlier server left it, to its end. */
export class KeptRun {
  readonly id: string
  readonly missionId: string
  readonly #fleet: Fleet
  readonly #known = new Map<number, string>()
  readonly #stopSignal = new AbortController()
  readonly #released = Promise.withResolvers<'released'>()
  #isReleased = false
  #kept: KeptProcess
  #job: Job | null = null
  #stopping: Promise<unknown> | null = null

  constructor(fleet: Fleet, kept: KeptProcess) {
    this.#fleet = fleet
    this.#kept = kept
    this.id = kept.id
    this.missionId = kept.mission_id
  }

  get kind(): KeptProcess['kind'] {
    return this.#kept.kind
  }

  /** Resolves once its end is committed, or the server lets go of it. Running it again finds what is already done. */
  async run(): Promise<void> {
    try {
      this.#job = (await this.#adopt()) ?? (await this.#start())
      // A stop that came in the moment of the launch has met no process.
      if (this.#kept.stopping) await this.stop(this.#kept.stopping)
      const exit = await this.#follow(this.#job)
      if (exit !== 'released') await this.#end(exit, this.#job)
    } catch (error) {
      // With a program at work it is our own fault, such as a full disk: it is taken up again, not ended.
      if (this.#job && !this.#kept.stopping) throw error
      await sweep(() => this.#belonging())
      await keptEnded(this.#fleet, this.id, { reason: this.#kept.stopping ?? sentence(error), exit_code: null })
    }
  }

  /** The cause is committed before the first signal. */
  async stop(reason: string): Promise<void> {
    await this.#note({ stopping: reason })
    this.#stopSignal.abort()
    if (this.#job) this.#stopping ??= stopTree(() => this.#belonging(), this.#fleet.settings.graceSeconds * 1000)
    await this.#stopping
  }

  /** The server goes; the program stays. */
  release(): void {
    this.#isReleased = true
    this.#released.resolve('released')
  }

  /** Remembers its descendants; and ends it when its time is up or it prints without end. */
  async notice(all: readonly Seen[]): Promise<void> {
    const root = this.#job?.root
    if (!root || this.#stopping) return
    for (const [pid, started] of descendants(root, all)) this.#known.set(pid, started)
    const { until } = this.#kept
    if (until && until <= this.#fleet.now()) await this.stop(`Its time was up at ${until}.`)
    else if (isCutShort(this.#job!.directory)) await this.stop('It printed too much.')
  }

  get #directory(): string {
    return launchesOfKept(this.#fleet, this.#kept)
  }

  async #adopt(): Promise<Job | undefined> {
    const newest = newestLaunch(this.#directory, KEPT_LAUNCH)
    const found = newest ? await adoptJob(newest) : 'never started'
    if (found === 'never started') return undefined
    await this.#note({ process: found.root })
    return found
  }

  async #start(): Promise<Job> {
    const { value: mission } = await current(this.#fleet, 'missions', this.missionId)
    const { value: project } = await current(this.#fleet, 'projects', this.#kept.project_id)
    const cwd = await worktreeTurns.take(this.missionId, () => this.#place(mission, project))
    const program = await this.#program(mission, project, cwd)
    this.#heedStop()
    const job = await startJob({
      ...program,
      directory: nextLaunch(this.#directory, KEPT_LAUNCH),
      cwd,
      stdin: 'none',
      maxBytes: this.#fleet.settings.transcriptLimit,
      effect: 'spawn.kept-process',
    })
    this.#job = job
    await this.#note({ process: job.root })
    return job
  }

  /** The worktree of the session, made again at its old path if it was cleaned away. */
  async #place(mission: Mission, project: Project): Promise<string> {
    const { value: session } = await current(this.#fleet, 'sessions', this.#kept.session_id)
    if (session.worktree && !existsSync(session.worktree)) {
      // Written down first: whoever tidies up knows of it from then on.
      await this.#worktreeIsKept()
      const end = { ...session, reason: 'resume' as const, branch_from: session.end_commit ?? session.branch_from }
      const { workingDirectory } = await preparePlace(this.#fleet, end, mission, project)
      await setUp(this.#fleet, project, {
        session,
        mission,
        directory: this.#directory,
        mark: keptMark(this.#fleet.home.id, this.id),
        signal: this.#stopSignal.signal,
      })
      return workingDirectory
    }
    return join(session.worktree ?? project.path, mission.subdirectory)
  }

  #worktreeIsKept(): Promise<void> {
    return retryOnConflict(async () => {
      const { value, version } = await current(this.#fleet, 'sessions', this.#kept.session_id)
      if (!value.worktree_kept)
        await this.#fleet.commit('commit.kept-process', {
          changes: [put('sessions', { ...value, worktree_kept: true }, version)],
        })
    })
  }

  async #program(
    mission: Mission,
    project: Project,
    cwd: string,
  ): Promise<{ argv: readonly string[]; env: Record<string, string> }> {
    const FLEET_SESSION = keptMark(this.#fleet.home.id, this.id)
    if (this.#kept.kind === 'preview') {
      const port = this.#kept.port ?? (await freePort())
      await this.#note({ port })
      const env = { ...commandEnvironment(this.#fleet, project), PORT: String(port), FLEET_SESSION }
      const { value: session } = await current(this.#fleet, 'sessions', this.#kept.session_id)
      const within = await commandWithin(this.#fleet, session, mission, project, this.#kept.worktree, cwd)
      const argv = ['/bin/sh', '-c', this.#kept.command!] as const
      return { argv: within ? within(argv) : argv, env }
    }
    const { argv, env } = (await this.#remote()).launch(this.#fleet.environment)
    const guard = project.allow_push ? {} : await pushGuardEnvironment(await repositoryOf(project))
    return { argv, env: agentEnvironment(this.#fleet.environment, project.environment, env, guard, { FLEET_SESSION }) }
  }

  async #remote() {
    const { agent } = (await current(this.#fleet, 'sessions', this.#kept.session_id)).value
    return this.#fleet.agents.ofSession(agent).remote!
  }

  async #follow(job: Job): Promise<Exit | 'released'> {
    const exited = job.exited.then(exit => ({ exit }))
    if (this.#kept.status === 'starting') {
      const url = await Promise.race([this.#comesUp(job), exited, this.#released.promise])
      if (typeof url === 'string' && url !== 'released')
        await this.#note({ status: 'up', url, up_at: this.#fleet.now() }, 'process_up')
    }
    const over = await Promise.race([exited, this.#released.promise])
    if (over === 'released') return over
    await this.#stopping
    return over.exit
  }

  /** Where it answers, or the link it printed; undefined: it has not come up in time and is being ended. */
  async #comesUp(job: Job): Promise<string | undefined> {
    const remote = this.#kept.kind === 'remote' ? await this.#remote() : undefined
    const seconds = this.#fleet.settings.previewWait
    const end = performance.now() + seconds * 1000
    const over = { is: false }
    void job.exited.then(() => (over.is = true))
    while (!over.is && !this.#isReleased && !this.#stopping) {
      const printed = outputOf(job.directory, PRINTED_BYTES)
      const url = remote ? remote.link(plain(printed)) : await firstAnswering(addressesFor(this.#kept.port!, printed))
      if (url) return url
      if (performance.now() > end) {
        const what = remote
          ? 'It printed no link'
          : `Nothing answered at port ${this.#kept.port}, which it is given as $PORT,`
        await this.stop(`${what} within ${seconds} seconds.${lastLines(printed)}`)
        return undefined
      }
      await pause(LOOK_EVERY_MS, undefined, { ref: false })
    }
    return undefined
  }

  async #end({ code }: Exit, job: Job): Promise<void> {
    await sweep(() => this.#belonging())
    // Whoever took the worktree away may have ended it from outside.
    const stopping = (await this.#fleet.store.get('processes', this.id))?.value.stopping
    const printed = outputOf(job.directory, PRINTED_BYTES)
    const refusal = this.#kept.kind === 'remote' ? (await this.#remote()).refusal(plain(printed)) : undefined
    const how = code === null ? 'ended without anyone recording how' : `ended by itself with exit code ${code}`
    const early = this.#kept.status === 'starting' ? ' before it came up' : ''
    const reason = stopping ?? refusal ?? `The ${KEPT_TITLES[this.#kept.kind]} ${how}${early}.${lastLines(printed)}`
    await keptEnded(this.#fleet, this.id, { reason, exit_code: stopping ? null : code })
  }

  #heedStop(): void {
    if (this.#kept.stopping) throw new Error(this.#kept.stopping)
  }

  /** What another process ended or forgot meanwhile has nothing more to run for. */
  async #note(change: Partial<KeptProcess>, event?: 'process_up'): Promise<void> {
    const next = await changeKept(this.#fleet, this.id, change, event)
    this.#kept = next ?? { ...this.#kept, ...change, stopping: this.#kept.stopping ?? 'It was ended.' }
  }

  #belonging = (): Belonging =>
    belongingOf(this.#fleet, { ...this.#kept, process: this.#job?.root ?? this.#kept.process }, this.#known)
}

const lastLines = (printed: string): string => {
  const end = plain(printed).trim().slice(-LAST_LINES_CHARS)
  return end ? ` The last it printed:\n${end}` : ' It printed nothing.'
}
