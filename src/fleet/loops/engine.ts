import { isOfTheStore, Refusal } from '../../domain/errors.ts'
import type { Event } from '../../domain/records/event.ts'
import {
  budgetLeft,
  isLoopOver,
  type Loop,
  type LoopEnd,
  type Move,
  nextMove,
  type Round,
  type Standing,
} from '../../domain/records/loop.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import { branchTip } from '../../git/index.ts'
import type { Turns } from '../../git/turns.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { runChecks } from '../landing/checks.ts'
import { requestCancel } from '../missions/missions.ts'
import { approvePlan, lesser, planRequest, rejectPlan } from '../planning/plans.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { type Desk, idIn, type Reactor, type Ref, refTo } from '../reactor.ts'
import { all, current, derivedId, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { loopEvent } from './loops.ts'
import { costOf, historyOf, standingOf } from './standing.ts'

/** How many unexpected faults in a row end a loop, with the fault as its reason. */
const MAX_FAULTS = 5
/** Short enough that fifty of them fit into the record of a loop. */
const ROUND_TEXT_CHARS = 300
const FLEET = { operation: 'loop', actor: 'fleet' }

interface Active {
  projectId: string
  hasBudget: boolean
  looking: boolean
  again: boolean
  faults: number
  checks: AbortController
}

/**
 * Drives the loops of a home. The next step follows from the records alone, so a new server continues where the last
 * one stopped.
 */
export class Loops implements Reactor {
  readonly name = 'loops'
  readonly #fleet: Fleet
  readonly #desk: Desk
  /** By project. Checks take turns with landings, because they share a worktree. */
  readonly #turns: Turns
  readonly #active = new Map<string, Active>()

  constructor(fleet: Fleet, desk: Desk, turns: Turns) {
    this.#fleet = fleet
    this.#desk = desk
    this.#turns = turns
  }

  async *unfinished(): AsyncGenerator<Ref> {
    for await (const { value } of all(this.#fleet, 'loops', 'active')) yield refTo('loops', value.id)
  }

  affectedBy({ kind, project_id, data }: Event): Ref[] {
    if (kind === 'loop_started') return [refTo('loops', String(data.loop))]
    if (data.status === undefined && !/^(plan|loop)_/.test(kind)) return []
    const concerned = [...this.#active].filter(([, active]) => active.projectId === project_id)
    if (kind === 'loop_stopping') for (const [, active] of concerned) active.checks.abort()
    return concerned.map(([id]) => refTo('loops', id))
  }

  /** No event announces what agents at work have spent. */
  async tick(): Promise<void> {
    for (const [id, { hasBudget }] of this.#active) if (hasBudget) this.#look(id)
  }

  async look(ref: Ref): Promise<void> {
    const loop = (await this.#fleet.store.get('loops', idIn(ref)))?.value
    if (!loop || isLoopOver(loop)) return
    if (!this.#active.has(loop.id))
      this.#active.set(loop.id, {
        projectId: loop.project_id,
        hasBudget: loop.max_budget_usd !== null,
        looking: false,
        again: false,
        faults: 0,
        checks: new AbortController(),
      })
    this.#look(loop.id)
  }

  #look(id: string): void {
    const active = this.#active.get(id)
    if (!active || this.#desk.signal.aborted) return
    active.again = active.looking
    if (active.looking) return
    active.looking = true
    const done = this.#goOn(id, active).finally(() => {
      active.looking = false
      if (active.again) this.#look(id)
    })
    this.#desk.goOn(refTo('loops', id), done)
  }

  async #goOn(id: string, active: Active): Promise<void> {
    try {
      while (!this.#desk.signal.aborted && (await this.#step(id, active)));
      active.faults = 0
    } catch (error) {
      if (isOfTheStore(error)) throw error
      active.faults++
      if (error instanceof Refusal || active.faults >= MAX_FAULTS)
        await this.#end(id, { status: 'failed', code: 'fault', text: `It could not continue. ${sentence(error)}` })
      else throw error
    }
  }

  /** Whether something was done, so that there may be more to do. */
  async #step(id: string, active: Active): Promise<boolean> {
    const loop = (await this.#fleet.store.get('loops', id))?.value
    if (!loop || isLoopOver(loop)) {
      this.#active.delete(id)
      return false
    }
    const standing = await standingOf(this.#fleet, loop)
    const move = nextMove(loop, standing)
    if (move.do === 'wait') return false
    return (await this.#make(move, loop, standing, active)) !== 'nothing'
  }

  async #make(move: Exclude<Move, { do: 'wait' }>, loop: Loop, standing: Standing, active: Active): Promise<unknown> {
    switch (move.do) {
      case 'plan':
        return this.#plan(loop)
      case 'approve':
        return this.#approve(loop, standing)
      case 'check':
        return this.#turns.take(loop.project_id, () => this.#check(loop, standing, active.checks.signal))
      case 'reject':
        return rejectPlan(this.#fleet, FLEET, standing.plan!.id, 'Its loop has ended.')
      case 'cancel':
        return this.#cancel(move.missions)
      case 'end round':
        return this.#endRound(loop, standing, move)
      case 'end':
        return this.#end(loop.id, move.end)
      case 'close':
        return this.#close(loop.id)
    }
  }

  /** A mission that cannot be cancelled now is changing, and its event wakes this reactor again. */
  async #cancel(missions: readonly string[]): Promise<'nothing' | undefined> {
    let cancelled = 0
    for (const mission of missions)
      await requestCancel(this.#fleet, FLEET, mission).then(
        () => cancelled++,
        error => {
          if (!(error instanceof Refusal)) throw error
        },
      )
    return cancelled ? undefined : 'nothing'
  }

  async #plan(loop: Loop): Promise<void> {
    const fleet = this.#fleet
    const { value: project } = await current(fleet, 'projects', loop.project_id)
    const number = loop.rounds.length + 1
    const request = await planRequest(fleet, project, {
      id: derivedId('round', loop.id, String(number)),
      goal: await fleet.blobs.read(loop.goal),
      agent: loop.agent,
      model: loop.model,
      scripts: loop.scripts,
      max_budget_usd: lesser(project.max_budget_usd, budgetLeft(loop)),
      loop: { id: loop.id, round: number, of: loop.max_rounds, history: await historyOf(fleet, loop) },
    })
    await this.#change(loop.id, ({ rounds, status }, when) => {
      if (status !== 'running' || rounds.length !== loop.rounds.length) return null
      const { plan, changes, events } = request(when)
      const round: Round = {
        number,
        plan_id: plan.id,
        outcome: null,
        text: '',
        cost_usd: 0,
        started_at: when.now,
        ended_at: null,
      }
      return { loop: { rounds: [...rounds, round] }, kind: 'loop_round', data: { round: number }, changes, events }
    })
  }

  async #approve(loop: Loop, standing: Standing): Promise<void> {
    const plan = standing.plan!
    try {
      await approvePlan(this.#fleet, FLEET, plan.id)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      // A person may have decided about it just now. Then that decision counts.
      if ((await current(this.#fleet, 'plans', plan.id)).value.status !== 'proposed') return
      await rejectPlan(this.#fleet, FLEET, plan.id, sentence(error))
      await this.#endRound(loop, standing, { outcome: 'planning_failed', text: sentence(error) })
    }
  }

  /** The planner says that everything is done. The project's checks on the base branch decide. */
  async #check(loop: Loop, standing: Standing, signal: AbortSignal): Promise<void> {
    const fleet = this.#fleet
    const { value: project } = await current(fleet, 'projects', loop.project_id)
    const plan = standing.plan!
    const { value: mission } = await current(fleet, 'missions', plan.mission_id)
    const repository = await repositoryOf(project)
    const commit = await branchTip(repository, project.base_branch)
    if (!commit)
      return this.#end(loop.id, {
        status: 'failed',
        code: 'base_gone',
        text: `The base branch ${project.base_branch} is gone.`,
      })
    if (project.checks.length === 0 && !loop.unchecked)
      return this.#endRound(loop, standing, { outcome: 'checks_failed', text: 'The project has no checks.' })
    const subject = { mission, project, repository, commit, purpose: 'goal' as const, since: plan.created_at, signal }
    const failure = await runChecks(fleet, subject)
    if (signal.aborted) return
    if (failure) return this.#endRound(loop, standing, { outcome: 'checks_failed', text: failure.text })
    const proof = project.checks.length ? `Its checks pass on ${commit}.` : 'There are no checks.'
    await this.#endRound(loop, standing, { outcome: 'complete', text: `${proof} ${plan.reason}` })
  }

  async #endRound(
    loop: Loop,
    standing: Standing,
    end: Pick<Round, 'text'> & { outcome: NonNullable<Round['outcome']> },
  ) {
    const cost_usd = await costOf(this.#fleet, [...standing.missions, ...(standing.planner ? [standing.planner] : [])])
    await this.#change(loop.id, ({ rounds, status }, when) => {
      const last = rounds.at(-1)
      if (status === 'stopping' || !last || last.outcome) return null
      const text = clipped(end.text, ROUND_TEXT_CHARS)
      const round: Round = { ...last, outcome: end.outcome, text, cost_usd, ended_at: when.now }
      const data = { round: round.number, outcome: end.outcome }
      return { loop: { rounds: [...rounds.slice(0, -1), round] }, kind: 'loop_round', data, cause: text }
    })
  }

  #end(id: string, end: LoopEnd): Promise<void> {
    const ending = { ...end, text: clipped(end.text, MAX_REASON_CHARS) }
    return this.#change(id, ({ status }) =>
      status === 'stopping'
        ? null
        : { loop: { status: 'stopping', ending }, kind: 'loop_stopping', cause: ending.text },
    )
  }

  #close(id: string): Promise<void> {
    return this.#change(id, ({ ending }, { now }) => ({
      loop: { status: ending!.status, ended_at: now },
      kind: 'loop_ended',
      data: { outcome: ending!.status, code: ending!.code },
      cause: ending!.text,
    }))
  }

  async #change(
    id: string,
    decide: (loop: Loop, when: { actor: string; now: string }) => LoopChange | null,
  ): Promise<void> {
    await retryOnConflict(async () => {
      const { value, version } = await current(this.#fleet, 'loops', id)
      const when = { actor: 'fleet', now: this.#fleet.now() }
      const decided = isLoopOver(value) ? null : decide(value, when)
      if (!decided) return
      const loop: Loop = { ...value, ...decided.loop, updated_at: when.now }
      await this.#fleet.commit('commit.loop', {
        changes: [put('loops', loop, version), ...(decided.changes ?? [])],
        events: [...(decided.events ?? []), loopEvent(loop, decided.kind, when, decided.data, decided.cause)],
      })
    })
  }
}

interface LoopChange extends Partial<Pick<ReturnType<Awaited<ReturnType<typeof planRequest>>>, 'changes' | 'events'>> {
  loop: Partial<Loop>
  kind: 'loop_round' | 'loop_stopping' | 'loop_ended'
  data?: Record<string, unknown>
  cause?: string
}
