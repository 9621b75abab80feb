import { existsSync, mkdirSync } from 'node:fs'
import { emptyDigest } from '../../agents/index.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Outcome, Session } from '../../domain/records/session.ts'
import { about, toPerson } from '../../domain/rules/life.ts'
import * as takeover from '../../domain/rules/takeover.ts'
import { Turns } from '../../git/turns.ts'
import { isAlive } from '../../runner/processes.ts'
import { stopTree } from '../../runner/stopping.ts'
import { planSession } from '../dispatch/next-session.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { all, current, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { endSession } from '../sessions/ending.ts'
import { markOf } from '../sessions/launch.ts'
import type { LiveSession } from '../sessions/live-session.ts'
import { preparePlace, setUp } from '../sessions/prepare.ts'
import { retire, worktreeTurns } from '../worktrees/retiring.ts'

/**
 * Missions that people go on with themselves, for whoever holds the home. Where one stands is in its record and in that
 * of the session which stands for it, so that every look finds the next step, also after a crash.
 */
export class TakeOvers {
  readonly #fleet: Fleet
  readonly #live: ReadonlyMap<string, LiveSession>
  readonly #inBackground: (what: string, work: Promise<unknown>) => void
  readonly #turns = new Turns()
  readonly #awaited = new Set<string>()
  readonly #stopping = new Set<string>()

  constructor(
    fleet: Fleet,
    live: ReadonlyMap<string, LiveSession>,
    inBackground: (what: string, work: Promise<unknown>) => void,
  ) {
    this.#fleet = fleet
    this.#live = live
    this.#inBackground = inBackground
  }

  /** All of them: after a start, and now and then because terminals end without a word. */
  async look(): Promise<void> {
    for await (const { value } of all(this.#fleet, 'missions', 'taken_over')) this.see(value.id)
  }

  see(missionId: string): void {
    // One at work and one that looks again afterwards are enough, however often it is asked for.
    if (this.#awaited.has(missionId)) return
    this.#awaited.add(missionId)
    const look = this.#turns.take(missionId, () => {
      this.#awaited.delete(missionId)
      return this.#step(missionId)
    })
    this.#inBackground(`take-over of ${missionId}`, look)
  }

  async #step(missionId: string): Promise<void> {
    const mission = (await this.#fleet.store.get('missions', missionId))?.value
    const taken = mission?.taken_over
    if (!mission || !taken) return
    const agent = [...this.#live.values()].find(session => session.missionId === missionId)
    if (agent) return this.#stopAgent(mission, agent)
    if (mission.status !== 'needs_input' || mission.asking) return
    if (!taken.session_id) return this.#begin(mission)
    const session = (await current(this.#fleet, 'sessions', taken.session_id)).value
    if (taken.next) return this.#end(session, 'completed', 'A person handed it back.')
    if (session.status === 'starting') return this.#prepare(session, mission)
    if (!taken.gone && !isAlive(taken.terminal)) await this.#decide(missionId, takeover.terminalGone)
  }

  /** Its end leads back here. */
  async #stopAgent(mission: Mission, agent: LiveSession): Promise<void> {
    if (mission.taken_over?.next && !agent.isStopping) return this.#decide(mission.id, takeover.notTaken)
    if (this.#stopping.has(agent.id)) return
    this.#stopping.add(agent.id)
    const stopped = agent.handOver(mission.asking ? 0 : this.#fleet.settings.takeoverWait)
    this.#inBackground(
      `handing over ${agent.id}`,
      stopped.finally(() => this.#stopping.delete(agent.id)),
    )
  }

  /** A session that stands for the person: it has the worktree and the conversation, and ends like any other. */
  async #begin({ id }: Mission): Promise<void> {
    await retryOnConflict(async () => {
      const { value: mission, version } = await current(this.#fleet, 'missions', id)
      const taken = mission.taken_over
      if (!taken || taken.session_id) return
      const { value: project } = await current(this.#fleet, 'projects', mission.project_id)
      const { value: last } = await current(this.#fleet, 'sessions', mission.session_id!)
      let session: Session
      try {
        if (taken.was.result === 'landed' && !last.left_behind)
          await worktreeTurns.take(id, () => retire(this.#fleet, last, project))
        const asked = { ...mission, agent: last.agent, next: { reason: 'takeover' as const, instructions: null } }
        session = await planSession(this.#fleet, asked, project)
        if (!session.resumes) throw new Error('the session that was stopped left no conversation to go on with')
      } catch (error) {
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
        ],
        events: [event],
      })
    })
    this.see(id)
  }

  async #prepare(session: Session, mission: Mission): Promise<void> {
    const project = (await current(this.#fleet, 'projects', session.project_id)).value
    try {
      await worktreeTurns.take(mission.id, () => this.#place(session, mission, project))
    } catch (error) {
      return this.#end(session, 'failed', sentence(error))
    }
    const { pid, started } = mission.taken_over!.terminal
    await this.#update(session.id, 'commit.session-running', {
      status: 'running',
      started_at: this.#fleet.now(),
      pid,
      process_started: started,
    })
  }

  /** The worktree, made again if it was cleaned away; one that is there is as the agent left it. */
  async #place(session: Session, mission: Mission, project: Project): Promise<void> {
    const directory = this.#fleet.home.session(session.id)
    // The folder says that the worktree is new, also to a server that takes this up.
    const isNew = existsSync(directory) || !existsSync(session.worktree!)
    if (isNew) mkdirSync(directory, { recursive: true, mode: 0o700 })
    await preparePlace(this.#fleet, session, mission, project)
    const mark = markOf(this.#fleet, session.id)
    const { signal } = new AbortController()
    if (isNew) await setUp(this.#fleet, project, { session, mission, directory, mark, signal })
  }

  /** Whatever the client left running goes, what the person left in the worktree is committed, and the mission moves on. */
  async #end(session: Session, outcome: Outcome, reason: string): Promise<void> {
    await this.#update(session.id, 'commit.session-stopping', { stopping: session.stopping ?? { outcome, reason } })
    const mark = markOf(this.#fleet, session.id)
    const swept = await stopTree(
      () => ({ mark, root: null, worktree: null, known: new Map() }),
      this.#fleet.settings.graceSeconds * 1000,
    )
    const agent = this.#fleet.agents.ofSession(session.agent)
    const digest = { ...emptyDigest(), lastText: 'A person worked on it in their own terminal.' }
    const over = {
      exit: { code: null },
      digest,
      directory: this.#fleet.home.session(session.id),
      swept,
      fault: null,
      spentBudget: null,
    }
    await worktreeTurns.take(session.mission_id, () => endSession(this.#fleet, agent, session.id, over))
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

  async #update(
    id: string,
    name: 'commit.session-running' | 'commit.session-stopping',
    change: Partial<Session>,
  ): Promise<void> {
    await retryOnConflict(async () => {
      const { value, version } = await current(this.#fleet, 'sessions', id)
      if (value.status === 'ended') return
      const subject = { id: value.mission_id, project_id: value.project_id }
      const events =
        name === 'commit.session-running'
          ? [about(subject, 'session_running', this.#by(), { session_id: id, data: { pid: change.pid } })]
          : []
      await this.#fleet.commit(name, { changes: [put('sessions', { ...value, ...change }, version)], events })
    })
  }

  #by = () => ({ actor: 'fleet', now: this.#fleet.now() })
}
