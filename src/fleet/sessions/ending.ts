import { existsSync } from 'node:fs'
import { AdapterFault, type Agent, type Digest, type Ending, type Exit } from '../../agents/index.ts'
import { isOfTheStore } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { NewEvent } from '../../domain/records/event.ts'
import type { Mission, StatusReason } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { Claim, fitted, Report, statusOf } from '../../domain/records/report.ts'
import { keptRefs, type Outcome, type Session } from '../../domain/records/session.ts'
import type { Told } from '../../domain/records/told.ts'
import { effective } from '../../domain/rules/effective.ts'
import { ended as missionAfter, NOTHING_DONE } from '../../domain/rules/ending.ts'
import { about, type By } from '../../domain/rules/life.ts'
import { clipped, MAX_REASON_CHARS } from '../../domain/text.ts'
import { type Changes, type Collected, changes, commitLeftovers, mergeBase, type Repository } from '../../git/index.ts'
import { fileOf, nameOf } from '../../platform/launch-folder.ts'
import type { Change } from '../../store/index.ts'
import { defaultsOf } from '../dispatch/capacity.ts'
import { spent } from '../dispatch/holds.ts'
import { CONTINUES } from '../dispatch/next-session.ts'
import { providerAfter } from '../dispatch/windows.ts'
import { type Fleet, retryOnConflict } from '../fleet.ts'
import { reasonToReview } from '../landing/review-reasons.ts'
import { landingMessage } from '../landing/trailers.ts'
import { fitting, withImages } from '../missions/images.ts'
import { answerOf, proposed } from '../planning/answers.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { inWords, questionsOf, sentenceOf } from '../questions/questions.ts'
import { asTheyAre, current, inOrder, put } from '../records.ts'
import { sentence } from '../sentences.ts'
import { lostInWords } from '../teams/continuing.ts'
import { memberOf } from '../teams/sessions.ts'
import { leftIn } from '../worktrees/retiring.ts'
import { submittedClaim } from './inside.ts'
import { type Held, heldSession } from './record.ts'
import { readResult } from './results.ts'
import { gitWithin } from './sandbox.ts'

/** How an agent's process ended, before anyone looked at what it left behind. */
export interface Over {
  exit: Exit
  digest: Digest
  directory: string
  swept: number
  /** Why its output could not be read, if it could not. */
  fault: string | null
  /** The ending if its budget is spent: a client that stops itself cannot say which budget that was. */
  spentBudget: Ending | null
  workedSeconds: number
  longestPause?: number
}

interface Work {
  /** Work that no commit holds. */
  leftBehind: string | null
  /** The commit from which its changes are counted. */
  from: string | null
  collected: Collected | null
  changes: Changes
  concern: StatusReason | null
}

const NO_CHANGES: Changes = { files: [], filesOmitted: 0, commits: [], commitsOmitted: 0, descends: true }

/**
 * Ends a session: commits what was left, asks git what changed, then writes the report and moves the mission on. The
 * last two are one commit of the store.
 */
export async function endSession(fleet: Fleet, agent: Agent, held: Held, over: Over): Promise<void> {
  const { value: session } = await heldSession(fleet, held)
  const { value: mission } = await current(fleet, 'missions', session.mission_id)
  const { value: project } = await current(fleet, 'projects', session.project_id)
  const submitted = await submittedClaim(fleet, session)
  const { claim, problem } = submitted ? { claim: submitted, problem: null } : writtenClaim(over.directory)
  let ending: Ending = session.stopping ?? (await putAside(fleet, session, outcomeOf(agent, session, over)))
  const summary = claim ? claim.summary : ending.forgotten ? '' : over.digest.result?.text || over.digest.lastText
  let work: Work = { leftBehind: null, from: null, collected: null, changes: NO_CHANGES, concern: null }
  try {
    work = await collectWork(fleet, session, mission, project, summary)
  } catch (error) {
    if (isOfTheStore(error)) throw error
    // The worktree stays: nothing is lost, but nothing may land from it. A session that never ran has already said why.
    const isGone = session.worktree !== null && !existsSync(session.worktree)
    const why = isGone
      ? `Its worktree is gone; what it had committed is on the branch ${session.branch}.`
      : `Its work could not be committed and is kept in ${session.worktree}: ${sentence(error)}`
    work = { ...work, leftBehind: isGone || session.status === 'starting' ? null : why }
    if (ending.outcome !== 'cancelled' && session.status !== 'starting') ending = { outcome: 'failed', reason: why }
  }
  // What it did to the shared repository is always reported: it may have failed because of that, or to hide it.
  if (work.concern && ending.outcome !== 'completed')
    ending = { ...ending, reason: `${ending.reason} ${work.concern.text}` }
  const told = makeReport(session, { claim, problem }, summary, ending.outcome, work.changes, fleet.now())
  const report = { ...told, candidate: work.collected?.tip ?? null }
  const wanted = mission.planning !== null && ending.outcome === 'completed' && report.status !== 'blocked'
  const answer = wanted ? await answerOf(fleet, agent, mission.planning!, over.directory) : null
  await commitEnd(fleet, agent, session, project, { ending, work, report, over, answer })
}

/**
 * A conversation that the client has lost is nobody's failure: a new one goes on, with the work so far in its prompt.
 */
function outcomeOf(agent: Agent, session: Session, over: Over): Ending {
  const { resumes, reason, copies } = session
  const ending = toldOutcome(agent, over)
  if (ending.forgotten && copies)
    return { ...ending, reason: clipped(lostInWords(agent.title, session, ending.reason), MAX_REASON_CHARS) }
  if (!ending.forgotten || resumes === null || !CONTINUES.includes(reason)) return { ...ending, forgotten: false }
  const why = `${agent.title} no longer has the conversation ${resumes}; the mission continues in a new one. ${ending.reason}`
  return { outcome: 'lost', reason: why, uncounted: true, forgotten: true }
}

function toldOutcome(agent: Agent, { digest, exit, fault, spentBudget }: Over): Ending {
  if (fault !== null) return { outcome: 'failed', reason: fault }
  try {
    const ending = agent.outcome(digest, exit)
    return ending.outcome === 'limited' && spentBudget ? spentBudget : ending
  } catch (error) {
    if (!(error instanceof AdapterFault)) throw error
    return { outcome: 'failed', reason: error.message }
  }
}

/** An agent that ended its turn well, but said that it waits for something, is parked. */
async function putAside(fleet: Fleet, session: Session, ending: Ending): Promise<Ending> {
  if (ending.outcome !== 'completed') return ending
  const { value: mission } = await current(fleet, 'missions', session.mission_id)
  const asked = (await questionsOf(fleet, session, mission)).filter(({ value }) => value.through === 'tool')
  if (asked.some(({ value: { status, delivered } }) => status === 'open' || (status === 'answered' && !delivered)))
    return { outcome: 'parked', reason: 'It waits for an answer.' }
  if (!session.awaits?.children.length) return ending
  return { outcome: 'parked', reason: `It waits for its sub-missions: ${session.awaits.children.join(', ')}.` }
}

async function collectWork(
  fleet: Fleet,
  session: Session,
  mission: Mission,
  project: Project,
  summary: string,
): Promise<Work> {
  if (!session.worktree || !session.branch)
    return { leftBehind: null, from: null, collected: null, changes: NO_CHANGES, concern: null }
  const repository = await repositoryOf(project)
  const message = landingMessage(mission, session, summary, { member: await memberOf(fleet, session) })
  const collected = await commitLeftovers({
    worktree: session.worktree,
    branch: session.branch,
    message,
    never: project.copy_files,
    start: session.start_commit!,
    within: await gitWithin(fleet, session, mission, project),
  })
  const { from, changed } = await ownChanges(repository, session.start_commit!, collected)
  return {
    leftBehind: leftIn(collected, project),
    collected,
    changes: changed,
    from,
    concern: await reasonToReview({ fleet, session, project, repository, collected, from }),
  }
}

/** Its changes since it began or, if it did not merge a base branch as it should have, since it parted from that. */
async function ownChanges(
  repository: Repository,
  start: string,
  { tip, changes: known }: Collected,
): Promise<{ from: string; changed: Changes }> {
  const changed = known ?? (await changes(repository, start, tip))
  const from = changed.descends ? start : ((await mergeBase(repository, start, tip)) ?? start)
  return { from, changed: from === start ? changed : await changes(repository, from, tip) }
}

interface Claimed {
  claim: Claim | null
  /** Why the file it left is not a report. */
  problem: string | null
}

/** The report that an agent left as a file. */
function writtenClaim(directory: string): Claimed {
  const file = fileOf(directory, 'result')
  if (!existsSync(file)) return { claim: null, problem: null }
  const { success, data, error } = Claim.safeParse(readResult(file))
  if (success) return { claim: data, problem: null }
  const { path, message } = error.issues[0]!
  const where = path.map(String).join('.') || 'the whole file'
  return { claim: null, problem: clipped(`${nameOf('result')}, ${where}: ${message}`, 1000) }
}

function makeReport(
  session: Session,
  { claim, problem }: Claimed,
  lastWords: string,
  outcome: Outcome,
  changed: Changes,
  now: string,
): Report {
  // Without a worktree nobody looked for changes.
  const hasChanged = changed.files.length > 0 || (!session.worktree && claim?.status !== 'completed_no_changes')
  return fitted(
    Report.parse({
      ...(claim ?? { summary: lastWords.slice(0, 4000) }),
      status: statusOf(outcome, claim?.status ?? null, hasChanged),
      claimed_status: claim?.status ?? null,
      id: newId(),
      mission_id: session.mission_id,
      session_id: session.id,
      project_id: session.project_id,
      source: claim ? 'agent' : 'git',
      problem,
      files_changed: changed.files,
      files_omitted: changed.filesOmitted,
      commits: changed.commits,
      created_at: now,
    }),
  )
}

interface End {
  ending: Ending
  work: Work
  report: Report
  over: Over
  /** The answer of a planner. */
  answer: Awaited<ReturnType<typeof answerOf>> | null
}

async function commitEnd(
  fleet: Fleet,
  agent: Agent,
  ended: Session,
  project: Project,
  { ending, work, report, over, answer }: End,
): Promise<void> {
  const { collected, changes: changed, concern } = work
  await retryOnConflict(async () => {
    const mission = await current(fleet, 'missions', ended.mission_id)
    const session = await heldSession(fleet, ended)
    if (session.value.status === 'ended') return
    const { landing, maxRetries } = effective(mission.value, project, defaultsOf(fleet))
    const retries = ending.outcome === 'failed' ? restartsOf(fleet, mission.value, maxRetries) : maxRetries
    const now = { actor: 'fleet', now: fleet.now() }
    const isPutAside = ending.outcome === 'parked' && !mission.value.taken_over
    const talk = await talkLeft(fleet, mission.value, session.value, isPutAside)
    const candidate = collected && { commit: collected.tip, session_id: ended.id, at: now.now }
    const step = missionAfter(
      { ...mission.value, candidate },
      {
        ...ending,
        report,
        landing,
        // Nothing brings back what its client does not have.
        maxRetries: ending.forgotten && ended.copies ? 0 : retries,
        concern,
        unheard: talk.unheard,
        question: talk.question,
        unusable: answer && 'problem' in answer ? answer : null,
        changed: changed.files.length > 0,
        isolated: ended.worktree !== null,
        added: collected !== null && collected.tip !== session.value.branch_from,
      },
      now,
    )
    const next = endedRecord(session.value, { ending, work, over }, now.now)
    const proposal = answer && 'plan' in answer ? await proposed(fleet, step.mission, answer.plan, now) : null
    const events = [...eventsOf(step, next, { ending, over, talk }, now), ...(proposal?.events ?? [])]
    const changes = [
      put('missions', step.mission, mission.version),
      put('sessions', next, session.version),
      put(
        'reports',
        step.mission.status_reason?.code === NOTHING_DONE ? { ...report, status: 'failed' } : report,
        'absent',
      ),
      ...talk.changes,
      ...(proposal?.changes ?? []),
      ...(await spent(fleet, next)),
      ...(await providerAfter(fleet, agent.provider, {
        windows: over.digest.windows,
        hold: ending.outcome === 'rate_limited' ? { until: step.mission.not_before, reason: ending.reason } : null,
      })),
    ]
    await fleet.commit('commit.session-ended', { changes, events })
  })
}

/** An agent of a team that fails at a task is started again like one that fails at its mail. */
const restartsOf = ({ settings }: Fleet, { task, max_retries }: Mission, maxRetries: number): number =>
  task?.assignee?.is_agent && max_retries === null ? Math.max(maxRetries, settings.memberRestarts) : maxRetries

/** The session's record with everything that is known about its end. */
function endedRecord(
  session: Session,
  { ending, work, over }: Pick<End, 'ending' | 'work' | 'over'>,
  now: string,
): Session {
  const { collected, changes: changed } = work
  return {
    ...session,
    status: 'ended',
    outcome: ending.outcome,
    outcome_reason: clipped(ending.reason, MAX_REASON_CHARS),
    exit_code: over.exit.code,
    end_commit: collected?.tip ?? session.end_commit,
    left_behind: work.leftBehind && clipped(work.leftBehind, MAX_REASON_CHARS),
    kept_refs: keptRefs(session, collected?.kept),
    descends_from: changed.descends ? work.from : null,
    landable:
      collected?.committed === true && changed.commits.length === 1 && changed.descends && !collected.unfinished,
    conversation: over.digest.conversation ?? session.conversation,
    resumes: ending.forgotten ? null : session.resumes,
    usage: over.digest.usage,
    used_model: over.digest.model ?? session.used_model,
    context: over.digest.context,
    retrying: null,
    worked_seconds: Math.max(over.workedSeconds, session.worked_seconds),
    longest_pause: Math.max(over.longestPause ?? 0, session.longest_pause),
    ended_at: now,
  }
}

function eventsOf(
  step: ReturnType<typeof missionAfter>,
  { id: session_id, agent, usage }: Session,
  { ending, over, talk }: Pick<End, 'ending' | 'over'> & { talk: TalkLeft },
  now: By,
): NewEvent[] {
  // Totals are folded from this event, so it has everything they count.
  const data = { outcome: ending.outcome, exit_code: over.exit.code, agent, usage }
  return [
    ...(over.swept ? [about(step.mission, 'swept', now, { session_id, data: { processes: over.swept } })] : []),
    about(step.mission, 'session_ended', now, { session_id, cause: ending.reason, data }),
    ...talk.events.map(([kind, told]) => about(step.mission, kind, now, { session_id, data: told })),
    ...step.events,
  ]
}

interface TalkLeft {
  changes: Change[]
  events: ['message_missed' | 'question_withdrawn', Record<string, string>][]
  unheard: Told | null
  question: string | null
}

/** More at once would not fit into the commit that ends a session. The rest stays as it is. */
const MOST_TALK = 20

/** Messages that were not heard and questions that were not answered when a session ends. */
export async function talkLeft(fleet: Fleet, mission: Mission, session: Session, parked: boolean): Promise<TalkLeft> {
  const said = await asTheyAre(fleet, 'messages', { index: 'waiting', equals: [session.id] }, session.messages)
  const unheard = inOrder(said.filter(({ value }) => value.status === 'waiting'))
  const messages = unheard.slice(0, MOST_TALK)
  const asked = (await questionsOf(fleet, session, mission)).reverse().slice(0, MOST_TALK)
  const open = asked.filter(({ value }) => value.status === 'open')
  // Answers that came too late for this session, such as in the moment it was parked. The next session gets them. While
  // another question is open they wait for its answer, and then go with it.
  const goNow = parked && open.length === 0
  const late = asked.filter(
    ({ value }) => value.status === 'answered' && !value.delivered && (goNow || value.kind === 'interruption'),
  )
  const texts = [
    ...late.map(({ value }) => inWords(value)),
    // Mail goes back into its queue.
    ...(await Promise.all(
      unheard.filter(({ value }) => !value.delivery_id).map(({ value }) => fleet.blobs.read(value.text)),
    )),
  ]
  const shown = unheard.flatMap(({ value }) => value.text.images ?? [])
  const { images, leftOut } = await fitting(fleet, shown)
  if (leftOut) texts.push(leftOut)
  const withdrawn = parked ? [] : open
  return {
    changes: [
      ...messages.map(({ value, version }) => put('messages', { ...value, status: 'missed' as const }, version)),
      ...withdrawn.map(({ value, version }) => put('questions', { ...value, status: 'withdrawn' as const }, version)),
      ...late.map(({ value, version }) => put('questions', { ...value, delivered: true }, version)),
    ],
    events: [
      ...messages.map(({ value }): TalkLeft['events'][number] => ['message_missed', { message: value.id }]),
      ...withdrawn.map(({ value }): TalkLeft['events'][number] => ['question_withdrawn', { question: value.id }]),
    ],
    unheard: texts.length ? withImages(await fleet.blobs.keep(texts.join('\n\n')), images) : null,
    question: open[0] ? sentenceOf(open[0].value) : null,
  }
}
