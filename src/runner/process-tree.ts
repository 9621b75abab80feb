import type { Driver } from '../agents/contract.ts'
import { startDriven } from './driven.ts'
import { adoptJob, type Job, type JobSpec, startJob } from './jobs.ts'
import { type Belonging, descendants, type Identity, type Moment, type Seen } from './processes.ts'
import { stopTree, sweep } from './stopping.ts'

/** How the processes of a program are recognised. */
export interface TreeOf {
  mark: string
  /** Processes in this worktree belong to it too. Null: others work there as well. */
  worktree: string | null
  /** The process that was launched, if known. Otherwise it is found by the rest. */
  root?: Identity | null
  /** The folder that names its group, while no launch is known. */
  directory?: () => string | undefined
  /** Before its first program: see `startsFrom`. Absent: an earlier server may have started some. */
  since?: Moment
}

/** One program under the wrapper and all that it starts: launched or adopted, and ended as a whole. */
export class ProcessTree {
  readonly #of: TreeOf
  /** Descendants that were seen, so that they are found even when they are cut off from their parents. */
  readonly #known = new Map<number, string>()
  #job: Job | null = null
  #stopping: Promise<number> | null = null

  constructor(of: TreeOf) {
    this.#of = of
  }

  /** The launch that was started or adopted. */
  get job(): Job | null {
    return this.#job
  }

  /** Settles when a requested stop is done. Null: none was requested. */
  get stopping(): Promise<number> | null {
    return this.#stopping
  }

  /** Adopts what an earlier server launched. Undefined: it never started. */
  async adopt(launch: string | undefined): Promise<Job | undefined> {
    const found = launch ? await adoptJob(launch) : 'never started'
    if (found === 'never started') return undefined
    this.#job = found
    return found
  }

  async start(spec: JobSpec, driver?: Driver): Promise<Job> {
    this.#job = await (driver ? startDriven(spec, driver) : startJob(spec))
    return this.#job
  }

  notice(all: readonly Seen[]): void {
    if (!this.#job?.root) return
    for (const [pid, started] of descendants(this.#job.root, all)) this.#known.set(pid, started)
  }

  /** Ends all of it. A second call joins the first. */
  stop(graceMs: number): Promise<number> {
    this.#stopping ??= stopTree(this.#belonging, graceMs)
    return this.#stopping
  }

  /** Ends what is left after its end. Returns how many processes there were. */
  async sweep(): Promise<number> {
    await this.#stopping
    return sweep(this.#belonging)
  }

  #belonging = (): Belonging => ({
    mark: this.#of.mark,
    root: this.#job?.root ?? this.#of.root ?? null,
    worktree: this.#of.worktree,
    directory: this.#job?.directory ?? this.#of.directory?.() ?? null,
    known: this.#known,
    since: this.#of.since,
  })
}
