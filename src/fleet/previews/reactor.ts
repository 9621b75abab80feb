import type { Event } from '../../domain/records/event.ts'
import type { SideProcess } from '../../domain/records/side-process.ts'
import type { Seen } from '../../runner/processes.ts'
import type { Fleet } from '../fleet.ts'
import { type Desk, idIn, isOf, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { isHere } from '../sessions/record.ts'
import { SideRun } from './side-run.ts'

const ASKED: readonly Event['kind'][] = ['process_asked', 'process_stop_requested']

/** Runs the programs that are kept running beside missions: previews, and remote controls of an agent. */
export class Previews implements Reactor {
  readonly name = 'previews'
  readonly #fleet: Fleet
  readonly #desk: Desk
  readonly #processes: () => readonly Seen[]
  readonly #runs = new Map<string, SideRun>()

  constructor(fleet: Fleet, desk: Desk, processes: () => readonly Seen[]) {
    this.#fleet = fleet
    this.#desk = desk
    this.#processes = processes
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'processes', 'live')) yield refTo('processes', value.id)
  }

  affectedBy({ kind, mission_id, data }: Event): Ref[] {
    if (ASKED.includes(kind)) return [refTo('processes', String(data.process))]
    return mission_id && kind === 'session_starting' ? [refTo('missions', mission_id)] : []
  }

  async look(ref: Ref): Promise<void> {
    if (isOf(ref, 'missions')) return this.#endRemote(idIn(ref))
    const process = (await this.#fleet.store.get('processes', idIn(ref)))?.value
    const run = this.#runs.get(idIn(ref))
    if (!process || process.status === 'ended' || !isHere(this.#fleet, process)) return
    if (!run) this.#begin(process)
    else if (process.stopping) this.#desk.goOn(ref, run.stop(process.stopping))
  }

  async tick(): Promise<void> {
    if (this.#runs.size === 0) return
    const processes = this.#processes()
    for (const [id, run] of this.#runs) this.#desk.goOn(refTo('processes', id), run.notice(processes))
  }

  stop(): void {
    for (const run of this.#runs.values()) run.release()
  }

  #begin(process: SideProcess): void {
    const run = new SideRun(this.#fleet, process)
    this.#runs.set(process.id, run)
    this.#desk.goOn(
      refTo('processes', process.id),
      run.run().finally(() => this.#runs.delete(process.id)),
    )
  }

  /** Remote control ends when an agent goes to work in the same files. */
  #endRemote(missionId: string): void {
    for (const [id, run] of this.#runs)
      if (run.missionId === missionId && run.kind === 'remote')
        this.#desk.goOn(refTo('processes', id), run.stop('Its agent went back to work.'))
  }
}
