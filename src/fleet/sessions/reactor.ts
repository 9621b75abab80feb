import type { Event } from '../../domain/records/event.ts'
import { isInTerminal, type Session } from '../../domain/records/session.ts'
import type { Seen } from '../../runner/processes.ts'
import type { Fleet } from '../fleet.ts'
import { type Desk, idIn, isOf, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all } from '../records.ts'
import { worktreeTurns } from '../worktrees/retiring.ts'
import { LiveSession } from './live-session.ts'
import { isHere } from './record.ts'

/** Events that may concern an agent at work: a message for it, its end, or less to spend. */
const FOR_AGENTS: readonly Event['kind'][] = [
  'message',
  'answered',
  'interrupt_requested',
  'cancel_requested',
  'delegated',
]

interface Around {
  /** Where the server of this home answers, for the agents' own use. */
  url: string
  onFault(what: string, error: unknown): void
  /** The processes of this machine, seen a moment ago. */
  processes(): readonly Seen[]
  /** A session has ended, so another one can start. */
  freed(): void
}

/** Runs the sessions of the home, each until its end. */
export class Sessions implements Reactor {
  readonly name = 'sessions'
  readonly live = new Map<string, LiveSession>()
  readonly #fleet: Fleet
  readonly #desk: Desk
  readonly #around: Around

  constructor(fleet: Fleet, desk: Desk, around: Around) {
    this.#fleet = fleet
    this.#desk = desk
    this.#around = around
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'sessions', 'live')) yield refTo('sessions', value.id)
    for await (const { value } of all(this.#fleet, 'missions', 'cancelling')) yield refTo('missions', value.id)
  }

  affectedBy({ kind, mission_id, session_id }: Event): Ref[] {
    if ((kind === 'session_claimed' || kind === 'member_health') && session_id) return [refTo('sessions', session_id)]
    return mission_id && FOR_AGENTS.includes(kind) ? [refTo('missions', mission_id)] : []
  }

  async look(ref: Ref): Promise<void> {
    if (isOf(ref, 'sessions')) await this.#takeUp(idIn(ref))
    else await this.#tell(idIn(ref))
  }

  begin(session: Session): void {
    const { onFault, url } = this.#around
    const running = new LiveSession(this.#fleet, session, { url, onFault, onSpent: () => this.#relimitAll() })
    this.live.set(session.id, running)
    const over = worktreeTurns
      .take(session.mission_id, async () => {})
      .then(() => running.run())
      .finally(() => {
        this.live.delete(session.id)
        this.#around.freed()
      })
    this.#desk.goOn(refTo('sessions', session.id), over)
  }

  /** An agent that waits long for an answer makes room for others. */
  putAside(sessionId: string): void {
    const session = this.live.get(sessionId)
    if (session?.canPark)
      this.#desk.goOn(
        refTo('sessions', sessionId),
        session.stop({ outcome: 'parked', reason: 'It waits for an answer.' }),
      )
  }

  async tick(): Promise<void> {
    if (this.live.size === 0) return
    const processes = this.#around.processes()
    for (const session of this.live.values()) session.notice(processes)
  }

  stop(): void {
    for (const session of this.live.values()) session.release()
  }

  /** Takes up a session of this host that nothing runs. What is in a terminal is not run here. */
  async #takeUp(id: string): Promise<void> {
    const session = (await this.#fleet.store.get('sessions', id))?.value
    if (!session || session.status === 'ended' || isInTerminal(session)) return
    const running = this.live.get(id)
    if (running) running.heed(session)
    else if (isHere(this.#fleet, session)) this.begin(session)
  }

  async #tell(missionId: string): Promise<void> {
    const isCancelled = (await this.#fleet.store.get('missions', missionId))?.value.cancel_requested
    for (const session of this.live.values()) {
      if (session.missionId !== missionId) continue
      if (isCancelled)
        this.#desk.goOn(
          refTo('missions', missionId),
          session.stop({ outcome: 'cancelled', reason: 'A person cancelled it.' }),
        )
      session.attend()
      this.#relimit(session)
    }
  }

  /** Somebody spent from the daily budget that all share. */
  #relimitAll(): void {
    for (const session of this.live.values()) this.#relimit(session)
  }

  #relimit(session: LiveSession): void {
    this.#desk.goOn(refTo('missions', session.missionId), session.relimit())
  }
}
