import { createHash } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import type { Agent } from '../../agents/index.ts'
import { NotAllowed } from '../../domain/errors.ts'
import type { Mission, MissionSettings } from '../../domain/records/mission.ts'
import type { Project } from '../../domain/records/project.ts'
import type { Session } from '../../domain/records/session.ts'
import type { Member, MemberTerminal } from '../../domain/records/team.ts'
import { effective } from '../../domain/rules/effective.ts'
import { type By, inTerminal } from '../../domain/rules/life.ts'
import { fileOf, nameOf, newestLaunch, nextLaunch, writeFiles } from '../../platform/launch-folder.ts'
import { sessionToken } from '../../platform/tokens.ts'
import { ProcessTree } from '../../runner/process-tree.ts'
import type { Pane } from '../../tmux/tmux.ts'
import { type Ask, by, oncePerKey } from '../commands.ts'
import { defaultsOf } from '../dispatch/capacity.ts'
import { planSession } from '../dispatch/next-session.ts'
import type { Fleet } from '../fleet.ts'
import { current, put } from '../records.ts'
import { markOf } from '../sessions/environment.ts'
import { environmentFor } from '../sessions/launch.ts'
import { prepareFolder } from '../sessions/prepare.ts'
import { attach } from '../sessions/session-mcp-servers.ts'
import { setUp } from '../sessions/set-up.ts'
import { instructionsFor } from '../sessions/system-prompt.ts'
import { liveOf } from '../teams/sessions.ts'
import { aboutTeam } from '../teams/teams.ts'
import { worktreeTurns } from '../worktrees/retiring.ts'
import { requirePlaced, tmuxOf, windowOf } from './panes.ts'
import { startScript } from './start-script.ts'

const START = 'start'

/** Refuses what a client in a terminal cannot be held to. */
export function requireInTerminal(
  fleet: Fleet,
  name: string,
  settings: Partial<MissionSettings>,
  project: Project,
): void {
  const agent = fleet.agents.named(name)
  if (!agent.inTerminal)
    throw new NotAllowed(`${agent.title} cannot be a member in tmux: the fleet does not know its screen.`, {
      try: `Leave out --tmux, or use one of ${withTerminals(fleet).join(', ')}.`,
    })
  if (settings.max_budget_usd)
    throw new NotAllowed(`What ${agent.title} spends in a terminal is not measured, so it cannot have a budget.`, {
      try: 'Leave the budget out, or let it run headless.',
    })
  const mission = { ...settings, tool_preset: settings.tool_preset ?? null } as Mission
  const { preset } = effective(mission, project, defaultsOf(fleet))
  if (!agent.can.presets.includes(preset))
    throw new NotAllowed(`${agent.title} in a terminal cannot be held to the preset ${preset}.`, {
      try: `Use one of: ${agent.can.presets.join(', ')}; or let it run headless, in the sandbox.`,
    })
}

const withTerminals = (fleet: Fleet): string[] =>
  fleet.agents.all.filter(({ inTerminal }) => inTerminal).map(({ name }) => name)

/** Commits the wish for a terminal: a session that lasts as long as it. The reactor opens it. */
export async function openTerminal(fleet: Fleet, ask: Ask, memberId: string): Promise<void> {
  await oncePerKey(fleet, ask, async () => {
    const when = by(fleet, ask)
    const { value: member, version } = await current(fleet, 'members', memberId)
    requirePlaced(member)
    if (await liveOf(fleet, member)) throw new NotAllowed(`The terminal of ${member.handle} is open.`)
    const mission = await current(fleet, 'missions', member.mission_id!)
    const { value: project } = await current(fleet, 'projects', member.project_id)
    const wanted = { ...mission.value, next: { reason: 'terminal' as const, instructions: null } }
    const session = await planSession(fleet, wanted, project)
    const step = inTerminal(mission.value, session, when)
    const terminal: MemberTerminal = { ...CLOSED, session_id: session.id, state: 'opening', since: when.now }
    const next = { ...member, ...newestIs(member, session, when), terminal }
    return {
      subject: member.id,
      changes: [
        put('missions', step.mission, mission.version),
        put('sessions', session, 'absent'),
        put('members', next, version),
      ],
      events: [...step.events, terminalEvent(next, when)],
    }
  })
}

export const CLOSED = { pane: null, text: null, asked: false } as const

export const newestIs = ({ generation }: Member, { id }: Session, { now }: By): Partial<Member> => ({
  ...{ session_id: id, generation: generation + 1, held: null, updated_at: now },
})

export const terminalEvent = ({ id, team_id, project_id, handle, terminal }: Member, when: By) =>
  aboutTeam({ id: team_id, project_id }, 'member_terminal', when, {
    ...{ member: id, handle, state: terminal?.state ?? 'ended', text: terminal?.text ?? null },
  })

/** Makes the worktree and opens the client in it. What an earlier server may have opened is ended first. */
export async function startTerminal(fleet: Fleet, session: Session, url: string): Promise<Pane> {
  const { value: mission } = await current(fleet, 'missions', session.mission_id)
  const { value: project } = await current(fleet, 'projects', session.project_id)
  const agent = fleet.agents.ofSession(session.agent)
  return worktreeTurns.take(mission.id, async () => {
    await endEarlier(fleet, session)
    const { workingDirectory } = await prepared(fleet, session, mission, project)
    const directory = nextLaunch(fleet.home.session(session.id), 'agent')
    await writeLaunch(fleet, { agent, session, mission, project, directory, workingDirectory, url })
    return tmuxOf(fleet).open(windowOf(session), workingDirectory, ['/bin/sh', `${directory}/${START}`])
  })
}

async function endEarlier(fleet: Fleet, session: Session): Promise<void> {
  const earlier = newestLaunch(fleet.home.session(session.id), 'agent')
  if (!earlier) return
  // A start that comes late finds this, and ends.
  const claim = fileOf(earlier, 'claim')
  if (!existsSync(claim)) mkdirSync(claim, { recursive: true })
  await tmuxOf(fleet).close(windowOf(session))
  const tree = new ProcessTree({ mark: markOf(fleet, session.id), worktree: null })
  await tree.stop(fleet.settings.graceSeconds * 1000)
}

async function prepared(fleet: Fleet, session: Session, mission: Mission, project: Project) {
  const directory = fleet.home.session(session.id)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const isNew = session.worktree !== null && !existsSync(session.worktree)
  const place = await prepareFolder(fleet, session, mission, project)
  const { signal } = new AbortController()
  if (isNew) await setUp(fleet, project, { session, mission, directory, mark: markOf(fleet, session.id), signal })
  return place
}

interface Starting {
  agent: Agent
  session: Session
  mission: Mission
  project: Project
  directory: string
  workingDirectory: string
  url: string
}

async function writeLaunch(fleet: Fleet, starting: Starting): Promise<void> {
  const { agent, session, mission, project, directory, workingDirectory, url } = starting
  const { servers, variables } = await attach(fleet, agent, mission, project, url)
  const token = await sessionToken(fleet.keys, session)
  const charter = await fleet.blobs.read(mission.prompt)
  const instructions = instructionsFor(fleet, agent, project, mission, fileOf(directory, 'result'))
  const { model, effort, allowedTools } = { ...session, ...mission, allowedTools: mission.allowed_tools }
  const launch = agent.inTerminal!.launch({
    ...{ reason: session.reason, prompt: '', script: charter, promptFile: fileOf(directory, 'prompt'), images: [] },
    ...{ directory, workingDirectory, model, effort, allowedTools },
    ...{ maxTurns: null, maxBudgetUsd: null, approvals: 'deny', forks: false },
    preset: session.tool_preset ?? 'full',
    systemPrompt: agent.can.scripts ? '' : `${charter}\n\n${instructions}`,
    conversation: session.conversation ?? conversationOf(session),
    resumes: session.resumes,
    mcpServers: servers,
    environment: { ...fleet.environment, FLEET_URL: url, FLEET_TOKEN: token },
  })
  const env = await environmentFor(fleet, session, mission, project, {
    ...{ directory, launch: { ...launch, stdin: 'none' as const }, url, token, variables, walled: false },
  })
  const start = startScript({ argv: launch.argv, env, claim: fileOf(directory, 'claim') })
  writeFiles(directory, {
    ...launch.files,
    [nameOf('prompt')]: charter,
    [nameOf('mail')]: '',
    [START]: { content: start, mode: 0o700 },
  })
}

/** The same for every launch of one session, so that its conversation can be named afterwards. */
export function conversationOf({ id }: Pick<Session, 'id'>): string {
  const hex = createHash('sha256').update(id).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
