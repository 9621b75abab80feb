import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Exit } from '../../agents/index.ts'
import { NotAllowed } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { SIDE_TITLES, type SideProcess } from '../../domain/records/side-process.ts'
import { pushGuardEnvironment } from '../../git/index.ts'
import { newestLaunch, nextLaunch, outputOf } from '../../platform/launch-folder.ts'
import { agentEnvironment } from '../../runner/environment.ts'
import { isCutShort, type Job } from '../../runner/jobs.ts'
import type { ProcessTree } from '../../runner/process-tree.ts'
import { type Seen, sideMark } from '../../runner/processes.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { current, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { commandEnvironment } from '../sessions/environment.ts'
import { prepareFolder } from '../sessions/prepare.ts'
import { commandWithin } from '../sessions/sandbox.ts'
import { setUp } from '../sessions/set-up.ts'
import { laterIn, worktreeTurns } from '../worktrees/retiring.ts'
import { addressesFor, firstAnswering, freePort, plain } from './port.ts'
import { changeSideProcess, launchesOfSide, SIDE_LAUNCH, sideProcessEnded, treeOf } from './processes.ts'

const LOOK_EVERY_MS = 200
const PRINTED_BYTES = 64 * 1024
const LAST_LINES_CHARS = 1500

/** One side process, from its start, or from where an earlier server left it, to its end. */
export class SideRun {
  readonly id: string
  readonly missionId: string
  readonly #fleet: Fleet
  readonly #tree: ProcessTree
  readonly #stopSignal = new AbortController()
  readonly #released = Promise.withResolvers<'released'>()
  #isReleased = false
  #record: SideProcess

  constructor(fleet: Fleet, process: SideProcess) {
    this.#fleet = fleet
    this.#record = process
    this.#tree = treeOf(fleet, process)
    this.id = process.id
    this.missionId = process.mission_id
  }

  get kind(): SideProcess['kind'] {
    return this.#record.kind
  }

  /** Resolves once its end is committed, or the server stops. Running it again finds what is already done. */
  async run(): Promise<void> {
    try {
      const job = (await this.#adopt()) ?? (await this.#start())
      // A stop that came during the launch found no process.
      if (this.#record.stopping) await this.stop(this.#record.stopping)
      const exit = await this.#follow(job)
      if (exit !== 'released') await this.#end(exit, job)
    } catch (error) {
      // If a program runs, the error is our own, such as a full disk: the run is taken up again, not ended.
      if (this.#tree.job && !this.#record.stopping) throw error
      await this.#tree.sweep()
      await sideProcessEnded(this.#fleet, this.id, {
        reason: this.#record.stopping ?? sentence(error),
        exit_code: null,
      })
    }
  }

  /** The reason is committed before the first signal. */
  async stop(reason: string): Promise<void> {
    await this.#note({ stopping: reason })
    this.#stopSignal.abort()
    if (this.#tree.job) await this.#tree.stop(this.#fleet.settings.graceSeconds * 1000)
  }

  /** The server stops, and the program goes on. */
  release(): void {
    this.#isReleased = true
    this.#released.resolve('released')
  }

  /** Remembers its descendants, and ends it when its time is up or it prints too much. */
  async notice(all: readonly Seen[]): Promise<void> {
    const { job, stopping } = this.#tree
    if (!job?.root || stopping) return
    this.#tree.notice(all)
    const { until } = this.#record
    if (until && until <= this.#fleet.now()) await this.stop(`Its time was up at ${until}.`)
    else if (isCutShort(job.directory)) await this.stop('It printed too much.')
  }

  get #directory(): string {
    return launchesOfSide(this.#fleet, this.#record)
  }

  async #adopt(): Promise<Job | undefined> {
    const job = await this.#tree.adopt(newestLaunch(this.#directory, SIDE_LAUNCH))
    if (job) await this.#note({ process: job.root })
    return job
  }

  async #start(): Promise<Job> {
    const { value: mission } = await current(this.#fleet, 'missions', this.missionId)
    const { value: project } = await current(this.#fleet, 'projects', this.#record.project_id)
    const cwd = await worktreeTurns.take(this.missionId, () => this.#place(mission, project))
    const program = await this.#program(mission, project, cwd)
    this.#heedStop()
    const job = await this.#tree.start({
      ...program,
      directory: nextLaunch(this.#directory, SIDE_LAUNCH),
      cwd,
      stdin: 'none',
      maxBytes: this.#fleet.settings.transcriptLimit,
      effect: 'spawn.side-process',
    })
    await this.#note({ process: job.root })
    return job
  }

  /** The worktree of the session, made again at its old path if it was cleaned away. */
  async #place(mission: Mission, project: Project): Promise<string> {
    const { value: session } = await current(this.#fleet, 'sessions', this.#record.session_id)
    if (session.member_id && (await laterIn(this.#fleet, session)))
      throw new NotAllowed('Its member works at something else in this worktree by now.', {
        try: `fleet diff ${this.missionId}`,
      })
    if (session.worktree && !existsSync(session.worktree)) {
      // Written first, so that a clean-up knows about it.
      await this.#worktreeIsKept()
      const end = { ...session, reason: 'resume' as const, branch_from: session.end_commit ?? session.branch_from }
      const { workingDirectory } = await prepareFolder(this.#fleet, end, mission, project)
      await setUp(this.#fleet, project, {
        session,
        mission,
        directory: this.#directory,
        mark: sideMark(this.#fleet.home.id, this.id),
        signal: this.#stopSignal.signal,
      })
      return workingDirectory
    }
    return join(session.worktree ?? project.path, mission.subdirectory)
  }

  #worktreeIsKept(): Promise<void> {
    return retryOnConflict(async () => {
      const { value, version } = await current(this.#fleet, 'sessions', this.#record.session_id)
      if (!value.worktree_kept)
        await this.#fleet.commit('commit.side-process', {
          changes: [put('sessions', { ...value, worktree_kept: true }, version)],
        })
    })
  }

  async #program(
    mission: Mission,
    project: Project,
    cwd: string,
  ): Promise<{ argv: readonly string[]; env: Record<string, string> }> {
    const FLEET_SESSION = sideMark(this.#fleet.home.id, this.id)
    if (this.#record.kind === 'preview') {
      const port = this.#record.port ?? (await freePort())
      await this.#note({ port })
      const env = { ...commandEnvironment(this.#fleet, project), PORT: String(port), FLEET_SESSION }
      const { value: session } = await current(this.#fleet, 'sessions', this.#record.session_id)
      const within = await commandWithin(this.#fleet, session, mission, project, this.#record.worktree, cwd)
      const argv = ['/bin/sh', '-c', this.#record.command!] as const
      return { argv: within ? within(argv) : argv, env }
    }
    const { argv, env } = (await this.#remote()).launch(this.#fleet.environment)
    const guard = project.allow_push ? {} : await pushGuardEnvironment(await repositoryOf(project))
    return { argv, env: agentEnvironment(this.#fleet.environment, project.environment, env, guard, { FLEET_SESSION }) }
  }

  async #remote() {
    const { agent } = (await current(this.#fleet, 'sessions', this.#record.session_id)).value
    return this.#fleet.agents.ofSession(agent).remote!
  }

  async #follow(job: Job): Promise<Exit | 'released'> {
    const exited = job.exited.then(exit => ({ exit }))
    if (this.#record.status === 'starting') {
      const url = await Promise.race([this.#comesUp(job), exited, this.#released.promise])
      if (typeof url === 'string' && url !== 'released')
        await this.#note({ status: 'up', url, up_at: this.#fleet.now() }, 'process_up')
    }
    const over = await Promise.race([exited, this.#released.promise])
    if (over === 'released') return over
    await this.#tree.stopping
    return over.exit
  }

  /** The address where it answers, or the link it printed. Undefined: it has not come up in time and is being ended. */
  async #comesUp(job: Job): Promise<string | undefined> {
    const remote = this.#record.kind === 'remote' ? await this.#remote() : undefined
    const seconds = this.#fleet.settings.previewWait
    const end = performance.now() + seconds * 1000
    const over = { is: false }
    void job.exited.then(() => (over.is = true))
    while (!over.is && !this.#isReleased && !this.#tree.stopping) {
      const printed = outputOf(job.directory, PRINTED_BYTES)
      const url = remote ? remote.link(plain(printed)) : await firstAnswering(addressesFor(this.#record.port!, printed))
      if (url) return url
      if (performance.now() > end) {
        const what = remote
          ? 'It printed no link'
          : `Nothing answered at port ${this.#record.port}, which it is given as $PORT,`
        await this.stop(`${what} within ${seconds} seconds.${lastLines(printed)}`)
        return undefined
      }
      await pause(LOOK_EVERY_MS, undefined, { ref: false })
    }
    return undefined
  }

  async #end({ code }: Exit, job: Job): Promise<void> {
    await this.#tree.sweep()
    // Code that removed the worktree may have ended it.
    const stopping = (await this.#fleet.store.get('processes', this.id))?.value.stopping
    const printed = outputOf(job.directory, PRINTED_BYTES)
    const refusal = this.#record.kind === 'remote' ? (await this.#remote()).refusal(plain(printed)) : undefined
    const how = code === null ? 'ended without anyone recording how' : `ended by itself with exit code ${code}`
    const early = this.#record.status === 'starting' ? ' before it came up' : ''
    const reason = stopping ?? refusal ?? `The ${SIDE_TITLES[this.#record.kind]} ${how}${early}.${lastLines(printed)}`
    await sideProcessEnded(this.#fleet, this.id, { reason, exit_code: stopping ? null : code })
  }

  #heedStop(): void {
    if (this.#record.stopping) throw new Error(this.#record.stopping)
  }

  /** If another process has ended or deleted it, this one stops too. */
  async #note(change: Partial<SideProcess>, event?: 'process_up'): Promise<void> {
    const next = await changeSideProcess(this.#fleet, this.id, change, event)
    this.#record = next ?? { ...this.#record, ...change, stopping: this.#record.stopping ?? 'It was ended.' }
  }
}

const lastLines = (printed: string): string => {
  const end = plain(printed).trim().slice(-LAST_LINES_CHARS)
  return end ? ` Its last output:\n${end}` : ' It printed nothing.'
}
