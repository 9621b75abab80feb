import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent, Image, Launch } from '../../agents/index.ts'
import { programOf } from '../../agents/input.ts'
import { NotAllowed } from '../../domain/errors.ts'
import type { Mission } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import { conversationOf, type Session } from '../../domain/records/session.ts'
import { type Effective, effective } from '../../domain/rules/effective.ts'
import { COPIED, taskInWords } from '../../domain/rules/mail-prompt.ts'
import { type ChildReport, composePrompt, type HandOver } from '../../domain/rules/prompt.ts'
import { givenTo } from '../../domain/rules/script-variables.ts'
import { placeAt, pushGuardEnvironment } from '../../git/index.ts'
import { fileOf, nameOf, nextLaunch } from '../../platform/launch-folder.ts'
import { readPlain } from '../../platform/plain-files.ts'
import { sessionToken } from '../../platform/tokens.ts'
import { agentEnvironment } from '../../runner/environment.ts'
import type { LaunchOrder } from '../../runner/protocol.ts'
import { partsOf } from '../delegation/delegation.ts'
import { type Budget, budgetsOf, leftOf, tightest } from '../dispatch/budgets.ts'
import { defaultsOf } from '../dispatch/capacity.ts'
import { CONTINUES } from '../dispatch/next-session.ts'
import type { Fleet } from '../fleet.ts'
import { requireScript } from '../missions/agents.ts'
import { fitting, picturesOf } from '../missions/images.ts'
import { notesFor } from '../missions/notes.ts'
import { requireApprovals, requireEffort, requireImages } from '../missions/requirements.ts'
import { repositoryOf } from '../projects/repositories.ts'
import { dependenciesOf, newestReport, sessionsOf } from '../records.ts'
import { handToPrompt } from '../teams/handing.ts'
import { charterOf } from '../teams/sessions.ts'
import { besideMail } from '../teamwork/prompting.ts'
import { requireBudget } from './budget-rules.ts'
import { markOf } from './environment.ts'
import { whyRestarted, writtenHandOver } from './hand-over.ts'
import type { PreparedFolder } from './prepare.ts'
import { contained, sandboxFor, wallsOf } from './sandbox.ts'
import { type Attached, attach } from './session-mcp-servers.ts'
import { instructionsFor } from './system-prompt.ts'

const PROMPT_BYTES = 16 * 1024 * 1024

export interface SessionLimits extends Effective {
  /** What is left of the mission's own budget, whatever is left of the day's. */
  ownBudgetUsd: number | null
  /** The budget that limits it. */
  budget: Budget | null
}

/** The limits of a session. Its budget is its own, or what is left of the day's if that is less. */
export async function limitsOf(fleet: Fleet, mission: Mission, project: Project): Promise<SessionLimits> {
  const limits = effective(mission, project, defaultsOf(fleet))
  const budgets = await budgetsOf(fleet, mission, project)
  const budget = tightest(budgets)
  const own = budgets.find(({ daysOf, sharedBy }) => daysOf === null && !sharedBy)
  return { ...limits, ownBudgetUsd: own ? leftOf(own) : null, budget, maxBudgetUsd: budget && leftOf(budget) }
}

/** Prepares everything that the agent gets. The next step only starts it. */
export async function prepareLaunch(
  fleet: Fleet,
  agent: Agent,
  session: Session,
  mission: Mission,
  project: Project,
  place: PreparedFolder,
  url: string,
): Promise<LaunchOrder> {
  const charter = await charterOf(fleet, mission)
  requireScript(agent, charter)
  const { preset, ...rest } = await limitsOf(fleet, mission, project)
  const limits = { ...rest, preset: session.tool_preset ?? preset }
  const directory = nextLaunch(fleet.home.session(session.id), 'agent')
  const script = await fleet.blobs.read(charter.prompt)
  const asked = await promptFor(fleet, { agent, session, mission, project, charter: script })
  const remembers = session.resumes !== null && agent.can.resume && !asked.isNew
  const mail = await handToPrompt(fleet, session)
  const shared = await besideMail(fleet, session)
  const { images: shown, leftOut } = await fitting(fleet, [
    // Like the prompt, they are in the conversation that it remembers.
    ...(remembers ? [] : mission.images),
    ...(session.instructions?.images ?? []),
  ])
  const composed = composePrompt({
    reason: session.reason,
    mail: [mail.words, shared].filter(Boolean).join('\n\n'),
    prompt: asked.text,
    acceptanceCriteria: mission.acceptance_criteria,
    handOvers: await handOvers(fleet, mission, session),
    children: await childReports(fleet, mission, session),
    notes: await notesFor(fleet, mission.id),
    message: session.instructions && (await fleet.blobs.read(session.instructions)),
    conflicts: place.conflicts,
    baseBranch: project.base_branch,
    remembers,
    handedOver: await writtenHandOver(fleet, session),
    restarted: await whyRestarted(fleet, session),
  })
  const prompt = leftOut ? `${composed}\n\n${leftOut}` : composed
  requireApprovals(agent, limits.approvals)
  requireEffort(agent, mission)
  requireImages(agent, { images: [...mission.images, ...shown] })
  requireBudget(fleet, agent, { maxBudgetUsd: limits.ownBudgetUsd, model: session.model })
  const sandbox = mission.allowed_tools ? null : await sandboxFor(fleet, agent, limits.preset)
  if (sandbox) requirePrivate(session, project)
  const pictures = await picturesOf(fleet, shown)
  const images = pictures.map(({ type, name }) => ({ type, file: join(directory, name) }))
  const { servers, variables } = await attach(fleet, agent, mission, project, url)
  const token = await sessionToken(fleet.keys, session)
  const given = {
    ...{ fleet, agent, session, mission, project, place, limits, directory, script, prompt, images, servers },
    ...{ url, token },
  }
  // The sandbox holds the agent to its preset, so the client inside may do everything.
  const request = { ...requestFor(given), ...(sandbox && { preset: 'full' as const }) }
  const launched = agent.launch(request)
  const launch = sandbox
    ? contained(launched, sandbox, await wallsOf({ ...given, program: programOf(launched.argv) }))
    : launched
  const dialogue: Record<string, string> =
    agent.dialogue && launch.stdin === 'fifo'
      ? { [nameOf('dialogue')]: JSON.stringify(agent.dialogue.begin(request)) }
      : {}
  const told = givenTo(await valuesOf(fleet, mission), file => join(directory, file))
  const env = await environmentFor(fleet, session, mission, project, {
    ...{ directory, launch, url, token, variables },
    walled: sandbox !== null,
  })
  const { argv, stdin, driver } = launch
  return {
    directory,
    files: {
      [nameOf('prompt')]: prompt,
      ...(session.member_id && { [nameOf('mail')]: mail.lines }),
      ...Object.fromEntries(pictures.map(({ name, bytes }) => [name, bytes])),
      ...dialogue,
      ...told.files,
      ...launch.files,
    },
    ...{ argv, stdin, driver, cwd: place.workingDirectory },
    env: { ...env, ...told.env },
    maxBytes: fleet.settings.transcriptLimit,
  }
}

/**
 * What the agent is asked to do. A member hears its charter once in its conversation, and each task when it begins;
 * `isNew`: this conversation has not heard it yet.
 */
async function promptFor(
  fleet: Fleet,
  given: { agent: Agent; session: Session; mission: Mission; project: Project; charter: string },
): Promise<{ text: string; isNew: boolean }> {
  const { agent, session, mission, project, charter } = given
  const own = session.copies ? `${COPIED}\n\n${charter}` : charter
  if (!mission.task) return { text: own, isNew: session.copies }
  const words = taskInWords(mission, await fleet.blobs.read(mission.prompt), {
    base: project.base_branch,
    isFresh: !CONTINUES.includes(session.reason),
  })
  const before = (await sessionsOf(fleet, mission.id)).at(-2)?.value
  const isNew = before?.member_id !== session.member_id || conversationOf(before!) !== session.resumes
  const isFirst = (session.resumes === null || session.copies) && !agent.can.scripts
  return { text: isFirst ? `${own}\n\n${words}` : words, isNew: isNew || session.copies }
}

/** The variables that a script gets. */
async function valuesOf(fleet: Fleet, { script, variables }: Mission): Promise<Record<string, string>> {
  return script && variables ? (JSON.parse(await fleet.blobs.read(variables)) as Record<string, string>) : {}
}

/** Walls around a linked worktree would have to leave the person's own refs and objects open. */
function requirePrivate({ worktree, tool_preset }: Session, { id }: Project): void {
  if (!worktree || placeAt(worktree)) return
  throw new NotAllowed(
    `A linked worktree cannot be held to the preset ${tool_preset}: git in it writes to your repository.`,
    {
      try: `fleet project set ${id} --isolation private, or use the preset full`,
    },
  )
}

/** The prompt that an agent was given, even if an earlier server launched it. */
export const promptOf = (directory: string): string => readPlain(fileOf(directory, 'prompt'), PROMPT_BYTES) ?? ''

interface Everything {
  fleet: Fleet
  agent: Agent
  session: Session
  mission: Mission
  project: Project
  place: PreparedFolder
  limits: SessionLimits
  directory: string
  script: string
  prompt: string
  images: readonly Image[]
  servers: Attached['servers']
  url: string
  token: string
}

function requestFor({
  fleet,
  agent,
  session,
  mission,
  project,
  place,
  limits,
  directory,
  script,
  prompt,
  images,
  servers,
  url,
  token,
}: Everything): Parameters<Agent['launch']>[0] {
  return {
    reason: session.reason,
    prompt,
    script,
    promptFile: fileOf(directory, 'prompt'),
    images,
    directory,
    workingDirectory: place.workingDirectory,
    model: session.model,
    effort: mission.effort,
    preset: limits.preset,
    allowedTools: mission.allowed_tools,
    maxTurns: limits.maxTurns,
    maxBudgetUsd: limits.maxBudgetUsd,
    systemPrompt: instructionsFor(fleet, agent, project, mission, fileOf(directory, 'result')),
    conversation: crypto.randomUUID(),
    resumes: session.resumes,
    // A fork that begins a new conversation has nothing to copy.
    forks: (session.copies || session.reason === 'fork') && session.resumes !== null,
    approvals: limits.approvals,
    mcpServers: servers,
    environment: { ...fleet.environment, FLEET_URL: url, FLEET_TOKEN: token },
  }
}

/** The reports of its dependencies and, for a fork without the conversation, of the mission it was forked from. */
async function handOvers(fleet: Fleet, mission: Mission, session: Session): Promise<HandOver[]> {
  const dependencies = (await dependenciesOf(fleet, mission)).map(d => d.value)
  const origin =
    session.reason === 'fork' && mission.fork_of
      ? await fleet.store.get('missions', mission.fork_of.mission_id)
      : undefined
  const found = await Promise.all(
    [...dependencies, ...(origin ? [origin.value] : [])].map(before => handOver(fleet, before)),
  )
  return found.flat()
}

/** The reports of its sub-missions: for the session that waited for them, and for one that does not remember. */
async function childReports(fleet: Fleet, mission: Mission, session: Session): Promise<ChildReport[]> {
  if (session.reason !== 'children' && (session.resumes || session.number === 1)) return []
  return Promise.all(
    (await partsOf(fleet, mission)).map(async child => ({
      mission: child,
      report: (await newestReport(fleet, child.id)) ?? null,
    })),
  )
}

async function handOver(fleet: Fleet, mission: Mission): Promise<HandOver[]> {
  const report = await newestReport(fleet, mission.id)
  return report ? [{ mission, report }] : []
}

export async function environmentFor(
  fleet: Fleet,
  session: Session,
  mission: Mission,
  project: Project,
  {
    directory,
    launch,
    url,
    token,
    variables,
    walled,
  }: { directory: string; launch: Launch; url: string; token: string; variables: readonly string[]; walled: boolean },
): Promise<Record<string, string>> {
  const task = fleet.home.task(mission.id)
  const artifacts = join(task, 'artifacts')
  mkdirSync(artifacts, { recursive: true, mode: 0o700 })
  const isGuarded = session.worktree && !project.allow_push
  const guard = isGuarded ? await pushGuardEnvironment(await repositoryOf(project), { walled }) : {}
  return agentEnvironment(fleet.environment, [...project.environment, ...variables], launch.env, guard, {
    FLEET_SESSION: markOf(fleet, session.id),
    FLEET_URL: url,
    FLEET_TOKEN: token,
    FLEET_TASK_ID: mission.id,
    FLEET_TASK_DIR: task,
    FLEET_ARTIFACT_DIR: artifacts,
    FLEET_REASON: session.reason,
    FLEET_PROMPT_FILE: fileOf(directory, 'prompt'),
    ...(session.member_id && { FLEET_MAIL_FILE: fileOf(directory, 'mail') }),
    ...(mission.task && { FLEET_TEAM_TASK: mission.id }),
    FLEET_RESULT_FILE: fileOf(directory, 'result'),
  })
}
