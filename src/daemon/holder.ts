import type { Event } from '../domain/records/event.ts'
import type { Status } from '../domain/records/mission.ts'
import type { Session } from '../domain/records/session.ts'
import { isOver, needsSomebody } from '../domain/rules/delegation.ts'
import { Bridges } from '../fleet/beads/bridges.ts'
import { saveCounts } from '../fleet/counts.ts'
import { goOnAfterChildren } from '../fleet/delegation/delegation.ts'
import { Dispatcher } from '../fleet/dispatch/dispatcher.ts'
import { type Fleet, retryOnConflict } from '../fleet/fleet.ts'
import { landMission } from '../fleet/landing/landing.ts'
import { undoMission } from '../fleet/landing/undo.ts'
import { Looper } from '../fleet/loops/engine.ts'
import { heedPlan, planTold } from '../fleet/planning/plans.ts'
import { keptInWorktree } from '../fleet/previews/processes.ts'
import { Keepers } from '../fleet/previews/reactor.ts'
import { forgetProject } from '../fleet/projects/projects.ts'
import { PullRequests } from '../fleet/pull-requests/pull-requests.ts'
import { lookAtQuestions } from '../fleet/questions/overdue.ts'
import { QuestionFiles } from '../fleet/questions/question-files.ts'
import { all } from '../fleet/records.ts'
import { Scheduler } from '../fleet/schedules/scheduler.ts'
import { LiveSession } from '../fleet/sessions/live-session.ts'
import { TakeOvers } from '../fleet/takeover/reactor.ts'
import { stageMoved, takeUpWorkflow } from '../fleet/workflows/engine.ts'
import { cancelStages } from '../fleet/workflows/workflows.ts'
import { forgetMission, retire, sharedWithLater, worktreeTurns } from '../fleet/worktrees/retiring.ts'
import { SecondLook } from '../fleet/worktrees/second-look.ts'
import { Turns } from '../git/turns.ts'
import { every } from '../platform/timers.ts'
import { everything, keptIn, marksOf } from '../runner/processes.ts'
import { sweep } from '../runner/stopping.ts'

const NOTICE_EVERY_MS = 2000
const CHORES_EVERY_MS = 30_000
const PAGE = 500
/** How many events are kept for readers who come back; older ones are dropped. */
const KEEP_EVENTS = 200_000
/** What may be for an agent at work. */
const TALK = ['message', 'answered', 'interrupt_requested']
/** What begins or settles a question; an answer to one that was put aside starts a session. */
const ASKING: readonly Event['kind'][] = ['asked', 'answered', 'resumed', 'question_withdrawn']
/** What moves a mission to the hands of a person, or back. */
const TAKE_OVERS: readonly Event['kind'][] = ['takeover_requested', 'taken_over', 'hand_back_requested']
/** Results after which the worktree has nothing that is not on the base branch or in a ref. */
const SPENT = ['landed', 'no_changes']
/** What people ask of a workflow, and the holder does. */
const WORKFLOW_WISHES: readonly Event['kind'][] = [
  'workflow_created',
  'workflow_changed',
  'workflow_cancelled',
  'workflow_retried',
]

const isNewsForParent = (status: unknown): boolean =>
  typeof status === 'string' && [isOver, needsSomebody].some(is => is({ status: status as Status }))

export interface Holder {
  /** Stops deciding; agents, setup commands and checks go on. */
  stop(): Promise<void>
  /** Resolves when nothing is under way that this process started by itself. */
  settled(): Promise<void>
}

export interface HolderOptions {
  /** Where the server of this home answers, for the agents' own use. */
  url: string
  /** A fault that no one asked for: told to the log, and never the end of the loop. */
  onFault?: (what: string, error: unknown) => void
}

/** What only one process per home may do: start and end sessions, land, and tidy up. It acts on commits, its own and others'. */
export async function startHolder(fleet: Fleet, { url, onFault = () => {} }: HolderOptions): Promise<Holder> {
  const live = new Map<string, LiveSession>()
  /** By project. */
  const landings = new Turns()
  /** By mission: whoever goes on in its worktree waits until nobody removes it, and the other way round. */
  const landingNow = new Map<string, AbortController>()
  /** Landings that wait for something that passes by itself. */
  const aside = new Map<string, NodeJS.Timeout>()
  const chores = new Set<Promise<unknown>>()
  const stopped = new AbortController()
  const keepers = new Keepers(fleet, inBackground, tidyUp)
  const takeOvers = new TakeOvers(fleet, live, inBackground)
  const dispatcher = new Dispatcher(fleet, live, begin, wake, inBackground)
  const looper = new Looper(fleet, {
    signal: stopped.signal,
    inBackground,
    inTurn: (project, work) => landings.take(project, work),
  })
  const scheduler = new Scheduler(fleet, wake)
  const pullRequests = new PullRequests(fleet, {
    wake,
    inBackground,
    inTurn: (project, work) => landings.take(project, work),
    signal: stopped.signal,
  })
  const bridges = new Bridges(fleet, (what, error) => stopped.signal.aborted || onFault(what, error))
  const secondLook = new SecondLook(() => {
    const look = takeStock().then(wake)
    inBackground('second look', look)
    return look
  })
  const questionFiles = new QuestionFiles(fleet)
  let cursor = await fleet.store.tail()
  let awake: Promise<void> | null = null
  let again = false

  /** Runs in the background, is waited for at the end, and never ends the process by failing. */
  function inBackground(what: string, work: Promise<unknown>): void {
    const guarded = work
      .catch(error => stopped.signal.aborted || onFault(what, error))
      .finally(() => chores.delete(guarded))
    chores.add(guarded)
  }

  function begin(session: Session): void {
    const running = new LiveSession(fleet, session, { url, onFault, onSpent: relimitAll })
    live.set(session.id, running)
    const over = worktreeTurns
      .take(session.mission_id, async () => {})
      .then(() => running.run())
      .finally(() => {
        live.delete(session.id)
        wake()
      })
    inBackground(`session ${session.id}`, over)
    over.catch(() => secondLook.ask())
  }

  function wake(): void {
    if (stopped.signal.aborted) return
    if (awake) {
      again = true
      return
    }
    awake = turn()
      .catch(error => {
        onFault('dispatch', error)
        secondLook.ask()
      })
      .finally(() => {
        awake = null
        if (again) {
          again = false
          wake()
        }
      })
  }

  async function turn(): Promise<void> {
    for (;;) {
      const page = await fleet.store.events({ after: cursor, limit: PAGE })
      for (const event of page.events) await react(event)
      cursor = page.cursor
      // Events were dropped before they were read: look at everything, as after a start.
      if (page.reset) await takeStock()
      if (page.events.length < PAGE) break
    }
    let fault: unknown
    // What keeps one of them from its work must not keep the others from theirs.
    for (const each of [scheduler, pullRequests, dispatcher])
      await each.pass().catch(error => {
        fault ??= error
      })
    if (fault) throw fault
  }

  async function react(event: Event): Promise<void> {
    const { mission_id: mission, data } = event
    await looper.noticed(event)
    const plan = await planTold(fleet, event)
    if (plan) inBackground(`plan ${plan}`, heedPlan(fleet, plan))
    if (typeof data.workflow === 'string' && WORKFLOW_WISHES.includes(event.kind)) await pursue(data.workflow)
    if (!mission) return
    if (data.status === 'done' || data.status === 'review' || data.status === 'landing')
      await dispatcher.release(mission)
    if (event.kind === 'cancel_requested') await cancel(mission)
    if (TAKE_OVERS.includes(event.kind)) takeOvers.see(mission)
    if (data.status === 'waiting') await goOnAfterChildren(fleet, mission)
    if (isNewsForParent(data.status)) await tellParent(mission)
    if (event.kind === 'mission_deleted' && data.parent) await goOnAfterChildren(fleet, String(data.parent))
    if (event.kind === 'delegated') relimit(mission)
    if (event.kind === 'process_asked' || event.kind === 'process_stop_requested') await keepers.look()
    if (event.kind === 'session_starting') keepers.endRemote(mission)
    if (TALK.includes(event.kind)) attend(mission)
    if (ASKING.includes(event.kind)) inBackground('questions.md', questionFiles.write(mission))
    if (data.status === 'landing' || event.kind === 'undo_requested') queueLanding(mission, event.project_id!)
    if (data.status === 'done' || event.kind === 'landed' || event.kind === 'session_starting') tidyUp(mission)
    if (typeof data.status === 'string') await stageMoved(fleet, mission)
  }

  async function pursue(workflowId: string): Promise<void> {
    const workflow = (await fleet.store.get('workflows', workflowId))?.value
    if (workflow?.status === 'cancelled') await cancelStages(fleet, workflowId)
    else if (workflow) await takeUpWorkflow(fleet, workflowId)
  }

  async function tellParent(missionId: string): Promise<void> {
    const parent = (await fleet.store.get('missions', missionId))?.value.parent_mission_id
    if (parent) await goOnAfterChildren(fleet, parent)
  }

  /** Somebody spent of what all draw on today. */
  function relimitAll(): void {
    for (const session of live.values()) inBackground(`budget of ${session.missionId}`, session.relimit())
  }

  /** What it gave away of its budget it may no longer spend itself. */
  function relimit(missionId: string): void {
    for (const session of live.values())
      if (session.missionId === missionId) inBackground(`budget of ${missionId}`, session.relimit())
  }

  function attend(missionId: string): void {
    for (const session of live.values()) if (session.missionId === missionId) session.attend()
  }

  function putAside(sessionId: string): void {
    const session = live.get(sessionId)
    if (session?.canPark)
      inBackground(
        `putting ${session.id} aside`,
        session.stop({ outcome: 'parked', reason: 'It waits for an answer.' }),
      )
  }

  async function cancel(missionId: string): Promise<void> {
    landingNow.get(missionId)?.abort()
    const waiting = aside.has(missionId) && (await fleet.store.get('missions', missionId))
    if (waiting) queueLanding(missionId, waiting.value.project_id)
    for (const session of live.values()) {
      if (session.missionId === missionId)
        inBackground(`cancel ${missionId}`, session.stop({ outcome: 'cancelled', reason: 'A person cancelled it.' }))
    }
  }

  /** One landing at a time per project; a mission that has to wait for a person steps aside by ending its turn. */
  function queueLanding(missionId: string, projectId: string): void {
    const turn = landings.take(projectId, () =>
      worktreeTurns.take(missionId, async () => {
        if (stopped.signal.aborted) return
        const asked = new AbortController()
        landingNow.set(missionId, asked)
        try {
          // Only a person ends a landing; when the server goes, its checks go on and the next one takes them up.
          const { signal } = asked
          const mission = await fleet.store.get('missions', missionId)
          if (mission?.value.undo) await undoMission(fleet, missionId, signal)
          else if (mission) lookAgain(missionId, projectId, await landMission(fleet, missionId, signal))
        } finally {
          landingNow.delete(missionId)
        }
      }),
    )
    inBackground(`landing ${missionId}`, turn)
    turn.catch(() => secondLook.ask())
  }

  /** A landing that waits for something that passes by itself; after a restart all of them are looked at anyway. */
  function lookAgain(missionId: string, projectId: string, after: number | undefined): void {
    clearTimeout(aside.get(missionId))
    aside.delete(missionId)
    if (after === undefined || stopped.signal.aborted) return
    const look = () => {
      aside.delete(missionId)
      queueLanding(missionId, projectId)
    }
    aside.set(missionId, setTimeout(look, after).unref())
  }

  function tidyUp(missionId: string): void {
    inBackground(
      `tidying after ${missionId}`,
      worktreeTurns.take(missionId, () => tidy(missionId)),
    )
  }

  /** Worktrees that are spent, and those a new branch has replaced. */
  async function tidy(missionId: string): Promise<void> {
    const mission = (await fleet.store.get('missions', missionId))?.value
    const project = mission && (await fleet.store.get('projects', mission.project_id))?.value
    if (!mission || !project || mission.deleting) return
    const spent = mission.status === 'done' && SPENT.includes(mission.result ?? '')
    for await (const { value: session } of all(fleet, 'sessions', 'mission', [missionId])) {
      if (
        session.status !== 'ended' ||
        !session.worktree_kept ||
        !session.worktree ||
        !session.end_commit ||
        session.left_behind
      )
        continue
      if (await sharedWithLater(fleet, session)) continue
      // Its end is looked at here again.
      if ((await keptInWorktree(fleet, session)).length) continue
      if (spent || session.id !== mission.session_id) await retire(fleet, session, project)
    }
  }

  /** Everything that may have been left undone: sessions to take up, landings to finish, wishes nobody carried out. */
  async function takeStock(): Promise<void> {
    for await (const { value } of all(fleet, 'sessions', 'live')) {
      // A person's own session is run by their terminal.
      if (!live.has(value.id) && value.reason !== 'takeover') begin(value)
    }
    for await (const { value } of all(fleet, 'missions', 'cancelling')) await cancel(value.id)
    for await (const { value } of all(fleet, 'missions', 'landing'))
      if (!landingNow.has(value.id)) queueLanding(value.id, value.project_id)
    for await (const { value } of all(fleet, 'missions', 'status', ['waiting']))
      await goOnAfterChildren(fleet, value.id)
    for await (const { value } of all(fleet, 'missions', 'unready'))
      await dispatcher.reconsider(value.id, value.depends_on[0] ?? '')
    for await (const { value } of all(fleet, 'workflows', 'active')) await pursue(value.id)
    const kept = await Array.fromAsync(all(fleet, 'sessions', 'worktree'))
    for (const id of new Set(kept.map(({ value }) => value.mission_id))) tidyUp(id)
    await keepers.look()
    await takeOvers.look()
    inBackground('deleting', finishDeleting())
    for await (const { value } of all(fleet, 'plans', 'open'))
      inBackground(`plan ${value.id}`, heedPlan(fleet, value.id))
    const asking = await Array.fromAsync(all(fleet, 'questions', 'open'))
    for (const id of new Set(asking.map(({ value }) => value.mission_id)))
      inBackground('questions.md', questionFiles.write(id))
    await looper.takeStock()
  }

  async function finishDeleting(): Promise<void> {
    const by = { actor: 'fleet', now: fleet.now() }
    for await (const { value } of all(fleet, 'missions', 'deleting')) await forgetMission(fleet, value.id, by)
    for await (const { value } of all(fleet, 'projects', 'deleting')) await forgetProject(fleet, value, by)
  }

  /** Processes of sessions and of kept programs that are over, which a crash kept from being ended with them. */
  async function sweepOrphans(): Promise<void> {
    for (const mark of marksOf(fleet.home.id)) {
      const kept = keptIn(mark)
      const owner = kept
        ? await fleet.store.get('processes', kept)
        : await fleet.store.get('sessions', mark.slice(fleet.home.id.length + 1))
      if (owner?.value.status === 'ended' || (kept && !owner))
        await sweep(() => ({ mark, root: null, worktree: null, known: new Map() }))
    }
  }

  await takeStock()
  inBackground('sweeping', sweepOrphans())
  const unwatch = fleet.store.watch(wake)
  const notice = () => {
    inBackground('questions', lookAtQuestions(fleet, putAside))
    looper.lookAtBudgets()
    inBackground('take-overs', takeOvers.look())
    inBackground('beads', bridges.look())
    if (live.size + keepers.size === 0) return
    const all = everything()
    keepers.notice(all)
    for (const session of live.values()) session.notice(all)
  }
  const noticing = every(NOTICE_EVERY_MS, notice, error => onFault('looking at processes', error))
  const keepHouse = () => {
    inBackground('sweeping', sweepOrphans())
    inBackground('kept programs', keepers.look())
    inBackground(
      'counts',
      retryOnConflict(() => saveCounts(fleet)),
    )
    inBackground('events', fleet.store.trimEvents(KEEP_EVENTS))
  }
  const housekeeping = every(CHORES_EVERY_MS, keepHouse, error => onFault('housekeeping', error))
  keepHouse()
  wake()

  return {
    async stop() {
      stopped.abort()
      unwatch()
      clearInterval(noticing)
      clearInterval(housekeeping)
      secondLook.stop()
      dispatcher.stop()
      scheduler.stop()
      for (const timer of aside.values()) clearTimeout(timer)
      pullRequests.stop()
      keepers.release()
      for (const session of live.values()) session.release()
      await awake
    },
    async settled() {
      while (awake || chores.size) await Promise.allSettled([awake, ...chores])
    },
  }
}
