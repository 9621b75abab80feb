import { NotAllowed, Unfit } from '../../domain/errors.ts'
import type { Mission, TakenOver } from '../../domain/records/mission.ts'
import { ProcessTree } from '../../runner/process-tree.ts'
import { identityOf, isAlive } from '../../runner/processes.ts'
import { readDaemon } from '../../store/index.ts'
import type { Fleet } from '../fleet.ts'
import { current } from '../records.ts'
import { markOf } from '../sessions/environment.ts'
import { worktreeTurns } from '../worktrees/retiring.ts'
import type { HeldTerminals } from './held.ts'
import { handBackMission, openConversation } from './takeover.ts'
import { type Size, Terminal, type Viewer } from './terminal.ts'

const RETRY_MS = 5000
const END_MS = 500
const LOOK_AGAIN_SECONDS = 1

/** Variables of the terminal in which the server was started, which would confuse a client in another one. */
const OF_OTHER_TERMINALS = ['TMUX', 'TMUX_PANE', 'STY', 'WINDOW', 'WINDOWID', 'TERMCAP', 'COLUMNS', 'LINES']

/** The client of one take-over. The next take-over of the mission has another session, and a client of its own. */
interface Held {
  session: string | null
  opening: Promise<Terminal>
}

/**
 * The terminals that this server holds for pages. A mission that is taken over here names this process, so if it dies,
 * the next one finds that and hands the mission back.
 */
export class Terminals implements HeldTerminals {
  readonly #fleet: Fleet
  readonly #onFault: (what: string, error: unknown) => void
  /** By mission. */
  readonly #open = new Map<string, Held>()
  readonly #waiting = new Map<string, NodeJS.Timeout>()
  #isClosed = false

  constructor(fleet: Fleet, onFault: (what: string, error: unknown) => void) {
    this.#fleet = fleet
    this.#onFault = onFault
  }

  get identity(): TakenOver['terminal'] {
    const identity = identityOf(process.pid)
    if (!identity) throw new Unfit('This process was not found on this machine.')
    return { ...identity, host: null }
  }

  holds({ taken_over }: Mission): boolean {
    return taken_over?.page === true && taken_over.terminal.pid === process.pid && isAlive(taken_over.terminal)
  }

  async attach(missionId: string, viewer: Viewer, size: Size): Promise<Terminal> {
    const mission = (await current(this.#fleet, 'missions', missionId)).value
    if (this.#isClosed) throw new NotAllowed('The server is stopping.')
    if (!this.holds(mission)) throw new NotAllowed(`Mission ${missionId} is not taken over in a page.`)
    const terminal = await (this.#heldFor(mission) ?? this.#hold(mission, size)).opening
    clearTimeout(this.#waiting.get(missionId))
    this.#waiting.delete(missionId)
    terminal.attach(viewer)
    terminal.resize(size)
    return terminal
  }

  async detach(missionId: string, viewer: Viewer, { signedOut }: { signedOut: boolean }): Promise<void> {
    const terminal = await this.#open.get(missionId)?.opening.catch(() => undefined)
    if (terminal?.detach(viewer)) this.expectPage(missionId, signedOut ? 0 : undefined)
  }

  /** Ends all clients. The next server hands their missions back. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#waiting.values()) clearTimeout(timer)
    const held = Array.from(this.#open.values())
    const opened = await Promise.allSettled(held.map(({ opening }) => opening))
    for (const each of opened) if (each.status === 'fulfilled') each.value.hangUp()
    const marks = held.flatMap(({ session }) => (session ? [markOf(this.#fleet, session)] : []))
    await Promise.all(marks.map(mark => new ProcessTree({ mark, worktree: null }).stop(END_MS)))
  }

  /** Undefined: no page has opened it since it was taken over. */
  #heldFor({ id, taken_over }: Mission): Held | undefined {
    const held = this.#open.get(id)
    return held?.session === taken_over?.session_id ? held : undefined
  }

  #hold(mission: Mission, size: Size): Held {
    const held = { session: mission.taken_over!.session_id, opening: this.#start(mission, size) }
    this.#open.set(mission.id, held)
    held.opening.catch(() => {
      if (this.#open.get(mission.id) === held) this.#open.delete(mission.id)
    })
    return held
  }

  /** In the turn of its worktree: a client that started after the hand-back would write what nobody collects. */
  #start({ id }: Mission, size: Size): Promise<Terminal> {
    return worktreeTurns.take(id, async () => {
      const mission = (await current(this.#fleet, 'missions', id)).value
      const url = readDaemon(this.#fleet.home.path)?.url ?? null
      const { argv, cwd, variables } = await openConversation(this.#fleet, mission, url)
      const environment = { ...this.#fleet.environment, ...variables }
      for (const name of OF_OTHER_TERMINALS) delete environment[name]
      return Terminal.start({ argv, cwd, environment }, size)
    })
  }

  expectPage(missionId: string, seconds = this.#fleet.settings.terminalGrace): void {
    clearTimeout(this.#waiting.get(missionId))
    if (this.#isClosed) return
    this.#waiting.set(
      missionId,
      setTimeout(() => this.#nobodyCame(missionId), seconds * 1000),
    )
  }

  async #nobodyCame(missionId: string): Promise<void> {
    try {
      const mission = (await this.#fleet.store.get('missions', missionId))?.value
      const terminal = mission && (await this.#heldFor(mission)?.opening)
      if (terminal?.isWatched || this.#isClosed) return
      if (!mission || !this.holds(mission) || mission.taken_over?.next) return this.#forget(missionId)
      // A page cannot open what is not ready yet: its time begins when the agent has stopped.
      if (!(await this.#canBeOpened(mission)))
        return this.expectPage(missionId, Math.max(LOOK_AGAIN_SECONDS, this.#fleet.settings.terminalGrace))
      const ask = { operation: 'hand_back_mission', actor: 'fleet' }
      await handBackMission(this.#fleet, ask, missionId, { next: 'keep', terminal: this.identity })
      this.#forget(missionId)
    } catch (error) {
      this.#onFault(`handing back mission ${missionId}`, error)
      this.expectPage(missionId, RETRY_MS / 1000)
    }
  }

  async #canBeOpened({ taken_over }: Mission): Promise<boolean> {
    const session = taken_over?.session_id && (await this.#fleet.store.get('sessions', taken_over.session_id))
    return session ? session.value.status === 'running' : false
  }

  #forget(missionId: string): void {
    this.#open.delete(missionId)
    this.#waiting.delete(missionId)
  }
}
