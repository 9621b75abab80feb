import { existsSync, mkdirSync } from 'node:fs'
import { emptyDigest } from '../../agents/index.ts'
import { isOfTheStore, NotAllowed } from '../../domain/errors.ts'
import type { Event } from '../../domain/records/event.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Outcome, Session } from '../../domain/records/session.ts'
import { about, toPerson } from '../../domain/rules/life.ts'
import { named } from '../../domain/rules/named.ts'
import * as takeover from '../../domain/rules/takeover.ts'
import { Turns } from '../../git/turns.ts'
import { ProcessTree } from '../../runner/process-tree.ts'
import { isAlive } from '../../runner/processes.ts'
import type { Change } from '../../store/index.ts'
import { planSession } from '../dispatch/next-session.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all, current, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { endSession } from '../sessions/ending.ts'
import { markOf } from '../sessions/environment.ts'
import type { LiveSession } from '../sessions/live-session.ts'
import { prepareFolder } from '../sessions/prepare.ts'
import { isHere, updateSession } from '../sessions/record.ts'
import { setUp } from '../sessions/set-up.ts'
import { memberHold, ofMember } from '../teams/sessions.ts'
import { retire, worktreeTurns } from '../worktrees/retiring.ts'

/** Events that give a mission to a person, or back. */
const TAKE_OVERS: readonly Event['kind'][] = ['takeover_requested', 'taken_over', 'hand_back_requested']

/**
 * Lets people go on with missions themselves. The state is in the mission's record and in that of the session that
 * stands for the person, so every look finds the next step, even after a crash.
 */
export class TakeOvers implements Reactor {
  readonly name = 'take-overs'
  readonly #fleet: Fleet
  readonly #desk: Desk
  readonly #live: ReadonlyMap<string, LiveSession>
  readonly #turns = new Turns()
  readonly #awaited = new Set<string>()
  readonly #stopping = new Set<string>()

  constructor(fleet: Fleet, desk: Desk, live: ReadonlyMap<string, LiveSession>) {
    this.#fleet = fleet
    this.#desk = desk
    this.#live = live
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'missions', 'taken_over')) yield refTo('missions', value.id)
  }

  affectedBy({ kind, mission_id }: Event): Ref[] {
    return mission_id && TAKE_OVERS.includes(kind) ? [refTo('missions', mission_id)] : []
  }

  /** A terminal that ends does not say so. */
  async tick(): Promise<void> {
    for await (const ref of this.unfinished()) await this.#desk.attempt(ref, () => this.look(ref))
  }

  async look(ref: Ref): Promise<void> {
    const missionId = idIn(ref)
    // One look that runs and one behind it are enough, however often it is asked for.
    if (this.#awaited.has(missionId)) return
    this.#awaited.add(missionId)
    const look = this.#turns.take(missionId, () => {
      this.#awaited.delete(missionId)
      return this.#step(missionId)
    })
    this.#desk.goOn(ref, look)
  }

  async #step(missionId: string): Promise<void> {
    const mission = (await this.#fleet.store.get('missions', missionId))?.value
    const taken = mission?.taken_over
    if (!mission || !taken) return
    const agent = [...this.#live.values()].find(session => session.missionId === missionId)
    if (taken.page && !taken.next && isHere(this.#fleet, taken.terminal) && !isAlive(taken.terminal))
      return this.#decide(missionId, (now, by) => takeover.pageGone(now, agent !== undefined, by))
    if (agent) return this.#stopAgent(mission, agent)
    if (mission.status !== 'needs_input' || mission.asking || !isHere(this.#fleet, taken.terminal)) return
    if (!taken.session_id) return this.#begin(mission)
    const session = (await current(this.#fleet, 'sessions', taken.session_id)).value
    if (!isHere(this.#fleet, session)) return
    if (taken.next) return this.#end(session, 'completed', 'A person handed it back.')
    if (session.status === 'starting') return this.#prepare(session, mission)
    if (!taken.gone && !isAlive(taken.terminal)) await this.#decide(missionId, takeover.terminalGone)
  }

  /** Stops the agent for the person. A look after its end goes on here. */
  async #stopAgent(mission: Mission, agent: LiveSession): Promise<void> {
    if (mission.taken_over?.next && !agent.isStopping) return this.#decide(mission.id, takeover.notTaken)
    if (this.#stopping.has(agent.id)) return
    this.#stopping.add(agent.id)
    const stopped = agent.handOver(mission.asking ? 0 : this.#fleet.settings.takeoverWait)
    this.#desk.goOn(
      refTo('missions', mission.id),
      stopped.finally(() => this.#stopping.delete(agent.id)),
    )
  }

  /** Begins a session that stands for the person: it has the worktree and the conversation, and ends like any other. */
  async #begin({ id }: Mission): Promise<void> {
    await retryOnConflict(async () => {
      const { value: mission, version } = await current(this.#fleet, 'missions', id)
      const taken = mission.taken_over
      if (!taken || taken.session_id) return
      const { value: project } = await current(this.#fleet, 'projects', mission.project_id)
      const { value: last } = await current(this.#fleet, 'sessions', mission.session_id!)
      let session: Session
      let held: Change[]
      try {
        if (taken.was.result === 'landed' && !last.left_behind)
          await worktreeTurns.take(id, () => retire(this.#fleet, last, project))
        const asked = { ...mission, agent: last.agent, next: { reason: 'takeover' as const, instructions: null } }
        session = await planSession(this.#fleet, asked, project)
        const hold = await memberHold(this.#fleet, mission)
        if (hold?.kind === 'member') throw new NotAllowed(`${hold.text}.`)
        held = await ofMember(this.#fleet, session)
        if (!session.resumes) throw new Error('the session that was stopped left no conversation to continue')
      } catch (error) {
        if (isOfTheStore(error)) throw error
        return this.#decide(id, (now, by) =>
          toPerson(
            { ...now, taken_over: null },
            {
              code: 'takeover_failed',
              text: `It could not be taken over: ${sentence(error)}`,
              try: `fleet mission resume ${id}`,
            },
            by,
          ),
        )
      }
      const next: Mission = {
        ...mission,
        session_id: session.id,
        session_ids: named(mission.session_ids, session.id),
        sessions: session.number,
        branch: session.branch,
        taken_over: { ...taken, session_id: session.id },
        updated_at: this.#fleet.now(),
      }
      const event = about(mission, 'session_starting', this.#by(), {
        session_id: session.id,
        data: { agent: session.agent, reason: session.reason },
      })
      await this.#fleet.commit('commit.session-start', {
        changes: [
          put('missions', next, version),
          put('sessions', { ...session, conversation: session.resumes }, 'absent'),
          ...held,
        ],
        events: [event],
      })
    })
    await this.look(refTo('missions', id))
  }

  async #prepare(session: Session, mission: Mission): Promise<void> {
    const project = (await current(this.#fleet, 'projects', session.project_id)).value
    try {
      await worktreeTurns.take(mission.id, () => this.#place(session, mission, project))
    } catch (error) {
      if (isOfTheStore(error)) throw error
      return this.#end(session, 'failed', sentence(error))
    }
    const { pid, started } = mission.taken_over!.terminal
    const running = { status: 'running', started_at: this.#fleet.now(), pid, process_started: started } as const
    await updateSession(this.#fleet, session, 'commit.session-running', running, { event: 'session_running' })
  }

  /** Makes the worktree again if it was cleaned up. One that exists stays as the agent left it. */
  async #place(session: Session, mission: Mission, project: Project): Promise<void> {
    const directory = this.#fleet.home.session(session.id)
    // The folder marks the worktree as new, even for the next server if this one stops.
    const isNew = existsSync(directory) || !existsSync(session.worktree!)
    if (isNew) mkdirSync(directory, { recursive: true, mode: 0o700 })
    await prepareFolder(this.#fleet, session, mission, project)
    const mark = markOf(this.#fleet, session.id)
    const { signal } = new AbortController()
    if (isNew) await setUp(this.#fleet, project, { session, mission, directory, mark, signal })
  }

  /** Ends what the client left running, commits what the person left in the worktree, and moves the mission on. */
  async #end(session: Session, outcome: Outcome, reason: string): Promise<void> {
    const stopping = session.stopping ?? { outcome, reason }
    await updateSession(this.#fleet, session, 'commit.session-stopping', { stopping })
    const agent = this.#fleet.agents.ofSession(session.agent)
    const digest = { ...emptyDigest(), lastText: 'A person worked on it in their own terminal.' }
    const tree = new ProcessTree({ mark: markOf(this.#fleet, session.id), worktree: null })
    // One turn for both, so that no client starts after the last one was ended.
    await worktreeTurns.take(session.mission_id, async () => {
      const over = {
        exit: { code: null },
        digest,
        directory: this.#fleet.home.session(session.id),
        swept: await tree.stop(this.#fleet.settings.graceSeconds * 1000),
        fault: null,
        spentBudget: null,
        workedSeconds: 0,
      }
      await endSession(this.#fleet, agent, session, over)
    })
  }

  async #decide(
    missionId: string,
    decide: (mission: Mission, by: { actor: string; now: string }) => takeover.Step,
  ): Promise<void> {
    await retryOnConflict(async () => {
      const { value, version } = await current(this.#fleet, 'missions', missionId)
      if (!value.taken_over) return
      const { mission, events } = decide(value, this.#by())
      await this.#fleet.commit('commit.session-noted', { changes: [put('missions', mission, version)], events })
    })
  }

  #by = () => ({ actor: 'fleet', now: this.#fleet.now() })
}
