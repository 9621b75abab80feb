import { join } from 'node:path'
import { NotAllowed, Unfit } from '../../domain/errors.ts'
import { newId, shortId } from '../../domain/ids.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Engine, Project } from '../../domain/records/project.ts'
import { conversationOf, isFull, Session, type SessionReason } from '../../domain/records/session.ts'
import { effective } from '../../domain/rules/effective.ts'
import { branchName, branchTip, guardMark, isAncestor, mergeTips, type Repository, slug } from '../../git/index.ts'
import type { Fleet } from '../fleet.ts'
import { requireRunner } from '../missions/agents.ts'
import { requireInstalled } from '../missions/requirements.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { dependenciesOf } from '../records.ts'
import { requireCopied, toCopy } from '../teams/continuing.ts'
import { agentMemberOf, charterOf, newestOf } from '../teams/sessions.ts'
import { defaultsOf } from './capacity.ts'

/**
 * These continue in the worktree and on the branch of the session before, and in its conversation while that has room.
 */
export const CONTINUES: readonly SessionReason[] = [
  ...(['resume', 'conflict', 'hand_over', 'takeover', 'children', 'mail', 'terminal'] as const),
]

type WorktreeFields = Pick<Session, 'worktree' | 'branch' | 'branch_from' | 'start_commit' | 'base_tip' | 'guard_mark'>

/**
 * The next session of a queued mission, with everything it starts from. Nothing is made yet: the first commit writes
 * this down.
 */
export async function planSession(fleet: Fleet, mission: Mission, project: Project): Promise<Session> {
  // A script that a member runs is its charter, never the text of a task.
  const { script } = await charterOf(fleet, mission)
  const { name: agent } = requireRunner(fleet, { ...mission, script }, project)
  const { model, contextLimit, preset, ...limits } = effective(mission, project, defaultsOf(fleet))
  const engine = await requireEngine(fleet, agent, limits.engine, mission.engine)
  await requireInstalled(fleet, fleet.agents.driven({ agent, engine }))
  const reason = mission.next?.reason ?? 'first'
  const previous = mission.session_id ? (await fleet.store.get('sessions', mission.session_id))?.value : undefined
  const memberId = agentMemberOf(mission)
  const of = memberId ? await newestOf(fleet, memberId) : undefined
  // A member has one worktree and one conversation for life.
  const goesOn = CONTINUES.includes(reason) || mission.member !== null
  const continued = goesOn && previous?.branch && previous.start_commit ? previous : undefined
  const origin =
    reason === 'fork' && mission.fork_of
      ? (await fleet.store.get('sessions', mission.fork_of.session_id))?.value
      : undefined
  const copied = of && (await toCopy(fleet, of))
  const remembered = copied ?? (origin && mission.fork_of?.conversation ? origin : of ? of.newest : continued)
  // A conversation belongs to one client. Another client, or one that cannot resume, starts a new one in the same worktree.
  const takesUp = remembered?.agent === agent && fleet.agents.ofSession(agent).can.resume
  const resumes = takesUp && hasRoom(remembered, reason, contextLimit) ? conversationOf(remembered) : null
  if (copied) requireCopied(copied, resumes)
  // A person's instructions are given to a conversation that has not had them yet.
  const unheard = continued && (resumes === null || continued.conversation === null) ? continued.instructions : null
  const id = newId()
  return Session.parse({
    id,
    mission_id: mission.id,
    project_id: project.id,
    member_id: memberId,
    host: fleet.home.host,
    number: mission.sessions + 1,
    reason,
    agent,
    model,
    tool_preset: preset,
    engine,
    status: 'starting',
    instructions: mission.next?.instructions ?? unheard,
    created_at: fleet.now(),
    ...(project.worktree === 'git' &&
      (await worktreeFieldsOf(fleet, mission, project, { id, agent, reason, continued, origin, of }))),
    worktree_kept: project.worktree === 'git',
    resumes,
    copies: copied !== undefined,
  })
}

/**
 * A full conversation would be stopped at its first word, so a new one continues. In a take-over the person decides.
 */
const hasRoom = ({ context }: Session, reason: SessionReason, limit: number): boolean =>
  reason === 'takeover' || (reason !== 'hand_over' && !isFull(context, limit))

/** A default engine that the agent does not have is ignored. Only a mission that asks for it is refused. */
async function requireEngine(fleet: Fleet, name: string, engine: Engine, asked: Engine | null): Promise<Engine> {
  const { title, engines } = fleet.agents.named(name)
  const driven = engines?.[engine]
  if (!driven && asked === 'sdk')
    throw new NotAllowed(`${title} cannot be driven through an SDK.`, { try: 'Leave out the engine, or use claude.' })
  if (!driven || engine === 'cli') return 'cli'
  const { installed, advice } = await driven.detect(fleet.environment)
  if (!installed) throw new Unfit(advice ?? `${driven.title} is not installed.`)
  return engine
}

interface Plan {
  id: string
  agent: string
  reason: SessionReason
  continued: Session | undefined
  /** The session that a fork starts from. */
  origin: Session | undefined
  /** The member that works at it, with its newest session. */
  of: Awaited<ReturnType<typeof newestOf>> | undefined
}

async function worktreeFieldsOf(
  fleet: Fleet,
  mission: Mission,
  project: Project,
  { id, agent, reason, continued, origin, of }: Plan,
): Promise<WorktreeFields> {
  const repository = await repositoryOf(project)
  const [tip, guard_mark] = await Promise.all([
    branchTip(repository, project.base_branch),
    // Only a linked worktree shares anything that has to be watched.
    project.isolation === 'linked' ? guardMark(repository) : null,
  ])
  if (!tip)
    throw new Unfit(`The base branch ${project.base_branch} is gone from ${project.path}.`, {
      try: `fleet project set ${project.id} --base <branch>`,
    })
  // Landed work is on the base branch already, so a person continues from there, in the folder of the conversation.
  const hasLanded = mission.taken_over?.was.result === 'landed'
  // A member without work of its own sees the base branch as it is now.
  const isStale =
    mission.member !== null && continued?.end_commit === continued?.start_commit && tip !== continued?.start_commit
  const name = of && mission.task ? of.member.handle : mission.title
  const place = join(fleet.home.worktrees, project.id, `${slug(name)}-${shortId(id)}`)
  const newBranch = () => branchName(repository, { agent, title: mission.title, id: shortId(id) })
  const isOthers = mission.task !== null && continued?.member_id !== (of?.member.id ?? null)
  const worktree = of?.newest?.worktree ?? (!continued || of || isOthers ? place : continued.worktree)
  if (continued && !hasLanded && !isStale) {
    // In a conflict the base is merged into the branch, so changes are counted from there.
    const start_commit = reason === 'conflict' ? tip : continued.start_commit
    // Another member goes on from the same work on a branch of their own.
    return {
      worktree,
      branch: isOthers ? await newBranch() : continued.branch,
      branch_from: continued.end_commit ?? continued.start_commit,
      start_commit,
      base_tip: tip,
      guard_mark,
    }
  }
  const shared =
    mission.start_from === 'share' && !origin ? await lastSessionOf(fleet, mission.depends_on[0]) : undefined
  if (shared)
    return {
      worktree: shared.worktree,
      branch: shared.branch,
      branch_from: shared.end_commit,
      start_commit: shared.end_commit,
      base_tip: tip,
      guard_mark,
    }
  const start_commit = origin?.start_commit ?? (await startPoint(fleet, repository, mission, tip))
  return {
    worktree,
    branch: await newBranch(),
    branch_from: origin?.end_commit ?? start_commit,
    start_commit,
    base_tip: tip,
    guard_mark,
  }
}

/** The newest session of a mission, if it left work. */
async function lastSessionOf(fleet: Fleet, missionId: string | undefined): Promise<Session | undefined> {
  const mission = missionId ? await fleet.store.get('missions', missionId) : undefined
  const session = mission?.value.session_id ? await fleet.store.get('sessions', mission.value.session_id) : undefined
  return session?.value.end_commit ? session.value : undefined
}

/** The named start, or the unlanded work of dependencies (several are merged), or the base branch. */
async function startPoint(fleet: Fleet, repository: Repository, mission: Mission, baseTip: string): Promise<string> {
  if (mission.base_ref) return mission.base_ref
  if (mission.start_from === 'clean') return baseTip
  const dependencies = (await dependenciesOf(fleet, mission)).map(d => d.value)
  const ends = await Promise.all(dependencies.map(d => unlandedEnd(fleet, repository, d, baseTip)))
  const tips = ends.filter(end => end !== undefined)
  if (tips.length === 0) return baseTip
  // Dependencies that have landed are part of it too.
  if (dependencies.some(d => d.result === 'landed')) tips.push(baseTip)
  const merged = await mergeTips(repository, tips)
  if ('commit' in merged) return merged.commit
  throw new Unfit(
    `The work it starts from cannot be merged: ${merged.conflicts.map(c => c.path).join(', ')} in conflict between ${dependencies.map(d => d.title).join(' and ')}.`,
    {
      try: 'Land them first, or let it depend on one of them only.',
    },
  )
}

/** The end of a dependency's work that is not on the base branch. One that changed nothing passes on its own start. */
async function unlandedEnd(
  fleet: Fleet,
  repository: Repository,
  dependency: Mission,
  baseTip: string,
): Promise<string | undefined> {
  if (dependency.result === 'landed') return undefined
  const end = (await lastSessionOf(fleet, dependency.id))?.end_commit
  const isBase = dependency.result === 'no_changes' && end && (await isAncestor(repository, end, baseTip))
  return end && !isBase ? end : undefined
}
